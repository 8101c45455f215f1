"""What a capture may claim, in plain words, with the grounds and the limits of the claim."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import second
from sharc_crawler.model import Kind, Slot, Verdict
from sharc_crawler.report.words import counted, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts

#: how a page was shown to be coherent, strongest first
GROUNDS = {
    "bytes": "shown by equal bytes before and after",
    "validator": "by the server's word that nothing had changed (304)",
    "attested": "by the server's word on when they last changed (lastmod)",
    "instant": "downloaded at that very instant",
    "none": "on grounds that were not recorded",
}
#: what each kind of evidence leaves open
GAPS = {
    "bytes": "Equal bytes show that a page was the same at both downloads; a change that was undone in between"
    " would not be seen.",
    "validator": "Where the server said 304 (not modified), its word was taken: no second copy was compared.",
    "attested": "Where the server's lastmod was relied on, its word was taken: the pages were downloaded once.",
}
#: what is to be said of the pages that are not coherent
APART = {
    "changed": "changed while the capture ran, by bytes or by the server's word, be it a text or a mere token:"
    " the copy may belong to another state of the site.",
    "unknown": "could not be judged, for want of a successful second look: not counted as coherent.",
    "not_captured": "known to the capture redirected or could not be captured: listed with reasons.",
}
#: how former versions said it: their certificates still hold
FORMER = {
    "changed while the capture ran: the copy may belong to another state of the site.": APART["changed"],
    "known to the capture could not be captured: listed with reasons.": APART["not_captured"],
}
FORMER_ALL = re.compile(r"^(All [\d,]+|The only) (?=pages? )")  #: they said so where pages were missing, too
UNBOUNDED = "Too few were audited to bound how many of the"
CLAIMED = "claimed on the server's word are wrong."
#: former versions stated that bound, all that is claimed
FORMER_BOUND = re.compile(rf"With [\d.]+% confidence at most ([\d,]+) of the (\1 pages?) {re.escape(CLAIMED)}")
UNDECIDED = "could not be judged, for want of a lastmod that decides or of a second look: not counted as coherent."


def claim(facts: CaptureFacts, totals: Mapping[str, Any]) -> dict[str, Any]:
    """The claim of a capture whose pages add up to ``totals`` (:func:`~sharc_crawler.evidence.measures.tally`)."""
    coherent = [page for page in facts.pages if page.kind is Kind.PAGE and page.verdict is Verdict.COHERENT]
    parts = [part for part in facts.subsites if part.reference is not None]
    grounds = _grounds(coherent) if facts.reference is not None or parts else []
    statement = _statement(facts, totals)
    listed = ", ".join(f"{ground['pages']:,} {ground['words']}" for ground in grounds)
    return {
        "sentence": f"{statement}: {listed}." if listed else f"{statement}.",
        "statement": statement,
        "grounds": grounds,
        "limits": _limits(facts, totals, [ground["evidence"] for ground in grounds]),
    }


def in_present_words(stated: Mapping[str, Any]) -> dict[str, Any]:
    """A claim as this version would have said it, if a former one did."""
    limits = list(stated["limits"])
    for was, now in FORMER.items():
        limits = [f"{limit.removesuffix(was)}{now}" if limit.endswith(was) else limit for limit in limits]
    limits = [FORMER_BOUND.sub(rf"{UNBOUNDED} \2 {CLAIMED}", limit) for limit in limits]
    said = {part: stated[part] for part in ("sentence", "statement")}
    if any(limit.endswith(APART["not_captured"]) for limit in limits):
        said = {part: FORMER_ALL.sub(r"\1 captured ", words) for part, words in said.items()}
    return {**stated, **said, "limits": limits}


def _statement(facts: CaptureFacts, totals: Mapping[str, Any]) -> str:
    captured, coherent = totals["captured"], totals["coherent"]
    if not captured:
        return "No page was captured, so there is nothing to claim"
    if facts.reference is None and any(part.reference is not None for part in facts.subsites):
        return _part_by_part(facts, totals)
    if facts.reference is None:
        return _without_reference(facts, captured)
    at = second(facts.reference)
    if not coherent:
        return f"Of {counted(captured, 'page')}, none can be shown to have been in this state at {at}"
    if captured == 1:
        return f"The only {_captured(totals)}page was in this state at {at}"
    return f"{_number(totals)} {'was in this state' if coherent == 1 else 'were in this state together'} at {at}"


def _number(totals: Mapping[str, Any]) -> str:
    """How many of the captured pages are coherent."""
    captured, coherent = totals["captured"], totals["coherent"]
    all_of_them = f"All {captured:,} {_captured(totals)}pages"
    return all_of_them if coherent == captured else f"{coherent:,} of {captured:,} pages"


def _captured(totals: Mapping[str, Any]) -> str:
    """Where pages are missing, all that were captured are not all there are."""
    return "captured " if totals["not_captured"] else ""


def _part_by_part(facts: CaptureFacts, totals: Mapping[str, Any]) -> str:
    """Of a site whose parts have a reference instant each."""
    parts = counted(sum(part.reference is not None for part in facts.subsites), "part")
    together = f"were in one state together with their part of the site, in {parts}, each at its own instant"
    return f"{_number(totals)} {together}"


def _without_reference(facts: CaptureFacts, captured: int) -> str:
    if facts.ended is not None and _single(facts):
        once = f"{counted(captured, 'page')} {'were' if captured > 1 else 'was'} captured, once each"
        return f"{once}: single visits keep a capture sharp, and show nothing of coherence"
    why = "has not been reached yet" if facts.ended is None else "was never reached"
    they = "they were in one state together" if captured > 1 else "it stayed as it is"
    were = "were" if captured > 1 else "was"
    return f"{counted(captured, 'page')} {were} captured, but the reference instant {why}: nothing shows that {they}"


def _single(facts: CaptureFacts) -> bool:
    """Whether the order makes single visits."""
    visits = [page.visit for page in facts.pages if page.kind is Kind.PAGE and page.verdict and page.visit]
    return all(visit.slot is Slot.ONLY for visit in visits)


def _grounds(coherent: Sequence[PageFacts]) -> list[dict[str, Any]]:
    counts = Counter(_ground(page) for page in coherent)
    return [{"evidence": name, "words": GROUNDS[name], "pages": counts[name]} for name in GROUNDS if counts[name]]


def _ground(page: PageFacts) -> str:
    """The evidence's name; ``instant`` for a page whose only download is the reference instant (the apex)."""
    if page.revisit is None and page.evidence is not Evidence.ATTESTED:
        return "instant"
    return (page.evidence or Evidence.NONE).value


