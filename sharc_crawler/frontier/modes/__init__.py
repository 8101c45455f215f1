"""The ways to capture a site, one module each, behind one protocol, :class:`Mode`.

A capture has one mode, chosen when it is opened, which keeps the state that only this way needs. Each method is a hook
at one stage of a decision or of an outcome; the defaults do nothing. After a restart a mode gets all former fetches
by the same methods, then :meth:`Mode.resumed` and :meth:`Mode.rebuilt`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.intervals import reach
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.modes.rate_tests import Edited
    from sharc_crawler.model import (
        Fetch,
        Hints,
        Instant,
        Judgement,
        Outcome,
        PageId,
        Rate,
        Seconds,
        Sighting,
        Slot,
        Visit,
    )
    from sharc_crawler.state.rows import LastmodRow, PageRow, SubsiteRow
    from sharc_crawler.strategies.door import Door

WORTH = 50  #: minimum of visited pages per sitemap read again


class Mode:
    """A way to capture a site."""

    seeds: Kind = Kind.PAGE  #: kind of the seeds
    whole: bool = True  #: captures the whole site, once
    compares: bool = True  #: downloads pages again and compares them with their visit
    attests: bool = False  #: claims pages by their lastmods
    goes_on: bool = False  #: visits pages again after all first visits
    takes_hubs: bool = False  #: polls feeds and lists of new or changed pages
    listens: bool = False  #: wants lastmods of known pages
    parted: bool = False  #: captures part by part: a page found late may belong to a later part
    parts: int = 0  #: parts of the site begun so far
    called: str = ""  #: name of its phase for people, if it has one of its own
    pooled: int = 0  #: pages that wait for a later part
    step: Seconds | None = None  #: Δ as measured in a former part
    apex: PageId | None = None  #: page of the last visit, if that is in slot ONLY: T is its download
    audit: Mapping[str, Any] | None = None  #: result of auditing the server's word

    # -- before the first decision --------------------------------------------------------------------------------

    def first_pages(self, waiting: Sequence[PageId], step: Seconds, now: Instant) -> Sequence[PageId]:
        """Return the pages that the strategy begins with."""
        return waiting

    def size(self, stated: int) -> int:
        """Return the expected number of pages; 0: unknown."""
        return stated

    def prepare(self, pages: Sequence[PageId], now: Instant) -> None:
        """Do slow work before the strategy is built, perhaps in another thread: only on the mode's own state."""

    def begun(self, pages: Sequence[PageId], now: Instant) -> None:
        """The strategy is built and will get these pages."""

    # -- discovery -------------------------------------------------------------------------------------------------

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """Return the links of a document that may be admitted."""
        return links

    def reconsidered(self, parent: PageId, linked: Sequence[PageId], now: Instant) -> list[PageId]:
        """Return known pages, linked by a document, that were left and are to be queued now."""
        return []

    def why_left(self, sighting: Sighting, parent: PageId) -> str:
        """Return why a new page is recorded but not fetched; empty: it is fetched."""
        return ""

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:
        """New pages of one document are queued."""

    def hub(self, page: PageId) -> None:
        """A hub is found."""

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """A known page is named again, with hints."""

    def joining(self, pages: Sequence[PageId]) -> Sequence[PageId]:
        """Return which of the found pages the strategy gets now."""
        return pages

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Return the rates that the strategy plans with."""
        return rates

    def attestable(self, pages: Sequence[PageId], now: Instant) -> list[bool] | None:
        """Return which pages can probably be claimed by their lastmod; ``None``: none."""
        return None

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """A page links to these pages."""

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """A sitemap requested at ``read`` gives a page's lastmod."""

    # -- decisions -------------------------------------------------------------------------------------------------

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Must the strategy wait for a download that is owed?"""
        return False

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Return the next visit."""
        return strategy.next(now)

    def owes_more(self, now: Instant) -> bool:
        """Nothing is left or under way: does the mode owe more downloads?"""
        return False

    def turn(self, now: Instant) -> None:
        """Fix T: all first visits are over."""

    def asks_by_former(self, kind: Kind, slot: Slot) -> bool:
        """May a first visit send a former capture's validators: is a 304 as good as a download?"""
        return False

    def takes(self, page: PageId, url: str, look: Outcome) -> bool:
        """May this outcome of a former capture stand for a visit, without a request?"""
        return False

    # -- outcomes --------------------------------------------------------------------------------------------------

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """The first visit of a page or resource is over."""

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """A second look at a page before T is over; ``before``: the former outcome."""

    def audits(self, page: PageId) -> bool:
        """Is a page's second download an audit, not a revisit by the strategy?"""
        return False

    def asks_again(self, page: PageId, slot: Slot, outcome: Outcome) -> bool:
        """Should a download be repeated at once, without conditions?"""
        return False

    def revisited(self, page: PageId, kind: Kind, visit: Outcome, outcome: Outcome, judgement: Judgement) -> bool:
        """A second download is over; return ``True`` to leave the page unjudged for now."""
        return False

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:
        """A sitemap's download is over."""

    def as_of(self, page: PageId, outcome: Outcome) -> Instant:
        """Return the instant up to which an answer shows the sitemap's state."""
        return reach(outcome, None, None)

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """A sitemap has lastmods."""

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A poll of a hub is over; ``linked``: the capture's pages that it named."""

    def closed(self, page: PageId, reason: str) -> None:
        """A hub is polled no more."""

    def left_open(self, page: PageId) -> bool:
        """Was the page revisited and left unjudged?"""
        return False

    # -- the end ---------------------------------------------------------------------------------------------------

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """Judge unjudged pages by the mode's own evidence."""
        return {}

    def part_over(self, now: Instant) -> bool:
        """All is judged; return ``False`` if another part of the site follows."""
        return True

    # -- after a restart -------------------------------------------------------------------------------------------

    def recall_parts(self, rows: Sequence[SubsiteRow]) -> None:
        """Restore the parts of the site begun so far."""

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """Restore the known URLs."""

    def recall_lastmod(self, row: LastmodRow) -> None:
        """Restore a lastmod."""

    def reference_of(self, part: int | None) -> Instant | None:
        """Return the T that precedes no first visit, of a part or the site; ``None`` if there is none."""
        return None

    def resumed(self, members: Mapping[PageId, int], firsts: Sequence[Visit]) -> Sequence[Visit]:
        """Return the first visits that the new strategy is told of; ``members``: each page's part."""
        return firsts

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """The strategy knows these first visits; return pages revisited but not judged yet."""
        return frozenset()

    def went_on(self, strategy: Door) -> None:
        """The strategy knows all former visits."""


class Untested:
    """Takes rates as they are: without former captures there is nothing to test them by.

    With former captures, :class:`~sharc_crawler.frontier.modes.rate_tests.RateTests` takes its place.
    """

    failed: bool = False  #: did visits contradict the rates?

    def note(self) -> str:
        """Return a note for the report, or an empty text."""
        return ""

    def stated(self, page: PageId, hints: Hints | None) -> None:
        """A sitemap gives hints on a page."""

    def visited(self, page: PageId, outcome: Outcome) -> None:
        """A page's first visit is over."""

    def test(self, strategy: Door) -> None:
        """Test the rates, and reprice waiting pages."""

    def planned(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Return the rates to plan with."""
        return rates

    def edited(self, now: Instant) -> Edited | None:
        """Return pages that were probably edited since their visit, together with others."""

    def looked(self, page: PageId, since: Instant, now: Instant) -> Mapping[PageId, Instant]:
        """A probe has changed since its visit: return pages changed with it, each with the latest instant."""
        return {}

    def learned(self, pages: Sequence[PageId], rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rates of visited pages, updated by their visits."""
        return rates
