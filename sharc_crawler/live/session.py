"""What the components of one crawl share: scheduler, middlewares, spider and extension see the same frontier."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import __version__ as scrapy_version
from scrapy.utils.asyncio import is_asyncio_available

from sharc_crawler import __version__
from sharc_crawler.archive.open_files import RESERVE, left, limit, raise_limit
from sharc_crawler.archive.options import USUAL, CaptureInfo, WarcOptions
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.frontier.store import Batch
from sharc_crawler.instants import iso
from sharc_crawler.live.archivist import Archivist
from sharc_crawler.live.busy import busy
from sharc_crawler.live.clock import Clock, clock_of
from sharc_crawler.live.config import Config
from sharc_crawler.live.crawl_log import CrawlLog
from sharc_crawler.live.everything import PARTS
from sharc_crawler.live.failing import without_tracebacks
from sharc_crawler.live.history import known_pages, rates_of, remember
from sharc_crawler.live.memory import MemoryBudget, memory_of
from sharc_crawler.live.naming import attributes, named
from sharc_crawler.live.output import RUNNING, check_output, check_state, make_folder, told
from sharc_crawler.live.readers import Readers
from sharc_crawler.live.space import Space
from sharc_crawler.storage.opening import begin_state, set_state_aside
from sharc_crawler.storage.sharing import SharedFile
from sharc_crawler.storage.trying_again import reopened, unreached

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from scrapy.crawler import Crawler

    from sharc_crawler.archive.payloads import Original
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.store import CaptureRow, FrontierStore
    from sharc_crawler.live.control import Control
    from sharc_crawler.live.lease import Lease
    from sharc_crawler.model import CaptureRef, Exchange
    from sharc_crawler.storage.observations import ObservationStore


@dataclass(slots=True)
class Session:
    """One crawl."""

    config: Config
    clock: Clock
    store: FrontierStore | None
    history: ObservationStore | None
    sites: Sites
    space: Space
    memory: MemoryBudget
    drop_in: bool  #: a project's own spider decides what there is to fetch
    name: str  #: of the spider
    rebuilds: bool = False  #: state that is lost is made again
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    leases: dict[int, Lease] = field(default_factory=dict)
    gone_on: bool = False  #: with captures that a former run began
    superseded: bool = False  #: its state is another process's: nothing may be written any more
    archivist: Archivist = field(init=False)
    readers: Readers = field(init=False)
    log: CrawlLog | None = field(init=False)
    control: Control | None = field(init=False)
    file: SharedFile | None = field(init=False)  #: the store, as the frontiers write it

    def __post_init__(self) -> None:
        folder = self.config.output if self.config.control else None
        self.control = _control(folder, self.sites) if folder else None
        self.file = SharedFile(self.store) if self.store else None
        self.archivist = Archivist(self._terms)
        self.readers = Readers({"detector": self.config.detector, "masks": self.config.masks})
        config = self.config
        self.log = CrawlLog(config.output, self.store, config.log) if self.store and config.output else None

    @property
    def used_up(self) -> bool:
        """What is under way takes all the memory that it may."""
        return self.memory.is_used_up(self.archivist.held + self.readers.held)

    @property
    def pausing(self) -> str:
        """Why nothing is fetched for now; empty: the crawl goes on."""
        if self.space.paused() is not None:
            return "its disk has no room"
        return "by order" if self.control and self.control.paused else ""

    async def begin(self, specs: Sequence[CaptureSpec]) -> None:
        """Open these site captures, or go on with them where the output folder holds their unfinished state."""
        saved = await self._rebuilt(specs) if self.rebuilds else self._saved()
        if saved:
            self._go_on_in_time(saved)
        now = self.clock.now()
        if saved and saved.captures:
            saved = await self._borne_out(saved)
            for number, row in saved.captures.items():
                saved.captures[number] = self._on_new_terms(row, specs[0])
            self._restore(saved)
        await self._ready({spec.site for spec in specs})
        for spec in specs:
            if spec.site in self.sites:  # not where it was cut off before it was begun
                continue
            capture = self.open(replace(spec, settings={**spec.settings, "run": self.run}))
            if self.history:
                capture.schedule(known_pages(spec.site, self.history), now)

    def open(self, spec: CaptureSpec, *, seeded: bool = True) -> Frontier:
        """Begin a site's capture, within this crawl's budget."""
        part = self.file.part() if self.file else None
        return self.sites.open(self.bounded(spec), self.clock.now(), part, seeded=seeded)

    async def go_on(self) -> tuple[dict[str, Batch], dict[str, str]] | None:
        """A project's own spider: its captures by site, and what it kept, as a former run left them; ``None``: none."""
        saved = self.store.load() if self.store else None
        if saved is None or not saved.captures:
            return None
        self._go_on_in_time(saved)
        for number, row in saved.captures.items():
            saved.captures[number] = row._replace(spec=self.bounded(row.spec))
        parts = self._restore(saved)
        await self._ready({self.name})
        return parts, saved.kept

    def _restore(self, saved: Batch) -> dict[str, Batch]:
        """Go on with captures; by site, what each was when it was cut off."""
        assert self.file is not None, "somebody has saved it"
        self.run = next(str(row.spec.settings["run"]) for row in saved.captures.values())
        found = {}
        for part, batch in self.file.parts(saved):
            frontier = self.sites.restore(batch, self.clock.now(), part)
            found[frontier.capture.spec.site] = batch
        self.gone_on = True
        return found

    def _on_new_terms(self, row: CaptureRow, spec: CaptureSpec) -> CaptureRow:
        """A capture goes on under another strategy, with other limits or a narrower scope, if it is told to."""
        settings = {**row.spec.settings, **spec.settings}
        new = {name: getattr(spec, name) for name in ("strategy", "include", "exclude")}
        other = [f"begun with {name}={told(was)}" for name in new if (was := getattr(row.spec, name)) != new[name]]
        bounded = self.bounded(replace(row.spec, settings=settings, **new))
        return row._replace(spec=bounded, notes=(*row.notes, *other))

    def _saved(self) -> Batch | None:
        """The state to go on with; captures that reached nobody are tried again."""
        if self.store is None:
            return None
        saved = self.store.load()
        for number in unreached(saved):
            saved = reopened(saved, number)
            row = saved.captures[number]
            if self.config.output:
                from sharc_crawler.certificate.writing import withdraw  # hardly ever

                withdraw(self.config.output, row.spec.site)
            note = f"tried again at {iso(self.clock.now())}: nothing had been captured until then"
            saved.captures[number] = row._replace(notes=(*row.notes, note))
            self.store.replace(saved)
        return saved

    async def _rebuilt(self, specs: Sequence[CaptureSpec]) -> Batch:
        """State made again, in place of what is lost."""
        from sharc_crawler.certificate.writing import withdraw  # hardly ever
        from sharc_crawler.live.reading import detector_of  # hardly ever
        from sharc_crawler.live.rebuilding import rebuild, set_logs_aside  # hardly ever

        folder, detector = self.config.output, detector_of(self.config.detector, self.config.masks)
        assert folder is not None and self.store is not None, "a capture has an output folder"
        bounded = [self.bounded(spec) for spec in specs]
        parts, when = _parts(self.history, self.config), iso(self.clock.now())
        found = await asyncio.to_thread(rebuild, folder, bounded, self.config.politeness, parts, detector, when)
        self.store.replace(found.state)
        self.store.commit(Batch(links=found.links))
        set_logs_aside(folder)
        self.log = CrawlLog(folder, self.store, self.config.log)
        for spec in specs:
            withdraw(folder, spec.site)
        return found.state

    async def _borne_out(self, saved: Batch) -> Batch:
        """The state as far as the WARC files bear it out; what they do not hold any more is fetched again."""
        folder = self.config.output
        if folder is None or self.store is None or not self.config.warc or self.config.writer != USUAL:
            return saved
        from sharc_crawler.live.relying import relied_on  # only where there is something to go on with

        with busy("comparing the state with the WARC files", self.config.progress):
            found = await relied_on(saved, folder, iso(self.clock.now()))
        if found is not saved:
            from sharc_crawler.certificate.writing import withdraw  # hardly ever

            for row in found.captures.values():
                withdraw(folder, row.spec.site)
            self.store.replace(found)
        return found

    def bounded(self, spec: CaptureSpec) -> CaptureSpec:
        """The order with this crawl's budget, which a crawl that goes on may have changed."""
        return replace(spec, **self.config.bounds)  # type: ignore[arg-type]

    def _go_on_in_time(self, saved: Batch) -> None:
        """What comes after a visit bears a later time, even where the system clock was set back meanwhile."""
        ahead = self.clock.not_before(max((visit.outcome.ended for visit in saved.visits), default=0.0))
        if ahead:
            note = f"the system clock had been set back by {ahead:.0f} s or more when the capture went on: times go on"
            for number, row in saved.captures.items():
                saved.captures[number] = row._replace(notes=(*row.notes, f"{note} from the last visit"))

    @property
    def archives(self) -> bool:
        """What is exchanged is kept in WARC files."""
        return self.config.output is not None and self.config.warc

    def archive(self, site: str | None, exchange: Exchange, original: Original | None) -> Future[CaptureRef]:
        """Have an exchange of a site capture written (in one series for all of a project's spider)."""
        return self.archivist.keep(self.name if self.drop_in or site is None else site, exchange, original)

    async def _ready(self, sites: set[str]) -> None:
        """The archive can be written before anything is fetched; a torn record is cut off before anything is added."""
        if self.archives:
            with busy(
                "making WARC files whole that were being written when the crawl was cut off", self.config.progress
            ):
                for site in sorted(sites):
                    await self.archivist.open(site)

    def _terms(self) -> dict[str, Any]:
        """What the process that writes WARC files has to know."""
        config = self.config
        return {
            "folder": str(config.output),
            "run": self.run,
            "info": asdict(self._info()),
            "options": asdict(WarcOptions(config.warc_size, config.warc_level, config.dedup)),
            "history": config.history,
            "writer": config.writer,
        }

    def _info(self) -> CaptureInfo:
        config = self.config
        return CaptureInfo(
            software=f"sharc-crawler/{__version__} scrapy/{scrapy_version}",
            operator=config.operator or "not stated",
            robots="obey" if config.politeness.obey_robots else "left to the project",
            strategy=config.strategy,
            parameters={"delay": config.politeness.delay, "size": config.size},
            user_agent=config.user_agent,
            further=config.warcinfo,
        )

    def ended(self) -> None:
        """Everything is written, the report too: nothing is left to go on with but what is still queued."""
        if self.config.output:
            (self.config.output / RUNNING).unlink(missing_ok=True)

    def let_go(self) -> None:
        """Another process may take the state over."""
        if self.store:
            self.store.close()

    async def close(self) -> FrontierStore | None:
        """Everything is on disk after this; the store, where there is something to report on."""
        self.readers.close()
        await self.archivist.close()
        self.memory.close()
        store = None if self.superseded else self.store
        if store and self.history:
            remember(store, self.history)
        if self.history:
            self.history.close()
        if self.log and not self.superseded:
            self.log.finish()
        return store


