"""The rates of a capture where nothing is known to test them by: they are taken as they are."""

# ruff: noqa: ARG002 - RateTests has a use for what is not used here

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.frontier.modes.neighbours import Edited
    from sharc_crawler.model import Hints, Instant, Outcome, PageId, Rate
    from sharc_crawler.strategies.door import Door


class Untested:
    """What :class:`~sharc_crawler.frontier.modes.rate_tests.RateTests` decides with an archive's former captures."""

    failed: bool = False  #: are the rates others than they were held for?

    def note(self) -> str:
        """What a reader must know."""
        return ""

    def stated(self, page: PageId, hints: Hints | None) -> None:
        """A sitemap says when a page last changed."""

    def visited(self, page: PageId, outcome: Outcome) -> None:
        """A page was visited first."""

    def test(self, strategy: Door) -> None:
        """How far are the rates to be trusted? Pages that wait are told."""

    def planned(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Rates as they are to be planned by."""
        return rates

    def edited(self, now: Instant) -> Edited | None:
        """Pages that were edited together with others, since their visit."""

    def looked(self, page: PageId, since: Instant, now: Instant) -> Mapping[PageId, Instant]:
        """A probe has changed since its visit: which other pages have, and when at the latest."""
        return {}

    def learned(self, pages: Sequence[PageId], rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rates of visited pages, with what their visits said."""
        return rates
