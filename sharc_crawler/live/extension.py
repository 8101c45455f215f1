"""From the first to the last moment of a crawl: the progress line, then everything on disk, the report, the summary."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from shlex import quote
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sharc_crawler.errors import SharcError, StoppedCaptureError, Superseded
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.leeway import Leeway
from sharc_crawler.live.monitoring.busy import StoppedError, busy, stoppable
from sharc_crawler.live.monitoring.progress import ProgressLine
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import Phase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.monitoring.busy import Share
    from sharc_crawler.live.session import Session

logger = logging.getLogger(__name__)

EXIT_CODE = "sharc/exit_code"  #: stat that the ``crawl`` command ends with
#: made between two searches for cycles of them. A page makes thousands and hardly a cycle: at Python's own 700,
#: searching takes a tenth of a crawl's processor time
OBJECTS = 5_000
STOPPED = {"shutdown": "by Ctrl-C or SIGTERM", "stopped by order": "by order (sharc control)"}  #: in words
NOT_KEPT = (
    "Nothing is archived: set SHARC_OUTPUT=FOLDER for WARC files and a report."
    " Set SHARC_WARC=False to crawl without archiving and to silence this warning"
)
COMPLETE, FAILED, NOTHING_CAPTURED, INTERRUPTED = 0, 1, 4, 5


class CaptureExtension:
    """Reports on a crawl, while it runs and when it ends."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stopping: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the crawl's beginning."""
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        return extension

    def opened(self) -> None:
        """Begin the progress line. What Scrapy says of certificates at each connection is a note of the report."""
        logging.getLogger("scrapy.core.downloader.tls").addFilter(_not_of_certificates)
        self._crawler.signals.connect(self.closed, signals.spider_closed)  # what could not begin has no end
        session = session_of(self._crawler)
        if not session.drop_in:
            gc.set_threshold(OBJECTS)
        if session.config.output is None and session.config.warc:
            logger.warning(NOT_KEPT)
        if session.drop_in:
            self._warn_of_clashes(session.config)
        out = sys.stderr if session.config.progress else None
        self._line = ProgressLine(session.sites, session.clock.now(), out)
        if session.gone_on:
            self._line.goes_on()
        self._leeway = None if session.drop_in else Leeway(self._crawler.engine)  # a project's own setting stays
        self._loop = create_looping_call(self._every_second)
        self._loop.start(1.0, now=False)
        if session.control:
            session.control.begin(session.clock.now())

    def _warn_of_clashes(self, config: Config) -> None:
        from sharc_crawler.live.project.clashes import begin  # only in a project with a spider of its own

        for line in begin(self._crawler, config):
            logger.warning(line)

    def _every_second(self) -> None:
        session, now = session_of(self._crawler), session_of(self._crawler).clock.now()
        self._line.show(now, session.pausing)
        for place in session.places.values():
            place.catch_up()
        if self._leeway:
            self._leeway.look((lease.fetch.decided for lease in session.leases.values()), now)
        if session.control and session.control.obey(now, self._line.text) and not self._stopping:
            self._stopping = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason="stopped by order"))

    async def closed(self, reason: str) -> None:
        """Everything is written before the crawl is called over, for a ``reason`` of Scrapy's."""
        if self._loop.running:
            self._loop.stop()
        self._line.clear()
        session = session_of(self._crawler)
        stats = self._crawler.stats
        if session.control and not session.superseded:
            session.control.end(session.clock.now(), reason)
        try:
            await session.close()
            stats.set_value(EXIT_CODE, FAILED)  # unless all of the following comes off
            if session.superseded:
                stats.set_value(EXIT_CODE, Superseded.exit_code)
                return
            refuted = False  # by the records
            if session.config.output and session.places:
                stopped = "" if reason == "finished" else STOPPED.get(reason, f"({reason})")
                with busy("writing report and certificate", session.config.progress) as share, stoppable():
                    refuted = self._report(session, session.config.output, stopped, share)
            session.deliver()
            session.ended()
            if not refuted:
                unshown = session.browsing.unshown if session.browsing else ()
                captures = [frontier.capture for frontier in session.sites]
                stats.set_value(EXIT_CODE, _exit_code(captures, session.lost, unshown))
        except StoppedError as error:
            logger.warning("No report is written: %s. All downloads are on disk; %s", error, _way_out(session))
            stats.set_value(EXIT_CODE, INTERRUPTED)
        except (OSError, SharcError) as error:
            room = "make room, then " if is_full(error) else ""
            logger.error("The end of the crawl cannot be written: %s; %s%s", error, room, _way_out(session))
            stats.set_value(EXIT_CODE, INTERRUPTED)
        finally:
            session.let_go()

    def _report(self, session: Session, output: Path, stopped: str, share: Share) -> bool:
        from sharc_crawler.live.ending import leave  # report and certificate: nothing a crawl begins with

        left = leave(session.left(), output, stopped, session.config, share, session.lost)
        out = sys.stderr if session.drop_in else sys.stdout  # a project's commands print pages and items
        if out:  # it may have been closed
            out.write(left.summary)
            out.flush()
        for verdict in filter(None, left.verdicts):  # those that were judged at the end, too
            self._crawler.stats.set_value(f"sharc/page/{verdict}", left.verdicts[verdict])
        for error in left.unwritten[1:]:
            logger.error("The end of a site's capture cannot be written: %s", error)
        if left.unwritten:
            raise left.unwritten[0]
        return left.refuted


def _way_out(session: Session) -> str:
    """How the end is written after all: a project's command without SHARC_RESUME would begin another capture."""
    ways = ["the same command goes on"] if session.config.resume or not session.drop_in else []
    if session.config.output:
        ways.append(f"`sharc report {quote(str(session.config.output))}` writes the report")
    return ", or ".join(ways)


def _not_of_certificates(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Remote certificate is not valid")


def _exit_code(captures: Sequence[SiteCapture], lost: Mapping[str, Exception], unshown: Sequence[str]) -> int:
    """Documented in docs/capturing.md: an archive's scripts look at nothing else."""
    stopped = any(capture.strategy is not None and capture.strategy.stopped for capture in captures)
    if stopped or any(isinstance(error, StoppedCaptureError | Superseded) for error in lost.values()):
        return FAILED
    if lost or any(capture.phase is not Phase.DONE for capture in captures):
        return INTERRUPTED
    counts = [capture.counts for capture in captures]
    brought = all(one.captured for one in counts if one.pages)  # a form's answers are no pages
    return COMPLETE if brought and not unshown else NOTHING_CAPTURED