_sessions: WeakKeyDictionary[Crawler, Session] = WeakKeyDictionary()


def session_of(crawler: Crawler) -> Session:
    """The session of a crawl, begun by whichever component comes first."""
    session = _sessions.get(crawler)
    if session is None:
        session = _sessions[crawler] = _begin(crawler)
    return session


def _begin(crawler: Crawler) -> Session:
    without_tracebacks()
    config, clock = Config.from_settings(crawler.settings), clock_of(crawler)
    _require_descriptors(crawler.settings.getint("CONCURRENT_REQUESTS"))
    name = crawler.spider.name if crawler.spider else "crawl"
    if crawler.spider is None:  # ``scrapy shell``: begun in one thread, asked in another, and nobody's capture
        config = replace(config, output=None, resume="")
    if config.output is not None:
        config = replace(config, output=named(config.output, attributes(crawler.spider), clock.now()))
        if config.warc and not is_asyncio_available():
            raise UsageError(
                f"SHARC_OUTPUT={str(config.output)!r}: WARC files are written by way of asyncio, which"
                f" TWISTED_REACTOR={crawler.settings['TWISTED_REACTOR']!r} has not; leave Scrapy's own reactor, or set"
                " SHARC_WARC=False"
            )
    drop_in = not hasattr(crawler.spider, "capture_specs")
    politeness = config.politeness
    if drop_in:  # the project's own middlewares and download slots see to robots and retries
        politeness = replace(politeness, obey_robots=False, attempts=1)
        if config.output is not None:
            check_output(config.output, None, resume=bool(config.resume))
        elif config.resume:
            raise UsageError("SHARC_RESUME=True needs a folder to go on in: set SHARC_OUTPUT=FOLDER")
    rebuilds = not drop_in and config.resume == "rebuild"
    if config.output and not (drop_in or rebuilds):
        check_state(config.output)
    store = _store(config, rebuilds)
    history = _history(config.history) if config.history else None
    parts = PARTS if drop_in else _parts(history, config)
    sites = Sites(politeness, parts, terms=getattr(crawler.spider, "terms", None))
    space = Space(config.output, config.min_free)
    if config.masks or config.detector != "content":
        _check_detector(config.detector, config.masks)
    memory = memory_of(crawler)
    memory.limit = config.max_memory or memory.limit
    if config.output is not None and config.warc:
        memory.lie_in(config.output)
    return Session(config, clock, store, history, sites, space, memory, drop_in, name, rebuilds)