def _limits(facts: CaptureFacts, totals: Mapping[str, Any], evidence: Sequence[str]) -> list[str]:
    limits = [GAPS[name] for name in evidence if name in GAPS]
    limits += _audited(facts.audit)
    apart = APART | ({"unknown": UNDECIDED} if facts.audit else {})
    limits += [f"{counted(totals[part], 'page')} {words}" for part, words in apart.items() if totals[part]]
    limits += [
        f"The capture was interrupted at {second(start)} for {span(end - start)}." for start, end in facts.interruptions
    ]
    if facts.reference is None and len(facts.subsites) > 1:
        limits.append("Nothing shows that pages of different parts of the site were in one state together.")
    if facts.ended is None:
        limits.append("The capture is not complete: these are figures of the moment.")
    return limits


def _audited(audit: Mapping[str, Any] | None) -> list[str]:
    """What the audit by bytes supports of the claims on the server's word."""
    if not audit or not audit["claimed"]:
        return []
    liars = [one["label"] for one in audit["classes"] if one["caught"]]
    found = f"An audit downloaded {counted(audit['audited'], 'page')} again: {audit['changed']} had changed,"
    found += f" {audit['lies']} without the server's saying so."
    caught = [f"The lastmods of {', '.join(liars)} were caught lying: none of them was relied on."] if liars else []
    return [f"{found} {_bound(audit)}", *caught]


def _bound(audit: Mapping[str, Any]) -> str:
    if audit["bound"] >= audit["claimed"]:
        return f"{UNBOUNDED} {counted(audit['claimed'], 'page')} {CLAIMED}"
    return (
        f"With {float(audit['confidence']):.0%} confidence at most {audit['bound']:,} of the"
        f" {counted(audit['claimed'], 'page')} {CLAIMED}"
    )


def bounded(audit: Mapping[str, Any] | None) -> str:
    """The audit in one line; empty where nothing is claimed on the server's word."""
    if not audit or not audit["claimed"]:
        return ""
    nothing = " (nothing shown: none of them had changed)" if not audit["changed"] else ""
    return f"{counted(audit['audited'], 'page')} downloaded again. {_bound(audit)[:-1]}{nothing}"
