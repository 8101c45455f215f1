"""What a mode decides: the protocol between the frontier and the ways in which a site can be captured.

A capture has one mode, which is chosen when it is opened and keeps what only that way has to know. Each method is asked
at one stage of an outcome's way or of a decision; the defaults are a mode that decides nothing there. After a restart
a mode is told of all former fetches by the same methods, then :meth:`Mode.resumed` and :meth:`Mode.rebuilt`.
"""

# ruff: noqa: ARG002 - a default has no use for what a mode may need

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.intervals import reach
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.modes.neighbours import Edited
    from sharc_crawler.frontier.rows import LastmodRow, PageRow, SubsiteRow
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
    from sharc_crawler.strategies.door import Door


class Mode:
    """A way to capture a site."""

    seeds: Kind = Kind.PAGE  #: what seeds are
    whole: bool = True  #: whole sites are captured, once
    compares: bool = True  #: pages are downloaded again, and compared with their visit
    attests: bool = False  #: pages are claimed by what sitemaps say
    goes_on: bool = False  #: further visits follow the last first one
    takes_hubs: bool = False  #: feeds and lists of what is new, or has changed, are polled
    listens: bool = False  #: what sitemaps say of last changes is wanted
    parted: bool = False  #: pages found late may belong to a part that is still to come
    parts: int = 0  #: of the site that were begun
    called: str = ""  #: what its phase is called for people, where that is no phase of a capture
    pooled: int = 0  #: pages that wait for a part of their own
    step: Seconds | None = None  #: Δ as measured in a former part
    apex: PageId | None = None  #: the last visit, where it was made in slot ONLY: T is its download
    audit: Mapping[str, Any] | None = None  #: what became of the server's word

    # -- from the seeds to the first decision ----------------------------------------------------------------------

    def first_pages(self, waiting: Sequence[PageId], step: Seconds, now: Instant) -> Sequence[PageId]:
        """The pages that the strategy begins with."""
        return waiting

    def size(self, stated: int) -> int:
        """How many pages there will be, as far as is known; 0: it is not."""
        return stated

    def prepare(self, pages: Sequence[PageId], now: Instant) -> None:
        """The strategy is to be built: what takes long with many pages, on values of the mode's own alone."""

    def begun(self, pages: Sequence[PageId], now: Instant) -> None:
        """The strategy is built, and is about to be given these pages."""

    # -- what is found ---------------------------------------------------------------------------------------------

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """Which of the URLs that a document names are taken in."""
        return links

    def reconsidered(self, parent: PageId, linked: Sequence[PageId], now: Instant) -> list[PageId]:
        """Those of the known pages named by a document that had been left and are wanted after all."""
        return []

    def why_left(self, sighting: Sighting, parent: PageId) -> str:
        """Why a new page is recorded and not fetched; empty: it is fetched."""
        return ""

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:
        """New pages are queued, which one document names."""

    def hub(self, page: PageId) -> None:
        """A hub has become known."""

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """A known page is named again, with hints."""

    def joining(self, pages: Sequence[PageId]) -> Sequence[PageId]:
        """Which of the pages just found the strategy is given now."""
        return pages

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """The rates that the strategy is told of these pages, given their own."""
        return rates

    def attestable(self, pages: Sequence[PageId], now: Instant) -> list[bool] | None:
        """Which pages may be expected to be claimed by their lastmod; ``None``: none."""
        return None

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """A page links to these."""

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """A sitemap that was asked for at ``read`` says when a page last changed."""

    # -- what is next ----------------------------------------------------------------------------------------------

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Is there something to wait for before the strategy decides? It is owed by then."""
        return False

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """The next visit."""
        return strategy.next(now)

    def owes_more(self, now: Instant) -> bool:
        """The strategy has nothing left, and nothing is under way: is there more to do?"""
        return False

    def turn(self, now: Instant) -> None:
        """All first visits are over: T is fixed."""

    def asks_by_former(self, kind: Kind, slot: Slot) -> bool:
        """May a first download be asked for by the validators of a former capture: is a 304 to it as good?"""
        return False

    def takes(self, page: PageId, url: str, look: Outcome) -> bool:
        """Is a page not asked for, and stands as a former capture has it: as this outcome says?"""
        return False

    # -- what came of it -------------------------------------------------------------------------------------------

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """The first download of a page or resource is over."""

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Another visit of a page, before T, is over; ``before``: what the former one had shown."""

    def audits(self, page: PageId) -> bool:
        """Was the second download of a page an audit, and no visit of the strategy's?"""
        return False

    def asks_again(self, page: PageId, slot: Slot, outcome: Outcome) -> bool:
        """A download is over; True: it is made again at once, without conditions."""
        return False

    def revisited(self, page: PageId, kind: Kind, visit: Outcome, outcome: Outcome, judgement: Judgement) -> bool:
        """A second download is over, of what a ``visit`` had shown; True: it is too early to judge."""
        return False

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:
        """A sitemap was read, or could not be."""

    def as_of(self, page: PageId, outcome: Outcome) -> Instant:
        """Up to when an answer shows what a sitemap says."""
        return reach(outcome, None, None)

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """A sitemap tells when pages changed."""

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A poll of a hub is over, and the pages that it named (of the capture) are taken in."""

    def closed(self, page: PageId, reason: str) -> None:
        """A hub is not asked again."""

    def left_open(self, page: PageId) -> bool:
        """Was it revisited, and is it too early to judge?"""
        return False

    # -- the end ---------------------------------------------------------------------------------------------------

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """What evidence of its own says of these, which are not judged yet."""
        return {}

    def part_over(self, now: Instant) -> bool:
        """All is judged; False: another part of the site is to come."""
        return True

    # -- after a restart -------------------------------------------------------------------------------------------

    def recall_parts(self, rows: Sequence[SubsiteRow]) -> None:
        """After a restart: these parts of the site had been begun."""

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """After a restart: these URLs had been known."""

    def recall_lastmod(self, row: LastmodRow) -> None:
        """A sitemap had said so."""

    def reference_of(self, part: int | None) -> Instant | None:
        """The T that visits precede, of a part or of all; ``None``: none yet, or none that they all precede."""
        return None

    def resumed(self, members: Mapping[PageId, int], firsts: Sequence[Visit]) -> Sequence[Visit]:
        """Which of the first visits made the strategy is told of; ``members``: the part of each page."""
        return firsts

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """The strategy has been told of these first visits; the pages revisited, and not judged yet."""
        return frozenset()

    def went_on(self, strategy: Door) -> None:
        """The strategy has been told of all visits made."""


class Untested:
    """The rates of a capture where nothing is known to test them by: they are taken as they are.

    With an archive's former captures :class:`~sharc_crawler.frontier.modes.rate_tests.RateTests` takes its place.
    """

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
