"""From what was compared to what is judged of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.comparison import Comparison, compare
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Judgement, Verdict

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome

VERDICTS = {
    Change.UNCHANGED: Verdict.COHERENT,
    Change.CHANGED: Verdict.CHANGED,
    Change.UNKNOWN: Verdict.UNKNOWN,
}
APEX = Judgement(Verdict.COHERENT, Evidence.INSTANT, Reason.REFERENCE_DOWNLOAD)
ONCE = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.VISITED_ONCE)
NEVER_REVISITED = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.NEVER_REVISITED)
SAME_BYTES = Judgement(Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES)
OTHER_BYTES = Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)


def of_comparison(comparison: Comparison) -> Judgement:
    """What a comparison of visit and revisit means for the page."""
    return Judgement(VERDICTS[comparison.change], comparison.evidence, comparison.reason)


def revisit_judgement(visit: Outcome, revisit: Outcome) -> Judgement:
    """What a revisit alone says of a page, against its visit.

    >>> from sharc_crawler.model import Outcome, Result
    >>> before = Outcome(Result.OK, 0.0, 1.0, status=200, digest="sha1:A")
    >>> revisit_judgement(before, Outcome(Result.FAILED, 9.0, 9.5)).verdict.value
    'unknown'
    """
    return of_comparison(compare(visit, revisit))
