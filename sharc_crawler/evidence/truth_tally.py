"""Judgements against what really happened, where that is known: of the living site, of simulations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sharc_crawler.model import Verdict

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import PageFacts, VisitFacts
    from sharc_crawler.model import Instant

#: seconds around a download in which a true change may fall on either side of it
TOUCHES = 1.0


class TruthTally:
    """Our judgements against what really happened."""

    def __init__(self) -> None:
        self._cells: Counter[tuple[Verdict, bool]] = Counter()
        self._touched = 0

    def add(self, page: PageFacts) -> None:
        """Count a page, if the truth is known."""
        if page.truth is None or page.verdict is None:
            return
        cell = page.verdict, page.truth
        self._cells[cell] += 1
        self._touched += cell in _WRONG and _touched(page)

    def totals(self) -> dict[str, Any] | None:
        """The sums as a report has them; None where nothing is known."""
        cells = self._cells
        if not cells:
            return None
        return {
            "pages": cells.total(),
            "unchanged": sum(cells[verdict, True] for verdict in Verdict),
            "agree": cells[Verdict.COHERENT, True] + cells[Verdict.CHANGED, False],
            "false_coherent": cells[Verdict.COHERENT, False],
            "false_changed": cells[Verdict.CHANGED, True],
            "unknown_unchanged": cells[Verdict.UNKNOWN, True],
            "unknown_changed": cells[Verdict.UNKNOWN, False],
            "wrong_within_a_second": self._touched,
        }


_WRONG = ((Verdict.COHERENT, False), (Verdict.CHANGED, True))


def _touched(page: PageFacts) -> bool:
    """Whether a true change fell within a second of one of the page's downloads, so that either answer is right."""
    visits = [visit for visit in (page.visit, page.revisit) if visit]
    return any(_near(visit, change) for visit in visits for change in page.true_changes or ())


def _near(visit: VisitFacts, change: Instant) -> bool:
    return visit.started - TOUCHES <= change <= visit.ended + TOUCHES