def _control(folder: Path, sites: Sites) -> Control:
    from sharc_crawler.live.control import Control  # only where orders are taken

    return Control(folder, sites)


def _history(file: str) -> ObservationStore:
    from sharc_crawler.storage.observations import ObservationStore  # only where there is one

    return ObservationStore(file)


def _check_detector(detector: str, masks: str | None) -> None:
    """Whoever reads documents has one: what is wrong with it is said now."""
    from sharc_crawler.live.reading import detector_of  # only where there may be

    detector_of(detector, masks)


def _require_descriptors(at_once: int) -> None:
    """Before the first request: a crawl must not find out later that it cannot open a connection or a file."""
    raise_limit()
    if left() < (needed := at_once + RESERVE // 2):
        raise UsageError(
            f"ulimit -n: of {limit()} open files {max(left(), 0)} are left, and CONCURRENT_REQUESTS={at_once} needs"
            f" {needed}: raise the limit, as in `ulimit -n 1024`, or lower CONCURRENT_REQUESTS"
        )


def _parts(history: ObservationStore | None, config: Config) -> Parts:
    """What a capture goes by: the site's history where there is one."""
    delay = config.politeness.delay
    rates = partial(rates_of, names=config.rates, history=history, rules=config.sitemap_rules, delay=delay)
    if history is None:
        return Parts(rates=lambda spec: rates(spec.site))
    return Parts(
        rates=lambda spec: rates(spec.site),
        history=lambda spec: history.histories(spec.site),
        links=lambda spec: history.links(spec.site),
    )


def _store(config: Config, rebuilds: bool) -> FrontierStore | None:
    if config.output is None:
        return None
    make_folder(config.output)
    if rebuilds:
        set_state_aside(config.output)
    store = begin_state(config.output, config.store)
    (config.output / RUNNING).touch()
    return store
