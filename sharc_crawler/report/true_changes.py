"""Whether pages really stayed as they were, where all their changes are known: of a demo."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.model import Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.evidence.data import DataState
    from sharc_crawler.evidence.facts import PageFacts
    from sharc_crawler.frontier.rows import JudgementRow, VisitRow
    from sharc_crawler.model import Instant


def with_data(page: PageFacts, known: Sequence[tuple[Iterable[Instant] | None, DataState]]) -> PageFacts:
    """A page stayed as it was where its data did, too; ``known``: the changes of each piece, None: not all of them."""
    stayed, all_changes = page.truth, list(page.true_changes or ())
    for changes, state in known:
        if changes is None:
            return replace(page, truth=None)
        own = tuple(map(float, changes))
        all_changes += own
        stayed = stayed and not _between(own, *state.downloads)
    return replace(page, truth=stayed, true_changes=tuple(sorted(all_changes)))


def stayed(
    first: VisitRow | None,
    second: VisitRow | None,
    judgement: JudgementRow | None,
    reference: Instant | None,
    changes: tuple[Instant, ...],
) -> bool | None:
    """Did the page really stay as it was between its visit and its revisit, or where one was to do: the instant T?"""
    if first is None:
        return None
    downloads = [visit.outcome.started for visit in (first, second) if visit]
    attested = judgement is not None and judgement.evidence.dated
    if reference is not None and (attested or (second is None and first.slot is Slot.ONLY)):
        return any(not _between(changes, instant, reference) for instant in downloads)
    return None if second is None else not _between(changes, *downloads)


def _between(changes: tuple[Instant, ...], one: Instant, other: Instant) -> bool:
    return any(min(one, other) < instant <= max(one, other) for instant in changes)
