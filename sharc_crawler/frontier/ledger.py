"""What a frontier knows, and what of it the store has yet to be told: all of a step, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.urls import without_credentials
from sharc_crawler.frontier.hosts import Host, HostRing, Politeness, Task
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import HOST, NO_PARENT, UNRATED, PageTable
from sharc_crawler.frontier.rows import (
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
from sharc_crawler.model import (
    EMBEDDED,
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

if TYPE_CHECKING:
    from array import array

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.frontier import Shared
    from sharc_crawler.frontier.store import StepStore
    from sharc_crawler.polling.site import SitePolls


LONGEST_LISTED = 2_083  #: characters of a URL that is listed and not taken
_QUEUED, _LATE = int(State.QUEUED), int(State.LATE)  # looked up once: a sitemap names many pages


class Ledger:
    """The capture, its pages and hosts; and the batch of changes that the next :meth:`commit` writes.

    ``shared``: with the frontiers of other sites.
    """

    capture: SiteCapture  #: once it is opened, or restored

    def __init__(self, politeness: Politeness, store: StepStore | None, shared: Shared) -> None:
        self.politeness = politeness
        self.shared = shared
        self.polls: SitePolls | None = None  #: of an instant crawl
        self.novelties: dict[PageId, NoveltyRow] = {}
        self.pages = PageTable()
        self.hosts: list[Host] = []
        self.host_numbers: dict[str, int] = {}
        self.seeded: set[str] = set()  #: hosts of the seeds
        self.ring = HostRing(lambda: shared.woken(self))
        self._store = store
        self._batch = Batch()
        self._held = False

    def host(self, name: str) -> int:
        """The number of a host, which owes robots.txt before all else when it is new."""
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
        """URLs that one document names are known from now on; their numbers. ``reasons``: why they are not fetched."""
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
        """A download that no strategy decides: its host owes it before the next page."""
        self.capture.owed.one()
        number = self.pages.hosts[page]
        host = self.hosts[number]
        if self.pages.kinds[page] is Kind.ROBOTS:
            host.robots, host.waits = Task(page, slot), True
        else:
            host.urgent.append(Task(page, slot))
        self.ring.wake(number)

    def owe_at(self, page: PageId, slot: Slot, due: Instant) -> None:
        """Owe a download, not before ``due``."""
        self.capture.owed.one()
        number = self.pages.hosts[page]
        self.hosts[number].retry(Task(page, slot), due)
        self.ring.wake(number)

    @property
    def leaves_hosts(self) -> bool:
        """Is a host that answers nothing left? Not where visits and polls go on, nor in a project."""
        return self.capture.spec.mode == "capture" and bool(self.seeded)

    def owner(self, page: PageId) -> PageId:
        """The page that a resource (or a style sheet's image) was first embedded in; a page owns itself."""
        pages = self.pages
        while pages.kinds[page] in EMBEDDED and pages.parents[page] != NO_PARENT:
            page = pages.parents[page]
        return page

    def freed(self, number: int) -> None:
        """A request to this host has ended: one that shares its pace may be asked, then itself."""
        pace = self.hosts[number].pace
        pace.busy -= 1
        pace.offer()
        self.ring.wake(number)

    def visited(self, fetch: Fetch, task: Task, outcome: Outcome, finished: bool) -> None:
        """A fetch ended."""
        if self._store:
            row = VisitRow(fetch.page, *task[1:], finished, fetch.lease, fetch.decided, outcome)
            self._batch.visits.append(row)

    def refused(self, task: Task, reason: str, now: Instant) -> None:
        """A page will not be fetched at all."""
        if self._store:
            outcome = Outcome(Result.REFUSED, now, now, error=reason)
            row = VisitRow(*task[:3], 0, finished=True, lease=0, decided=now, outcome=outcome)
            self._batch.visits.append(row)

    def judged(self, page: PageId, judgement: Judgement) -> None:
        """A page came out so."""
        if self._store:
            row = JudgementRow(page, judgement.verdict, judgement.evidence, judgement.reason)
            self._batch.judgements.append(row)

    def linked(self, page: PageId, time: Instant, targets: Sequence[PageId]) -> None:
        """The document links to these pages."""
        if self._store and targets:
            self._batch.links.append(LinksRow(page, time, tuple(dict.fromkeys(targets))))

    def said(self, page: PageId, read: Instant, lastmod: Instant, precision: Seconds) -> None:
        """A sitemap speaks of a page's last change."""
        if self._store:
            self._batch.lastmods.append(LastmodRow(page, read, lastmod, precision))

    def left_out(self, url: str, reason: str, via: str) -> None:
        """The capture was shown a URL that it does not take: counted, and listed once, up to a number."""
        url = without_credentials(url)
        if self.capture.left_out.add(url, reason) and self._store:
            self._batch.outside.append(OutsideRow(SOLE, url[:LONGEST_LISTED], reason, via))

    def embeds(self, page: PageId, resource: PageId) -> None:
        """The page needs the resource to be replayed."""
        if self._store:
            self._batch.embeds.append((page, resource))

    def rated(self, page: PageId, estimate: RateEstimate) -> None:
        """A page's rate is known, or known better."""
        self.pages.rates[page], self.pages.shapes[page] = estimate.rate, estimate.shape
        self.pages.guessed[page] = estimate.source == PRIOR
        if self._store:
            self._batch.rates.append((page, estimate.rate, estimate.source, estimate.shape))

    def rated_all(self, pages: array[int], found: Any) -> None:
        """Many pages' rates are known; ``found``: an estimate of each, or what has them in columns."""
        if not hasattr(found, "columns"):
            for page, estimate in zip(pages, found, strict=True):
                self.rated(page, estimate)
            return
        from sharc_crawler.frontier.rated import Rated

        rated = Rated(self._batch.rates)
        rated.put_all(pages, found, self.pages)
        if self._store:
            self._batch.rates = rated

    def hinted(self, page: PageId, hints: Hints | None) -> None:
        """A sitemap describes a page that was known, but not visited yet."""
        if self._store:
            self._batch.hints.append((page, hints))

    def novel(self, row: NoveltyRow) -> None:
        """A hub has shown a page first (or more is known of that)."""
        self.novelties[row.page] = row
        if self._store:
            self._batch.novelties[row.page] = row

    def changed_capture(self) -> None:
        """The capture's own row must be written."""
        if self._store:
            self._batch.captures[SOLE] = self.capture.row()

    def changed_subsite(self, row: SubsiteRow) -> None:
        """A part of a site was begun, or is captured."""
        if self._store:
            self._batch.subsites[row.capture, row.number] = row

    def assigned(self, pages: Sequence[PageId], number: int) -> None:
        """Pages are in this part of their site."""
        if self._store:
            self._batch.members += [(page, number) for page in pages]

    def links(self) -> Iterable[LinksRow]:
        """What the documents so far linked to."""
        return self._store.links() if self._store else ()

    def keep(self, name: str, text: str) -> None:
        """What a driver needs to go on: it is no affair of the frontier's, but of the same step."""
        if self._store:
            self._batch.kept[name] = text

    def changed_host(self, host: Host, robots: str) -> None:
        """The host's rules must be written."""
        if self._store:
            self._batch.hosts[host.name] = HostRow(host.name, robots, host.delay)

    def commit(self) -> None:
        """Write what changed since the last call, in one transaction."""
        if self._store and self._batch and not self._held:
            self.shared.unwritten.add(self)
            self._store.commit(self._batch)
            self.shared.unwritten.discard(self)
            self._batch = Batch()

    @contextmanager
    def one_step(self, *, later: bool = False) -> Iterator[None]:
        """All that is done within is written in one transaction; ``later``: with what follows, before anything else."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.shared.unwritten.add(self) if later else self.commit()
