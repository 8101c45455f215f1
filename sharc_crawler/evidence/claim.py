"""What a capture may claim, as codes and numbers; :mod:`sharc_crawler.report.claim` makes sentences of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.evidence.figures import PageSums
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso, maybe_iso

UNSEEN = "what was on the wire was not seen"  #: begins the note of a capture whose downloads were not ours


class Statement(StrEnum):
    """What may be claimed of the captured pages."""

    TOGETHER = "together"  #: the coherent ones were in this state at one instant
    TOGETHER_BY_PART = "together-by-part"  #: each with its part of the site, at that part's instant
    NONE_SHOWN = "none-shown"  #: of none can it be shown
    NOT_REACHED = "not-reached"  #: the reference instant has not come yet
    NEVER_REACHED = "never-reached"  #: nor will it
    ONCE = "once"  #: single visits show nothing of coherence
    NOTHING = "nothing"  #: no page was captured
    REFUTED = "refuted"  #: the records do not bear out what was judged


class Limit(StrEnum):
    """What the claim does not say, beside what its kinds of evidence leave open."""

    AUDITED = "audited"  #: what an audit of the server's word found
    LIARS = "liars"  #: classes of URLs whose lastmods were caught lying
    NOT_ASKED = "not-asked"  #: pages that a former capture has, and that no server was asked for
    UNSEEN = "wire-unseen"  #: answers are as another download handler handed them on
    CHANGED = "changed"
    UNKNOWN = "unknown"
    NOT_CAPTURED = "not-captured"
    INTERRUPTED = "interrupted"
    APART = "apart"  #: parts with instants of their own
    INCOMPLETE = "incomplete"


def claim(facts: CaptureFacts, sums: PageSums | None = None) -> dict[str, Any]:
    """The claim of a capture: ``statement``, its numbers, ``grounds`` and ``limits``.

    ``pages`` of a ground are the coherent ones by that kind of evidence; a limit is a ``code`` and its numbers.
    ``sums``: over its pages, where they are known already.
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
        whole = {"whole": True} if facts.part else {}  # its numbers are of the whole capture
        yield {"code": Limit.AUDITED.value, **numbers, "percent": round(100 * float(audit["confidence"])), **whole}
        for of in sorted({one["of"] for one in audit["strata"] if one["caught"]}):
            liars = [one["label"] for one in audit["strata"] if one["caught"] and one["of"] == of]
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
