"""Measures of pages whose true changes are known, from a demo site or a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.errors import DataError
from sharc_crawler.evidence.blur import Interval, check_interval, check_measured, first_and_last
from sharc_crawler.evidence.data import DataState
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.model import Instant, Verdict

# -- did it stay? ------------------------------------------------------------------------------------------------------


def stayed(
    downloads: Sequence[Instant], changes: Sequence[Instant], reference: Instant | None, *, once: bool
) -> bool | None:
    """Did a page really stay unchanged between its downloads, or between one of them and T (``once``)?

    >>> stayed([1.0, 9.0], [5.0], None, once=False), stayed([1.0], [5.0], 4.0, once=True)
    (False, True)
    """
    if once and reference is not None and downloads:
        return any(not _between(changes, instant, reference) for instant in downloads)
    return not _between(changes, *downloads) if len(downloads) > 1 else None


def with_data(page: PageFacts, known: Sequence[tuple[Iterable[Instant] | None, DataState]]) -> PageFacts:
    """Include the true changes of a page's data; ``known``: the changes of each piece, None: unknown."""
    same, all_changes = page.truth, list(page.true_changes or ())
    for changes, state in known:
        if changes is None:
            return replace(page, truth=None)
        own = tuple(map(float, changes))
        all_changes += own
        same = same and not _between(own, *state.downloads)
    return replace(page, truth=same, true_changes=tuple(sorted(all_changes)))


def _between(changes: Sequence[Instant], one: Instant, other: Instant) -> bool:
    return any(min(one, other) < instant <= max(one, other) for instant in changes)


# -- judgements against it ---------------------------------------------------------------------------------------------


#: seconds around a download within which a true change may be on either side
TOUCHES = 1.0


class TruthTally:
    """Judgements compared with the truth."""

    def __init__(self) -> None:
        self._cells: Counter[tuple[Verdict, bool]] = Counter()
        self._touched = 0

    def add(self, page: PageFacts) -> None:
        """Count a page whose truth is known."""
        if page.truth is None or page.verdict is None:
            return
        cell = page.verdict, page.truth
        self._cells[cell] += 1
        self._touched += cell in _WRONG and _touched(page)

    def totals(self) -> dict[str, Any] | None:
        """Return the sums for the report; None if nothing is known."""
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
    """Was there a true change within a second of a download, so that both verdicts are right?"""
    visits = [visit for visit in (page.visit, page.revisit) if visit]
    return any(_near(visit, change) for visit in visits for change in page.true_changes or ())


def _near(visit: VisitFacts, change: Instant) -> bool:
    return visit.started - TOUCHES <= change <= visit.ended + TOUCHES


# -- actual blur and unchanged pages, vectorized -----------------------------------------------------------------------


def actual_blur(
    changes: Sequence[ArrayLike],
    visits: NDArray[np.float64],
    observation: Interval,
    revisits: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the blur of each page from its true changes (eqs. 23 and 24), times its weight.

    A change counts by the share of the observation interval whose instants it separates from the nearest download.

    >>> actual_blur([[1.0, 4.0]], np.array([2.0]), (0.0, 5.0))  # (1 - 0 + 5 - 4) / 5
    array([0.4])
    """
    start, end = check_interval(observation)
    check_measured(len(visits), None, weights)
    page, instants = flatten(changes, len(visits))
    first, last = (instants_of[page] for instants_of in first_and_last(visits, revisits))
    middle = (first + last) / 2
    seen = np.where(
        instants <= middle,
        np.where(instants <= first, _overlap(start, end, -np.inf, instants), _overlap(start, end, instants, middle)),
        np.where(instants <= last, _overlap(start, end, middle, instants), _overlap(start, end, instants, np.inf)),
    )
    blur = np.bincount(page, seen, len(visits)) / (end - start)
    return blur if weights is None else blur * weights


def _overlap(start: float, end: float, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    length: NDArray[np.float64] = np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
    return length


def unchanged(
    changes: Sequence[ArrayLike], visits: NDArray[np.float64], revisits: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which pages did not change after the visit, up to the revisit.

    Parameters
    ----------
    changes: for each page, the instants of its changes, in any order
    visits, revisits: instants, one per page; a visit shows a change at the same instant

    >>> unchanged([[5.0], [5.0], []], np.array([1.0, 5.0, 1.0]), np.array([9.0, 9.0, 9.0]))
    array([False,  True,  True])

    """
    page, instants = flatten(changes, len(visits))
    between = (instants > visits[page]) & (instants <= revisits[page])
    same: NDArray[np.bool_] = np.bincount(page[between], minlength=len(visits)) == 0
    return same


def flatten(changes: Sequence[ArrayLike], pages: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the page and the instant of every change.

    Raises :class:`~sharc_crawler.errors.DataError` unless there is one history per page, with finite instants.

    >>> flatten([[1.0], [], [2.0, 3.0]], 3)
    (array([0, 2, 2]), array([1., 2., 3.]))
    """
    if len(changes) != pages:
        raise DataError(f"{pages} pages need as many change histories, not {len(changes)}")
    counts = np.fromiter(map(np.size, changes), np.int64, pages)
    some = (np.asarray(history, np.float64).ravel() for history in changes if np.size(history))
    page, instants = np.repeat(np.arange(pages), counts), np.concatenate([np.zeros(0), *some])
    if not np.isfinite(instants).all():
        raise DataError(f"page {page[~np.isfinite(instants)][0]} has a change at an instant that is not finite")
    return page, instants
