"""What the facts of a capture add up to: coherence, expectation, completeness, truth (the paper's Sections 2 and 4)."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Plan, Result, Slot, Verdict
from sharc_crawler.rates.chain import PRIOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.evidence.facts import PageFacts, VisitFacts
    from sharc_crawler.model import Instant, Seconds, Url

#: a resource that ended so is not part of its page: there was nothing to fetch, or its target is embedded instead
NOT_A_PART = (Result.GONE, Result.REDIRECTED)
#: seconds around a download in which a true change may fall on either side of it
TOUCHES = 1.0


def share(part: float, whole: float) -> float | None:
    """A part of a whole, 0..1; of nothing: None."""
    return part / whole if whole else None


def interval(page: PageFacts, reference: Instant | None) -> Seconds | None:
    """I, the time over which a page had to stay the same to be judged coherent; None where it was not judged.

    From visit to revisit; from visit to reference instant where the server attested it; 0 for a page whose only
    download is the reference instant (the apex of the pyramid).
    """
    if page.visit is None or page.verdict in (None, Verdict.UNKNOWN):
        return None
    if page.evidence is Evidence.ATTESTED and reference is not None and page.visit.slot is Slot.ONLY:
        return abs(reference - page.visit.started)  # a second download, if any, was an audit's
    if page.revisit is not None:
        return page.revisit.started - page.visit.started
    return 0.0 if page.visit.slot is Slot.ONLY else None


def survival(page: PageFacts, reference: Instant | None) -> float | None:
    """e^{-λI}: the chance that a page of this rate stays the same over its interval."""
    length = interval(page, reference)
    if length is None:
        return None
    return math.exp(-page.rate * length) if length else 1.0


def fingerprint_equal(page: PageFacts) -> bool | None:
    """Whether visit and revisit brought the same content (:mod:`..changes.fingerprint`); None: not known."""
    looks = [visit.fingerprint for visit in (page.visit, page.revisit) if visit and visit.result is Result.OK]
    return looks[0] == looks[1] if len(looks) == 2 and all(looks) else None


def only_noise(page: PageFacts) -> bool:
    """Whether a page changed in its bytes alone, beside equal content: not coherent, but no edit either."""
    by_bytes = page.verdict is Verdict.CHANGED and page.evidence is Evidence.BYTES
    return by_bytes and fingerprint_equal(page) is True


def tally(pages: Sequence[PageFacts]) -> dict[str, Any]:
    """How many pages there are of each verdict; the share is of those captured, unknown ones among them."""
    verdicts = Counter(page.verdict for page in pages)
    captured = [page for page in pages if page.verdict is not None]
    coherent = [page for page in captured if page.verdict is Verdict.COHERENT]
    return {
        "known": len(pages),
        "captured": len(captured),
        "coherent": len(coherent),
        "changed": verdicts[Verdict.CHANGED],
        "same_content": sum(map(only_noise, pages)),
        "unknown": verdicts[Verdict.UNKNOWN],
        "not_captured": verdicts[None],
        "share": share(len(coherent), len(captured)),
        "weighted_share": share(sum(page.weight for page in coherent), sum(page.weight for page in captured)),
    }


def expected(pages: Iterable[PageFacts], reference: Instant | None) -> dict[str, Any]:
    """Expected coherence EC = Σ e^{-λI} against the count, over the pages whose interval is known.

    Rates are of content, so the expectation is of pages whose content stays: ``same_content``, those with equal bytes
    (``counted``) among them. The deviation is that of a sum of independent yes-or-no outcomes: sqrt(Σ p(1-p)). It is
    of chance alone; of the pages ``guessed`` nobody told the rate.
    """
    chances = [(p, page) for page in pages if (p := survival(page, reference)) is not None]
    coherent = sum(page.verdict is Verdict.COHERENT for _, page in chances)
    return {
        "pages": len(chances),
        "coherent": sum(p for p, _ in chances),
        "deviation": math.sqrt(sum(p * (1 - p) for p, _ in chances)),
        "counted": coherent,
        "same_content": coherent + sum(only_noise(page) for _, page in chances),
        "guessed": sum(page.rate_source == PRIOR for _, page in chances),
    }


def plans(pages: Iterable[PageFacts]) -> dict[str, Any]:
    """Per plan of the strategy, how many captured pages it had and how many of them came out coherent."""
    verdicts = [(page.plan, page.verdict) for page in pages if page.verdict is not None]
    return {
        plan.value: {
            "pages": sum(had is plan for had, _ in verdicts),
            "coherent": sum(had is plan and verdict is Verdict.COHERENT for had, verdict in verdicts),
        }
        for plan in Plan
    }


def completeness(
    pages: Sequence[PageFacts], references: Mapping[str, Instant | None] | None = None
) -> dict[Url, Verdict]:
    """Per captured page, its verdict with everything it embeds (style sheets' own images, too) counted in.

    Changed if any part changed; else unknown if any part is unknown or was not captured; else coherent. What was judged
    around another reference instant (``references``, by subsite) is unknown.
    """
    instants = references or {}
    known = {page.url: page for page in pages}
    return {
        page.url: _together(page, _parts(page, known), instants)
        for page in pages
        if page.kind is Kind.PAGE and page.verdict is not None
    }


def _parts(page: PageFacts, known: dict[Url, PageFacts]) -> list[PageFacts]:
    found: dict[Url, PageFacts] = {}
    waiting = list(page.embeds)
    while waiting:
        part = known.get(waiting.pop())
        if part is not None and part.url not in found:
            found[part.url] = part
            waiting.extend(part.embeds)
    return [part for part in found.values() if is_part(part)]


def is_part(resource: PageFacts) -> bool:
    """Whether what a page embeds is there to be shown with it, captured or not."""
    return bool(resource.verdict) or not resource.visit or resource.visit.result not in NOT_A_PART


def _together(page: PageFacts, parts: Iterable[PageFacts], instants: Mapping[str, Instant | None]) -> Verdict:
    own = instants.get(page.subsite)
    verdicts = {part.verdict if instants.get(part.subsite) == own else Verdict.UNKNOWN for part in (page, *parts)}
    if Verdict.CHANGED in verdicts:
        return Verdict.CHANGED
    return Verdict.COHERENT if verdicts == {Verdict.COHERENT} else Verdict.UNKNOWN


def truth(pages: Iterable[PageFacts]) -> dict[str, Any] | None:
    """Our judgements against what really happened; None where nothing of it is known."""
    known = [page for page in pages if page.truth is not None and page.verdict is not None]
    if not known:
        return None
    cells = Counter((page.verdict, page.truth) for page in known)
    wrong = [page for page in known if (page.verdict, page.truth) in _WRONG]
    return {
        "pages": len(known),
        "unchanged": sum(page.truth is True for page in known),
        "agree": cells[Verdict.COHERENT, True] + cells[Verdict.CHANGED, False],
        "false_coherent": cells[Verdict.COHERENT, False],
        "false_changed": cells[Verdict.CHANGED, True],
        "unknown_unchanged": cells[Verdict.UNKNOWN, True],
        "unknown_changed": cells[Verdict.UNKNOWN, False],
        "wrong_within_a_second": sum(map(_touched, wrong)),
    }


_WRONG = ((Verdict.COHERENT, False), (Verdict.CHANGED, True))


def _touched(page: PageFacts) -> bool:
    """Whether a true change fell within a second of one of the page's downloads, so that either answer is right."""
    visits = [visit for visit in (page.visit, page.revisit) if visit]
    return any(_near(visit, change) for visit in visits for change in page.true_changes or ())


def _near(visit: VisitFacts, change: Instant) -> bool:
    return visit.started - TOUCHES <= change <= visit.ended + TOUCHES
