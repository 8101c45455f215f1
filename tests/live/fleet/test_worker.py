"""What a worker does with a site that it let go of, or that was taken from it."""

from __future__ import annotations

import asyncio
import gzip
import logging
import shutil
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.archive.taking_over import seal_former
from sharc_crawler.errors import StoreUnavailable, StrategyError
from sharc_crawler.fleet.journal import packed
from sharc_crawler.fleet.ledger import JournalStep, SiteState, Wish
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.restoring import Restorer
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.fleet import place as place_module
from sharc_crawler.live.fleet.clerk import Clerk
from sharc_crawler.live.fleet.keeping import SharedFolder
from sharc_crawler.live.fleet.place import JOURNAL, FleetPlace
from sharc_crawler.live.fleet.run import fleet_settings
from sharc_crawler.live.fleet.spider import FleetSpider
from sharc_crawler.live.fleet.worker import FleetWorker
from sharc_crawler.model import CaptureRef, Fetch, Outcome, Result, Sighting
from sharc_crawler.state.rows import Batch
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.plain import to_json
from sharc_crawler.testing.stores import visit_row
from tests.archive.readback import page
from tests.fleet.ledger_means import site_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.fleet.ledger import FleetLedger
    from sharc_crawler.live.session import Session

SITE, TERM = "a.example", 20.0
LOGGER = logging.getLogger("sharc_crawler.live.fleet.holding")
LOOKS = 600  #: of 0.05 s, at most


class Working:
    """A worker in this process, with a ledger, files and a process that writes; nothing asks it for requests."""

    def __init__(self, folder: Path, term: float = TERM) -> None:
        dsn = f"sqlite:{folder / 'fleet.db'}"
        self.ledger: FleetLedger = open_fleet(dsn, make=True)
        self.ledger.add([site_order(SITE)])
        kept = SharedFolder(folder / "captures")
        settings = fleet_settings(["SHARC_OPERATOR=a@b.example"], kept, 4)
        clerk = Clerk(open_fleet(dsn), "w", term)
        self.worker = FleetWorker(clerk, kept, 4)
        crawler = Crawler(FleetSpider, settings)
        crawler.spider = FleetSpider.from_crawler(crawler, self.worker, clerk)
        crawler._apply_settings()
        self.session: Session = session_of(crawler)
        self.faults: list[str] = []
        LOGGER.addFilter(self._seen)

    async def begin(self) -> None:
        await self.worker.begin(self.session, lambda: None, lambda: None)

    def _seen(self, record: logging.LogRecord) -> bool:
        if "event=fault" in (said := record.getMessage()):
            self.faults.append(said)
        return True

    async def until(self, condition) -> None:
        for _ in range(LOOKS):
            if condition():
                return
            await asyncio.sleep(0.05)
        raise AssertionError([(one.site, one.state, one.reason) for one in self.ledger.sites()])

    def site(self):
        (site,) = self.ledger.sites()
        return site

    async def end(self) -> None:
        await self.worker.leave()
        await self.session.close()
        LOGGER.removeFilter(self._seen)
        assert self.faults == [], "nothing went wrong"


