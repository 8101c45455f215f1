"""The claim of a capture as codes and numbers; :mod:`sharc_crawler.report.claim` makes sentences of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.evidence.figures import PageSums
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso, maybe_iso

UNSEEN = "what was on the wire was not seen"  #: begins the note of a capture with another download handler


class Statement(StrEnum):
    """The main statement of a claim."""

    TOGETHER = "together"  #: coherent pages were in this state at one instant
    TOGETHER_BY_PART = "together-by-part"  #: the same, by part of the site, at each part's instant
    NONE_SHOWN = "none-shown"  #: no page is shown coherent
    NOT_REACHED = "not-reached"  #: T has not come yet
    NEVER_REACHED = "never-reached"  #: T never came
    ONCE = "once"  #: single visits show no coherence
    NOTHING = "nothing"  #: no page was captured
    REFUTED = "refuted"  #: the records contradict the judgements


class Limit(StrEnum):
    """A limit of the claim, besides the gaps of its kinds of evidence."""

    AUDITED = "audited"  #: the result of auditing the server's word
    LIARS = "liars"  #: classes of URLs whose lastmods were caught lying
    NOT_ASKED = "not-asked"  #: pages taken from a former capture without a request
    UNSEEN = "wire-unseen"  #: answers came from another download handler
    CHANGED = "changed"
    UNKNOWN = "unknown"
    NOT_CAPTURED = "not-captured"
    INTERRUPTED = "interrupted"
    APART = "apart"  #: parts with instants of their own
    INCOMPLETE = "incomplete"


def claim(facts: CaptureFacts, sums: PageSums | None = None) -> dict[str, Any]:
    """Make the claim of a capture: ``statement``, its numbers, ``grounds`` and ``limits``.

    ``pages`` of a ground are coherent by that kind of evidence; a limit is a ``code`` with its numbers. ``sums``: over
    the capture's pages, if known already.
    """
    sums = sums or facts.figures.whole
    totals = sums.tally.totals()
    parts = 0 if facts.reference is not None else sum(part.reference is not None for part in facts.subsites)
    shown = (facts.reference is not None or parts > 0) and not facts.refuted
    grounds = sums.grounds
    return {
        "statement": _statement(facts, sums, totals, parts).value,
        "reference": maybe_iso(facts.reference),
        "captured": totals["captured"],
        "coherent": totals["coherent"],
        "not_captured": totals["not_captured"],
        "parts": parts,
        "grounds": [{"evidence": kind.value, "pages": grounds[kind]} for kind in Evidence if grounds[kind] and shown],
        "limits": [*_of_audit(facts), *_limits(facts, totals)],
    }


def _statement(facts: CaptureFacts, sums: PageSums, totals: Mapping[str, Any], parts: int) -> Statement:
    if not totals["captured"]:
        return Statement.NOTHING
    if facts.refuted:
        return Statement.REFUTED
    if facts.reference is not None:
        return Statement.TOGETHER if totals["coherent"] else Statement.NONE_SHOWN
    if parts:
        return Statement.TOGETHER_BY_PART
    if sums.once and not facts.revisits:
        return Statement.ONCE
    return Statement.NOT_REACHED if facts.ended is None else Statement.NEVER_REACHED


def _of_audit(facts: CaptureFacts) -> Iterator[dict[str, Any]]:
    audit = facts.audit or {}
    if audit.get("claimed"):
        names = "claimed", "data", "audited", "changed", "lies", "unshown", "unaudited", "bound"
        numbers = {name: audit[name] for name in names if name in audit}
        whole = {"whole": True} if facts.part else {}  # the numbers are the whole capture's
        yield {"code": Limit.AUDITED.value, **numbers, "percent": round(100 * float(audit["confidence"])), **whole}
        caught = [stratum for stratum in audit["strata"] if stratum["caught"]]
        for of in sorted({stratum["of"] for stratum in caught}):
            liars = [stratum["label"] for stratum in caught if stratum["of"] == of]
            yield {"code": Limit.LIARS.value, "of": of, "classes": liars}


def _limits(facts: CaptureFacts, totals: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if totals["not_asked"]:
        yield {"code": Limit.NOT_ASKED.value, "pages": totals["not_asked"]}
    if any(note.startswith(UNSEEN) for note in facts.notes):
        yield {"code": Limit.UNSEEN.value}
    if totals["changed"]:
        yield {"code": Limit.CHANGED.value, "pages": totals["changed"]}
    if totals["unknown"] and not facts.refuted:
        yield {
            "code": Limit.UNKNOWN.value,
            "pages": totals["unknown"],
            "attested": (facts.audit or {}).get("of") == "lastmod",
        }
    if totals["not_captured"]:
        yield {"code": Limit.NOT_CAPTURED.value, "pages": totals["not_captured"]}
    for start, end in facts.interruptions:
        yield {"code": Limit.INTERRUPTED.value, "from": iso(start), "to": iso(end)}
    if facts.reference is None and len(facts.subsites) > 1:
        yield {"code": Limit.APART.value}
    if facts.ended is None:
        yield {"code": Limit.INCOMPLETE.value}
