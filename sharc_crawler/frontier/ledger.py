"""The frontier's state, and the changes still to be written to the store: each step whole or not at all."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.urls import without_credentials
from sharc_crawler.frontier.hosts import Host, HostRing, Politeness, Task
from sharc_crawler.model import (
    Fetch,
    Hints,
    Instant,
    Judgement,
    Kind,
    Outcome,
    PageId,
    RateEstimate,
    Result,
    Seconds,
    Sighting,
    Slot,
)
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import HOST, UNRATED, PageTable
from sharc_crawler.state.rows import (
    SOLE,
    Batch,
    HostRow,
    JudgementRow,
    LastmodRow,
    LinksRow,
    NoveltyRow,
    OutsideRow,
    PageRow,
    SubsiteRow,
    VisitRow,
)

if TYPE_CHECKING:
    from array import array

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.frontier import Shared
    from sharc_crawler.polling.site import SitePolls
    from sharc_crawler.state.store import StepStore


LONGEST_LISTED = 2_083  #: characters; longer URLs are cut in the list of URLs left out
_QUEUED, _LATE = int(State.QUEUED), int(State.LATE)  # local names are faster: a sitemap names many pages


class Ledger:
    """The capture, its pages and hosts, and the batch of changes that the next :meth:`commit` writes.

    ``shared``: state shared with other sites' frontiers.
    """

    capture: SiteCapture  #: once opened or restored

    def __init__(self, politeness: Politeness, store: StepStore | None, shared: Shared) -> None:
        self.politeness = politeness
        self.shared = shared
        self.polls: SitePolls | None = None  #: of an instant crawl
        self.novelties: dict[PageId, NoveltyRow] = {}
        self.pages = PageTable()
        self.hosts: list[Host] = []
        self.host_numbers: dict[str, int] = {}
        self.page_hosts: list[int] = []  #: numbers of hosts that may have pages of the capture
        self.seeded: set[str] = set()  #: hosts of the seeds
        self.ring = HostRing(lambda: shared.woken(self))
        self._store = store
        self._batch = Batch()
        self._held = False

    def host(self, name: str) -> int:
        """Return the number of a host, which is added if new."""
        number = self.host_numbers.get(name)
        if number is None:
            number = self.host_numbers[name] = self.ring.add()
            self.hosts.append(Host(name, self.politeness, self.shared.pace(name)))
        return number

    def add_pages(
        self,
        keys: Sequence[str],
        sightings: Sequence[Sighting],
        hosts: Sequence[int],
        depth: int,
        parent: PageId,
        estimates: Sequence[RateEstimate] = (UNRATED,),
        weights: Sequence[float] = (1.0,),
        reasons: Sequence[str] = ("",),
    ) -> range:
        """Add URLs that one document names; return their numbers. ``reasons``: why each is not fetched, or empty."""
        size, first = len(keys), len(self.pages)
        numbers = range(first, first + size)
        urls, kinds, via, hints, *_ = zip(*sightings, strict=True)
        rates, sources, shapes, *_ = zip(*estimates, strict=True)
        states = [_LATE if reason else _QUEUED for reason in reasons]
        place: list[Sequence[Any]] = [numbers, [SOLE] * size, keys, urls, kinds, hosts, [depth] * size, [parent] * size]
        columns = [*place, via, states, rates, sources, shapes, weights, hints, reasons]
        self.pages.add(columns)
        self.capture.seen.add_all(keys, numbers)
        if self._store:
            columns[HOST] = [self.hosts[host].name for host in hosts]
            self._batch.pages += map(tuple.__new__, repeat(PageRow), zip(*columns, strict=True))
        return numbers

    def owe(self, page: PageId, slot: Slot) -> None:
        """Make a host owe a download that no strategy decides, before its next page."""
        self.capture.owed.add()
        number = self.pages.hosts[page]
        host = self.hosts[number]
        if self.pages.kinds[page] is Kind.ROBOTS:
            host.robots, host.waits = Task(page, slot), True
        else:
            host.urgent.append(Task(page, slot))
        self.ring.wake(number)

    def owe_at(self, page: PageId, slot: Slot, due: Instant) -> None:
        """Owe a download, but not before ``due``."""
        self.capture.owed.add()
        number = self.pages.hosts[page]
        self.hosts[number].retry(Task(page, slot), due)
        self.ring.wake(number)

    @property
    def leaves_hosts(self) -> bool:
        """May silent hosts be given up? Not in crawls without an end, nor in a Scrapy project."""
        return self.capture.spec.mode == "capture" and bool(self.seeded)

    def may_have_pages(self, number: int) -> None:
        """Ask the capture for visits of this host from now on."""
        if not self.hosts[number].has_pages:
            self.hosts[number].has_pages = True
            insort(self.page_hosts, number)

    def freed(self, number: int) -> None:
        """A request to this host has ended: wake a host that waits for the same pace, then this one."""
        pace = self.hosts[number].pace
        pace.busy -= 1
        pace.offer()
        self.ring.wake(number)

    def visited(self, fetch: Fetch, task: Task, outcome: Outcome, finished: bool) -> None:
        """Write a fetch that ended."""
        if self._store:
            row = VisitRow(fetch.page, *task[1:], finished, fetch.lease, fetch.decided, outcome)
            self._batch.visits.append(row)

    def refused(self, task: Task, reason: str, now: Instant) -> None:
        """Write that a page will not be fetched."""
        if self._store:
            outcome = Outcome(Result.REFUSED, now, now, error=reason)
            row = VisitRow(*task[:3], 0, finished=True, lease=0, decided=now, outcome=outcome)
            self._batch.visits.append(row)

    def judged(self, page: PageId, judgement: Judgement) -> None:
        """Write a page's judgement."""
        if self._store:
            row = JudgementRow(page, judgement.verdict, judgement.evidence, judgement.reason)
            self._batch.judgements.append(row)

    def linked(self, page: PageId, time: Instant, targets: Sequence[PageId]) -> None:
        """Write which pages a document links to."""
        if self._store and targets:
            self._batch.links.append(LinksRow(page, time, tuple(dict.fromkeys(targets))))

    def dated(self, page: PageId, read: Instant, lastmod: Instant, precision: Seconds) -> None:
        """Write a page's lastmod in a sitemap."""
        if self._store:
            self._batch.lastmods.append(LastmodRow(page, read, lastmod, precision))

    def left_out(self, url: str, reason: str, via: str) -> None:
        """Count a URL that is not admitted, and list it once, up to a limit."""
        url = without_credentials(url)
        if self.capture.left_out.add(url, reason) and self._store:
            self._batch.outside.append(OutsideRow(SOLE, url[:LONGEST_LISTED], reason, via))

    def embeds(self, page: PageId, resource: PageId) -> None:
        """Write that a page needs a resource for replay."""
        if self._store:
            self._batch.embeds.append((page, resource))

    def rated(self, page: PageId, estimate: RateEstimate) -> None:
        """Set a page's rate."""
        self.pages.rates[page], self.pages.shapes[page] = estimate.rate, estimate.shape
        self.pages.guessed[page] = estimate.source == PRIOR
        if self._store:
            self._batch.rates.append((page, estimate.rate, estimate.source, estimate.shape))

    def rated_all(self, pages: array[int], found: Any) -> None:
        """Set many pages' rates; ``found``: an estimate for each, or an object with columns."""
        if not hasattr(found, "columns"):
            for page, estimate in zip(pages, found, strict=True):
                self.rated(page, estimate)
            return
        from sharc_crawler.state.rated import Rated

        rated = Rated(self._batch.rates)
        rated.put_all(pages, found, self.pages)
        if self._store:
            self._batch.rates = rated

    def hinted(self, page: PageId, hints: Hints | None) -> None:
        """Write a sitemap's hints on a known page that is not visited yet."""
        if self._store:
            self._batch.hints.append((page, hints))

    def novel(self, row: NoveltyRow) -> None:
        """Write which hub first showed a page, and when."""
        self.novelties[row.page] = row
        if self._store:
            self._batch.novelties[row.page] = row

    def changed_capture(self) -> None:
        """Write the capture's own row."""
        if self._store:
            self._batch.captures[SOLE] = self.capture.row()
            self.capture.noted = False

    def changed_subsite(self, row: SubsiteRow) -> None:
        """Write that a part of the site was begun or is captured."""
        if self._store:
            self._batch.subsites[row.capture, row.number] = row

    def assigned(self, pages: Sequence[PageId], number: int) -> None:
        """Write that pages belong to a part of the site."""
        if self._store:
            self._batch.members += [(page, number) for page in pages]

    def links(self) -> Iterable[LinksRow]:
        """Read the links of all documents so far."""
        return self._store.links() if self._store else ()

    def keep(self, name: str, text: str) -> None:
        """Write, in the same step, a text that a driver needs to resume."""
        if self._store:
            self._batch.kept[name] = text

    def changed_host(self, host: Host, robots: str) -> None:
        """Write a host's rules."""
        if self._store:
            self._batch.hosts[host.name] = HostRow(host.name, robots, host.delay)

    def commit(self) -> None:
        """Write all changes since the last call in one transaction."""
        if self._held or not self._store:
            return
        if self.capture.noted:
            self.changed_capture()
        if self._batch:
            self.shared.unwritten.add(self)
            self._store.commit(self._batch)
            self.shared.unwritten.discard(self)
            self._batch = Batch()

    @contextmanager
    def one_step(self, *, later: bool = False) -> Iterator[None]:
        """Write all that is done within in one transaction; ``later``: together with what follows."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.shared.unwritten.add(self) if later else self.commit()
