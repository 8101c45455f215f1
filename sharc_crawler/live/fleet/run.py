"""| Runs a worker's process, from its settings to its end."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.crawler import CrawlerProcess

from sharc_crawler.errors import UsageError
from sharc_crawler.live.beginning import require_descriptors
from sharc_crawler.live.config import Config
from sharc_crawler.live.failures.exit_codes import EXIT_CODE, FAILED
from sharc_crawler.live.fleet.clerk import Clerk
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.keeping import Keeping, keeping, own_folder
from sharc_crawler.live.fleet.spider import FleetSpider
from sharc_crawler.live.fleet.worker import FleetWorker
from sharc_crawler.live.setup.operator import require_operator
from sharc_crawler.live.setup.places import make_folder, nearest_folder
from sharc_crawler.live.setup.survey import capture_settings
from sharc_crawler.live.writing.space import Space

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from sharc_crawler.fleet.ledger import FleetLedger
    from sharc_crawler.live.fleet.history import SharedHistory
    from sharc_crawler.model import Seconds

LOG = "sharc_crawler.live.fleet"
ANYWHERE = "https://www.example.org/"  #: stands for any site that a worker may be given
OUTPUT = "SHARC_OUTPUT", "SHARC_OBJECTS"  #: settings that ``--output`` determines
#: settings of workers, other than a crawl's
OURS = {
    "SCHEDULER": "sharc_crawler.live.fleet.spider.FleetScheduler",
    "EXTENSIONS": {
        "sharc_crawler.live.extension.CaptureExtension": None,
        "sharc_crawler.live.fleet.spider.FleetExtension": 500,
    },
    "SHARC_CONTROL": False,  # orders come through the ledger
    "SHARC_PROGRESS": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,  # one page is handled before the next is chosen
}


def run_worker(
    ledger: FleetLedger,
    name: str,
    output: str,
    chosen: Sequence[str] = (),
    *,
    room: int,
    term: Seconds,
    scratch: Path | None = None,
    until_done: bool = False,
    by_address: bool = False,
    shares_history: bool = False,
    takes_masks: bool = False,
) -> int:
    """Work until there is an order to end, or nothing is left; the exit code. Once per process.

    ``output``: a folder, or the URL of an object store; ``scratch``: where this worker's copies of that lie meanwhile;
    ``shares_history``: what captures of a site teach is kept in the ledger, for whoever captures it next;
    ``takes_masks``: masks that they learned hold for it, too, though nobody has looked at them.
    ``chosen``: settings, as ``NAME=value``. Raises :class:`~sharc_crawler.errors.UsageError` for one that cannot be
    used.
    """
    with keeping(output, scratch) as kept, ExitStack() as ends:
        settings = fleet_settings(chosen, kept, room)
        history = None
        if takes_masks and not shares_history:
            raise UsageError("--masks: what captures learn is kept with --history alone; give that, too")
        if shares_history:
            folder = ends.enter_context(own_folder("sharc-history-", scratch))
            history = _kept_history(settings, folder, takes_masks=takes_masks)
        require_operator(settings, [ANYWHERE], of="whatever public site the fleet is given")
        config = Config.from_settings(settings)
        require_descriptors(settings.getint("CONCURRENT_REQUESTS"))
        Space(nearest_folder(kept.folder), config.min_free).require()
        make_folder(kept.folder)
        process = CrawlerProcess(settings)
        _log(name)
        _warn_of_namesake(ledger, name, term)
        crawler = process.create_crawler(FleetSpider)
        clerk = Clerk(ledger, name, term)
        worker = FleetWorker(clerk, kept, room, until_done=until_done, by_address=by_address, history=history)
        process.crawl(crawler, worker, clerk)
        process.start()
    if process.bootstrap_failed:
        return FAILED
    return int(crawler.stats.get_value(EXIT_CODE, FAILED)) if crawler.stats else FAILED


def fleet_settings(chosen: Sequence[str], kept: Keeping, room: int) -> Settings:
    """The settings of a worker's crawl."""
    settings = capture_settings(chosen)
    for name in (text.partition("=")[0] for text in chosen):
        if name in OURS or name in OUTPUT:
            whose = "--output says it" if name in OUTPUT else "a fleet's workers have their own"
            raise UsageError(f"{name}={settings[name]!r}: {whose}; leave it out")
    for setting, value in OURS.items():
        settings.set(setting, value, "cmdline")
    for setting, value in zip(OUTPUT, (str(kept.folder), kept.objects), strict=True):
        settings.set(setting, value, "cmdline")
    if settings.getpriority("CONCURRENT_REQUESTS") == 0:  # the default is for one site
        settings.set("CONCURRENT_REQUESTS", max(16, min(room, 100)), "cmdline")
    return settings


def _kept_history(settings: Settings, folder: Path, *, takes_masks: bool) -> SharedHistory:
    """The worker's copy of the histories in the ledger."""
    from sharc_crawler.live.fleet.history import SharedHistory  # only if there is one

    for option, name in (("--history", "SHARC_HISTORY"), ("--masks", "SHARC_MASKS")):
        if (file := settings.get(name)) and (takes_masks or name == "SHARC_HISTORY"):
            raise UsageError(f"{name}={file!r}: with {option} it lies in the fleet's ledger; leave one of them out")
    history = SharedHistory(folder, takes_masks=takes_masks)
    settings.set("SHARC_HISTORY", str(history.file), "cmdline")
    return history


def _warn_of_namesake(ledger: FleetLedger, name: str, term: Seconds) -> None:
    """Warn of another worker with this name: status and metrics would mix them up."""
    for worker in ledger.status().workers:
        if worker.worker == name and worker.seen < term:
            why = f"a worker of this name was heard of {worker.seen:.0f} s ago: unless it has ended, give each a --name"
            log_event("name-taken", reason=f"{why} of its own")


def _log(name: str) -> None:
    """Log each event as a line on stderr."""
    out = logging.StreamHandler(sys.stderr)
    line = logging.Formatter(
        f"%(asctime)s.%(msecs)03dZ level=%(levelname)s worker={name} %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    line.converter = time.gmtime
    out.setFormatter(line)
    logger = logging.getLogger(LOG)
    logger.setLevel(logging.INFO)
    logger.addHandler(out)
    logger.propagate = False
