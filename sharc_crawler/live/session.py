"""| What the components of one crawl share: scheduler, middlewares, spider and extension use the same frontier."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy import __version__ as scrapy_version

from sharc_crawler import __version__
from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.options import Original, Resource, WarcOptions
from sharc_crawler.instants import iso
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.reading.readers import Readers
from sharc_crawler.live.setup.places import Place, check_state, make_folder, open_stores, site_paths
from sharc_crawler.live.writing.archivist import Archivist
from sharc_crawler.plugins import path_of
from sharc_crawler.storage.folders import hold
from sharc_crawler.storage.opening import set_state_aside
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.archive.open_files import OpenFiles
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.browser.browsing import Browsing
    from sharc_crawler.live.clock import Clock
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.former.validators import FormerCaptures
    from sharc_crawler.live.monitoring.control import Control
    from sharc_crawler.live.reading.memory import MemoryBudget
    from sharc_crawler.live.requests import Lease
    from sharc_crawler.live.writing.space import Space
    from sharc_crawler.login import Login
    from sharc_crawler.model import CaptureRef, Exchange, Sighting
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.storage.observations import ObservationStore
    from sharc_crawler.storage.sharing import SharedFile

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Session:
    """What the components of one crawl share."""

    config: Config
    clock: Clock
    history: ObservationStore | None
    sites: Sites
    space: Space
    memory: MemoryBudget
    drop_in: bool  #: the spider is a project's own, and decides what to fetch
    name: str  #: of the spider
    specs: Sequence[CaptureSpec]  #: the captures; a project's spider makes them as it goes
    at_once: int  #: requests at once
    former: FormerCaptures | None = None  #: former captures of the site in the same collection
    rebuilds: bool = False  #: lost state is made again
    run: str = field(default_factory=lambda: secrets.token_hex(8))
    leases: dict[int, Lease] = field(default_factory=dict)
    gone_on: bool = False  #: a former run began these captures
    superseded: bool = False  #: another process has taken the output over: nothing more may be written
    lost: dict[str, Exception] = field(default_factory=dict)  #: by site, the error that ended it while others went on
    archivist: Archivist = field(init=False)
    readers: Readers = field(init=False)
    control: Control | None = None
    places: dict[str, Place] = field(default_factory=dict)  #: by site, or by the name of a project's spider
    browsing: Browsing | None = None  #: set where browsers show pages
    login: Login | None = None  #: the session in whose name requests are made
    file: SharedFile | None = None  #: the state of a project's spider, shared by its frontiers
    stores: OpenFiles = field(init=False)
    masks: dict[str, str] = field(default_factory=dict)  #: by site, the file with its own masks
    _held: IO[bytes] | None = None  #: the lock on a folder of several sites
    _stateless: set[str] = field(default_factory=set)  #: sites whose lost state is to be made again
    leaving: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.config.output and self.config.control:
            from sharc_crawler.live.monitoring.control import Control  # only if orders are accepted

            self.control = Control(self.config.output, self.sites)
        self.archivist = Archivist(self._terms)
        detector = path_of("detector", self.config.detector)
        self.readers = Readers({"detector": detector, "masks": self.config.masks})
        self.stores = open_stores(self.at_once)
        if self.drop_in and self.config.output:
            from sharc_crawler.storage.sharing import SharedFile  # only for a project's own spider

            make_folder(self.config.output)
            self.file = SharedFile(self._place(self.name, self.config.output))
        elif self.config.output and self.specs:
            self._occupy(self.config.output, [spec.site for spec in self.specs])
        if self.config.output and self.config.objects:
            from sharc_crawler.live.setup.stored_captures import check_objects  # only if there is an object store

            check_objects(self.config.objects, self.config.output, [place.folder for place in self.places.values()])

    @property
    def pausing(self) -> str:
        """Why nothing is fetched now; "": the crawl goes on."""
        if self.space.paused() is not None:
            return self.space.fault or "its disk has no room"
        return "by order" if self.control and self.control.paused else ""

    async def begin(self) -> None:
        """Begin the site captures, or continue those whose folders hold unfinished state."""
        with uncollected():
            wanted = await self._continue_captures(self.specs) if self.config.output else self.specs
        await self.finish_former({frontier.capture.spec.site for frontier in self.sites})
        await self._ready([spec.site for spec in wanted])
        for spec in wanted:
            capture = self.open(replace(spec, settings={**spec.settings, "run": self.run}))
            capture.schedule(self.known_pages(spec.site), self.clock.now())

    def known_pages(self, site: str) -> list[Sighting]:
        """The pages of a site that are in its history."""
        if not self.history:
            return []
        from sharc_crawler.live.former.known import known_pages  # only if there is one

        return known_pages(site, self.history)

    async def _continue_captures(self, specs: Sequence[CaptureSpec]) -> list[CaptureSpec]:
        """Continue captures that were begun; returns the others. Those whose folder was moved away are neither."""
        left = []
        for spec in specs:
            place = self.places.get(spec.site)
            if place is None:
                logger.warning("%s is skipped: its folder in %s was moved elsewhere.", spec.site, self.config.output)
                continue
            lost = spec.site in self._stateless
            if not lost and not place.is_begun:
                left.append(spec)
                continue
            from sharc_crawler.live.former.continuing import Continuation  # only to continue a capture

            await Continuation(self).with_one(place, spec, lost=lost)
        return left

    def _occupy(self, output: Path, sites: Sequence[str]) -> None:
        """Open the state of each site for this process alone; set lost state aside if it is to be made again."""
        make_folder(output)
        paths = site_paths(output, sites)
        if output not in paths.values():
            self._held = hold(output)
        for site, folder in paths.items():
            if not self._is_lost(folder):
                check_state(folder)
            else:
                self._stateless.add(site)
                set_state_aside(folder)
            self._place(site, folder)

    def _is_lost(self, folder: Path) -> bool:
        """Whether a folder's state is to be made again."""
        if not self.rebuilds:
            return False
        from sharc_crawler.live.setup.stored_captures import is_whole  # rarely needed

        return not is_whole(folder)

    def _place(self, site: str, folder: Path) -> Place:
        place = self.places[site] = Place(folder, self.config, self.stores)
        return place

    def open(self, spec: CaptureSpec, *, seeded: bool = True) -> Frontier:
        """Begin a site's capture, within this crawl's budget."""
        store = self.file.part() if self.file else self.places.get(spec.site)
        return self.sites.open(self.bounded(spec), self.clock.now(), store, seeded=seeded)

    def bounded(self, spec: CaptureSpec) -> CaptureSpec:
        """The spec with this crawl's budget, which may differ from that of a former run."""
        return replace(spec, **self.config.bounds)  # type: ignore[arg-type]

    @property
    def archives(self) -> bool:
        """Whether exchanges are kept in WARC files."""
        return self.config.output is not None and self.config.warc

    def archive(self, site: str | None, exchange: Exchange, original: Original | None) -> asyncio.Future[CaptureRef]:
        """Have an exchange written (all of a project's spider into one series)."""
        if self.login is not None:
            exchange = self.login.guarded(exchange, self.sites[site].note if site and site in self.sites else None)
        return self.archivist.keep(self.name if self.drop_in or site is None else site, exchange, original)

    def describe(self, site: str, resources: Sequence[Resource]) -> asyncio.Future[CaptureRef] | None:
        """Have records written that came from no server; ``None``: nothing is archived."""
        return self.archivist.describe(site, resources) if self.archives else None

    async def finish_former(self, sites: set[str]) -> None:
        """Finish WARC files that were open when a crawl was cut off, before anything is added."""
        await self._open(sorted(sites), "finishing the WARC files of the run before")

    async def _ready(self, sites: Sequence[str]) -> None:
        """Check, before anything is fetched, that one writer works, or each site's with an object store."""
        left = [site for site in sites if site in self.places and any(self.places[site].folder.glob(f"*{OPEN}"))]
        wanted = sites if self.config.objects else dict.fromkeys([*sites[:1], *left])
        await self._open(list(wanted), "making the folders ready for WARC files")

    async def _open(self, sites: Sequence[str], what: str) -> None:
        if self.archives:
            with busy(what, self.config.progress) as share:
                for number, site in enumerate(sites):
                    share(number, len(sites))
                    await self.archivist.open(site)

    def _terms(self) -> dict[str, Any]:
        """The arguments of the process that writes WARC files."""
        config = self.config
        return {
            "folder": str(config.output),
            "run": self.run,
            "info": self._info(),
            "options": asdict(WarcOptions(_file_size(config), config.warc_level, config.dedup)),
            "objects": config.objects,
            "history": config.history,
            "writer": config.writer,
            "places": {site: (str(place.folder), self._run_of(site)) for site, place in self.places.items()},
        }

    def _run_of(self, site: str) -> str:
        """The run of a site, which differs if the site was captured elsewhere meanwhile."""
        return str(self.sites[site].capture.spec.settings["run"]) if site in self.sites else self.run

    def _info(self) -> dict[str, Any]:
        """Fields of :class:`~sharc_crawler.archive.warcinfo.CaptureInfo`, which only the writer loads."""
        config, browser = self.config, self.browsing.software if self.browsing else ""
        return {
            "software": f"sharc-crawler/{__version__} scrapy/{scrapy_version}{browser}",
            "operator": config.operator or "not stated",
            "robots": "obey" if config.politeness.obey_robots else "left to the project",
            "strategy": config.strategy,
            "parameters": {"delay": config.politeness.delay, "size": config.size},
            "user_agent": config.user_agent,
            "further": config.warcinfo,
            "session": self.login.described(self.specs) if self.login else "",
            "began": iso(self.clock.now()),
        }

    def let_go(self) -> None:
        """Close the state, so that another process may take it over."""
        for place in self.places.values():
            place.suspend()
        if self._held is not None:
            self._held.close()

    async def close(self) -> None:
        """Finish all files: after this everything exchanged is on disk."""
        await asyncio.gather(*self.leaving)
        if self.browsing is not None:
            self.browsing.close()
        self.readers.close()
        await self.archivist.close()
        self.memory.close()


def _file_size(config: Config) -> int:
    """The size of a WARC file. With an object store it is bounded, as a finished file is uploaded again as a whole."""
    if not config.objects:
        return config.warc_size
    from sharc_crawler.archive.mirror import LARGEST  # only if there is an object store

    return min(config.warc_size, LARGEST)