@pytest.fixture
def working(tmp_path: Path) -> Iterator[Working]:
    working = Working(tmp_path)
    yield working
    working.ledger.close()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_claimed_again_before_its_last_term_here_was_seen_to_be_over_is_gone_on_with(working: Working):
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    former = working.session.sites[SITE]
    working.ledger.release(SITE, working.worker.holdings.places[SITE].epoch)  # as when its term had run out
    await working.until(lambda: SITE in working.session.sites and working.session.sites[SITE] is not former)
    assert working.site().state is SiteState.HELD
    assert working.worker.holdings.places[SITE].epoch == working.site().epoch
    await working.end()
    assert working.site().state is SiteState.WAITING, "it was handed over"


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_whose_files_another_took_is_let_go_of(working: Working, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO", "sharc_crawler.live.fleet")
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    folder = working.worker.holdings.places[SITE].folder
    await asyncio.wrap_future(working.session.archivist.keep(SITE, page()))
    (sealed,) = seal_former(folder, 99)
    kept = sealed.read_bytes()
    working.ledger.wish(Wish.STOP, [SITE])
    await working.until(lambda: SITE not in working.session.sites)
    await working.end()
    assert "event=superseded" in caplog.text
    assert "event=cannot-end" not in caplog.text
    assert sealed.read_bytes() == kept


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_whose_strategy_breaks_has_failed_and_one_that_cannot_be_written_is_claimed_again(
    working: Working,
):
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    former, epoch = working.session.sites[SITE], working.worker.holdings.places[SITE].epoch
    working.worker.endings.cannot_go_on(SITE, StoreUnavailable("disk I/O error"))
    working.ledger.release(SITE, epoch)  # as when its term has run out
    await working.until(lambda: SITE in working.session.sites and working.session.sites[SITE] is not former)
    assert working.site().state is SiteState.HELD
    for _ in range(2):  # as often as it is said
        working.worker.endings.cannot_go_on(SITE, StrategyError("strategy='mine' is stopped"))
        await asyncio.sleep(0)
    await working.until(lambda: working.site().state is SiteState.FAILED)
    assert working.site().reason == "strategy='mine' is stopped"
    await working.end()


def refused(frontier) -> None:
    """Nothing of a site is to be had: it is done."""
    now = 2e9
    while not frontier.done:
        decision = frontier.next(now)
        if isinstance(decision, Fetch):
            frontier.finished(decision, Outcome(Result.FAILED, now, now, error="refused"))
        now = getattr(decision, "until", now) + 1


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_that_is_lost_while_its_end_waits_for_anothers_is_let_go_of(working: Working):
    worker = working.worker
    await working.begin()
    await working.until(lambda: SITE in working.session.sites and SITE not in worker.holdings.going)
    async with worker.endings.turn:
        refused(working.session.sites[SITE])
        await working.until(lambda: SITE in worker.holdings.going and worker._clerk.held[SITE].safe)
        await asyncio.sleep(0.5)  # it waits
        worker._clerk.lose(SITE)
        working.ledger.wish(Wish.PAUSE, None)
    await working.until(lambda: SITE not in worker.holdings.places)
    await working.end()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_that_is_told_twice_that_it_is_done_ends_once(working: Working):
    worker = working.worker
    await working.begin()
    await working.until(lambda: SITE in working.session.sites and SITE not in worker.holdings.going)
    refused(working.session.sites[SITE])
    await working.until(lambda: SITE not in worker._clerk.held or worker._clerk.held[SITE].safe)
    for _ in range(2):
        worker.written(SITE)
    await working.until(lambda: working.site().state is SiteState.FAILED)
    await working.end()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_of_which_nothing_was_captured_is_captured_again_by_order(working: Working):
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    refused(working.session.sites[SITE])
    await working.until(lambda: working.site().state is SiteState.FAILED)
    assert working.site().reason.startswith("no page was captured: robots.txt could not be read")
    assert working.ledger.requeue(None) == 1
    await working.until(lambda: SITE in working.session.sites)
    assert (working.site().state, working.site().round) == (SiteState.HELD, 2)
    assert not working.session.sites[SITE].done
    assert working.worker.holdings.places[SITE].folder.name == f"{SITE}-round-2"
    await working.end()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_fails_for_no_object_store_that_is_away(
    working: Working, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def away(*_):
        raise OSError("s3://bucket/a.example: Connect timeout")

    caplog.set_level("INFO", "sharc_crawler.live.fleet")
    with monkeypatch.context() as patch:
        patch.setattr(SharedFolder, "take_over", away)
        patch.setattr(working.worker.holdings.kept, "objects", "s3://bucket")
        await working.begin()
        await working.until(lambda: "event=not-begun" in caplog.text)
        await working.until(lambda: working.site().reason == "s3://bucket/a.example: Connect timeout")
    assert (working.site().state, working.site().owner) == (SiteState.WAITING, None), "a term later it is tried again"
    working.ledger.drop([SITE])
    working.ledger.add([site_order(SITE)])
    await working.until(lambda: SITE in working.session.sites)
    await working.end()


@deferred_f_from_coro_f
async def test_a_site_that_its_last_three_owners_did_not_survive_is_given_to_no_fourth(working: Working):
    """It may end whoever captures it: memory that runs out, a plug-in that crashes."""
    working.worker.holdings.kept.folder.mkdir()
    for number in range(3):
        [held] = working.ledger.claim(f"w{number}", 1, 0.0)
        working.ledger.step([JournalStep(SITE, held.epoch, number + 1, b"begins")], 0.0)
        await asyncio.sleep(0.01)
    await working.begin()
    await working.until(lambda: working.site().state is SiteState.FAILED)
    assert "3 workers in a row, w2 the last, ended without a word" in working.site().reason
    assert working.ledger.requeue(None) == 1
    [held] = working.ledger.claim("another", 1, TERM)
    assert held.silent == 0, "by order it is tried again"
    await working.end()


@deferred_f_from_coro_f
async def test_owners_whose_ledger_was_away_may_renew_before_others_take_their_sites(tmp_path: Path):
    """It was away from all of them; one that is claimed at once would be counted as ended."""
    working = Working(tmp_path, 30_000.0)
    working.worker.holdings.kept.folder.mkdir()
    asked: list[bool] = []

    def claim(worker, most, term, *, silent):
        asked.append(silent)
        if len(asked) == 1:
            raise StoreUnavailable("away")
        return []

    working.worker.holdings.clerk.ledger.claim = claim
    await working.begin()
    await working.until(lambda: len(asked) > 1)
    assert asked[:2] == [True, False]
    await working.end()
    working.ledger.close()


@pytest.mark.slow
@pytest.mark.parametrize("there", ["nothing", "too little", "all"])
@deferred_f_from_coro_f
async def test_a_site_whose_files_lie_elsewhere_is_not_gone_on_with(
    working: Working, caplog: pytest.LogCaptureFixture, there: str
):
    """Another --output, or a share that is not mounted: what was captured before would be in nobody's report."""
    caplog.set_level("INFO", "sharc_crawler.live.fleet")
    ledger, folder = working.ledger, working.worker.holdings.kept.folder / SITE
    record = gzip.compress(b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    if there != "nothing":
        folder.mkdir(parents=True)
        (folder / "a.warc.gz").write_bytes(record)
    [held] = ledger.claim("former", 1, TERM)
    state = journalled(MemoryStore(), CaptureRef("a.warc.gz", 0, len(record) + (there == "too little")))
    ledger.step([JournalStep(SITE, held.epoch, 1, packed([to_json(state)]))], TERM)
    ledger.release(SITE, held.epoch)
    await working.begin()
    if there == "all":
        await working.until(lambda: SITE in working.session.sites)
    elif there == "nothing":
        await working.until(lambda: "this worker's --output is another than theirs" in caplog.text)
        await working.until(lambda: working.site().state is SiteState.WAITING)
        assert not folder.exists()
        assert [one.site for one in ledger.claim("another", 1, TERM)] == [SITE]
    else:
        await working.until(lambda: working.site().state is SiteState.FAILED)
        assert f"{folder} lacks what former workers wrote in a.warc.gz: put back" in working.site().reason
    if there == "all":  # and then its folder is removed, and no other worker finds it
        for state in (SiteState.WAITING, SiteState.FAILED):
            shutil.rmtree(folder, ignore_errors=True)
            if SITE in working.worker.holdings.places:
                ledger.release(SITE, working.site().epoch)
            working.worker._claims.not_before = 0.0
            await working.until(lambda state=state: working.site().state is state and working.site().reason)
            assert f"{folder} has no WARC file of the site's former workers: it was moved" in working.site().reason
    await working.end()


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1])
@deferred_f_from_coro_f
async def test_a_capture_that_ended_is_not_gone_on_with_by_a_ledger_that_knows_less_of_it(working: Working, more: int):
    """As when that was restored from a backup. Where it knows all, the last owner was killed as it ended it."""
    ledger, folder = working.ledger, working.worker.holdings.kept.folder / SITE
    folder.mkdir(parents=True)
    state = journalled(MemoryStore())
    later = replace(state, visits=state.visits * (1 + more))
    (folder / JOURNAL).write_bytes(gzip.compress(f"{to_json(later)}\n".encode()))
    [held] = ledger.claim("former", 1, TERM)
    ledger.step([JournalStep(SITE, held.epoch, 1, packed([to_json(state)]))], TERM)
    ledger.release(SITE, held.epoch)
    await working.begin()
    await working.until(lambda: SITE in working.session.sites or working.site().state is SiteState.FAILED)
    if more:
        assert f"the capture in {folder} has ended, and the ledger knows only a part of it" in working.site().reason
        assert sorted(path.name for path in folder.iterdir()) == [JOURNAL], "nothing is touched"
    await working.end()
    assert working.site().state is (SiteState.FAILED if more else SiteState.WAITING)


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_whose_former_owners_clock_was_ahead_goes_on_from_its_last_visit(working: Working):
    """Else it would stand still for that long, or its visits would come before former ones."""
    ledger, ahead = working.ledger, working.session.clock.now() + 3600
    folder = working.worker.holdings.kept.folder / SITE
    folder.mkdir(parents=True)
    record = gzip.compress(b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    (folder / "a.warc.gz").write_bytes(record)
    [held] = ledger.claim("former", 1, TERM)
    state = journalled(MemoryStore(), CaptureRef("a.warc.gz", 0, len(record)), ahead)
    ledger.step([JournalStep(SITE, held.epoch, 1, packed([to_json(state)]))], TERM)
    ledger.release(SITE, held.epoch)
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    assert working.session.clock.now() >= ahead
    notes = working.session.sites[SITE].capture.notes
    assert any(note.startswith("the system clock had been set back by 3") for note in notes), notes
    await working.end()


def journalled(store: MemoryStore, capture: CaptureRef | None = None, now: float = 1e9) -> Batch:
    """What a former owner did of a site: a page, which links to another one."""
    frontier = Frontier(Politeness(obey_robots=False), store)
    frontier.open(CaptureSpec(SITE, (f"http://{SITE}/",), strategy="bfs", sitemaps=()), now)
    fetch = frontier.next(now)
    assert isinstance(fetch, Fetch)
    outcome = Outcome(Result.OK, now, now, 200, "sha1:A", capture=capture)
    frontier.finished(fetch, outcome, [Sighting(f"http://{SITE}/more")])
    return replace(store.load(), links=list(store.links()))


@deferred_f_from_coro_f
async def test_a_site_goes_on_before_there_is_a_copy_of_what_former_owners_did(working: Working):
    state, told = journalled(MemoryStore()), []
    config, stores = working.session.config, working.session.stores
    folder = working.worker.holdings.kept.folder / SITE
    place = FleetPlace(folder, 2, config, stores, lambda *said: told.append(said), list)
    place.take_over(state)
    place.commit(Batch(members=[(0, 1)]))
    place.catch_up()
    assert len(told) == 1, "the journal is told at once"
    assert list(place.links()) == state.links
    place.copy_beside()
    await place.whole()
    place.commit(Batch(members=[(1, 1)]))
    place.finish()
    kept = load_state(place.ready)
    assert (kept.pages, kept.visits, kept.members) == (state.pages, state.visits, [(0, 1), (1, 1)])


@pytest.mark.parametrize("goes_on", [True, False])
@deferred_f_from_coro_f
async def test_the_copy_begins_once_a_site_has_gone_on(
    working: Working, monkeypatch: pytest.MonkeyPatch, goes_on: bool
):
    """Both take long, of a large site: its first decision comes first. Of one that is given away again none is made."""
    begun, copied = [], place_module._copied
    monkeypatch.setattr(place_module, "_copied", lambda folder, *more: begun.append(folder) or copied(folder, *more))
    config, stores = working.session.config, working.session.stores
    folder = working.worker.holdings.kept.folder / SITE
    place = FleetPlace(folder, 2, config, stores, lambda *_: None, list)
    place.take_over(journalled(MemoryStore()))
    place.copy_beside()
    place.commit(Batch(members=[(0, 1)]))
    for _ in range(10):
        await asyncio.sleep(0)
    assert begun == []
    if goes_on:
        place.commit(Batch(visits=[visit_row(1)]))
        await place.copied
    await place.leave()
    assert begun == [place.state] * goes_on
    place.discard()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_terms_are_renewed_while_a_large_site_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    working, renewed, since = Working(tmp_path, term=2.0), threading.Semaphore(0), []
    ledger = working.worker.holdings.clerk.ledger

    def renew(pulse, term, renew=ledger.renew):
        renewed.release()
        return renew(pulse, term)

    def restore(self, saved, now, restore=Restorer.restore):
        while renewed.acquire(blocking=False):
            pass
        for _ in range(3):  # it takes as long as some renewals, which nobody makes where the reactor waits for it
            since.append(renewed.acquire(timeout=10))
        restore(self, saved, now)

    monkeypatch.setattr(ledger, "renew", renew)
    monkeypatch.setattr(Restorer, "restore", restore)
    [held] = working.ledger.claim("former", 1, TERM)
    working.ledger.step([JournalStep(SITE, held.epoch, 1, packed([to_json(journalled(MemoryStore()))]))], TERM)
    working.ledger.release(SITE, held.epoch)
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    assert since == [True] * 3
    await working.end()
    working.ledger.close()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_copy_that_cannot_be_made_is_said_and_lets_go_of_the_site(
    working: Working, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def full(*_):
        raise OSError(28, "No space left on device")

    caplog.set_level("INFO", "sharc_crawler.live.fleet")
    [held] = working.ledger.claim("former", 1, TERM)
    working.ledger.step([JournalStep(SITE, held.epoch, 1, packed([to_json(journalled(MemoryStore()))]))], TERM)
    working.ledger.release(SITE, held.epoch)
    with monkeypatch.context() as patch:
        patch.setattr(place_module, "_copied", full)
        patch.setattr(place_module, "LATEST", 0.0)
        await working.begin()
        await working.until(lambda: "event=cannot-go-on" in caplog.text)
    assert "No space left" in caplog.text
    await working.until(lambda: SITE not in working.worker.holdings.places)
    await working.end()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_a_site_that_was_dropped_and_added_again_is_captured_in_a_further_folder(
    working: Working, tmp_path: Path
):
    folder = tmp_path / "captures" / SITE
    folder.mkdir(parents=True)
    (folder / "before.warc.gz").write_bytes(b"what a former capture of it wrote")
    await working.begin()
    await working.until(lambda: SITE in working.session.sites)
    assert (working.site().state, working.site().round) == (SiteState.HELD, 2)
    assert working.worker.holdings.places[SITE].folder.name == f"{SITE}-round-2"
    assert [one.name for one in folder.iterdir()] == ["before.warc.gz"]
    await working.end()
