"""| Ends a crawl: everything is written to disk, then report, certificate and summary. Loaded at the end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import SharcError, StoppedCaptureError, Superseded
from sharc_crawler.live.failures.exit_codes import COMPLETE, EXIT_CODE, FAILED, INTERRUPTED, NOTHING_CAPTURED
from sharc_crawler.live.monitoring.busy import Share, busy
from sharc_crawler.live.monitoring.stopping import StoppedError, stoppable
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import Phase

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.live.session import Session
    from sharc_crawler.live.setup.places import Place
    from sharc_crawler.state.store import FrontierStore

logger = logging.getLogger(__name__)

AT_ONCE = 4  #: sites whose ends are written at once; more are hardly faster, and as many stores can always be open
STOPPED = {"shutdown": "by Ctrl-C or SIGTERM", "stopped by order": "by order (sharc control)"}  # in words


async def close(crawler: Crawler, session: Session, reason: str) -> None:
    """Write everything for Scrapy's ``reason``, and set the exit code."""
    stats = crawler.stats
    if session.control and not session.superseded:
        session.control.end(session.clock.now(), reason)
    try:
        await session.close()
        stats.set_value(EXIT_CODE, FAILED)  # stays unless all of the following succeeds
        if session.superseded:
            stats.set_value(EXIT_CODE, Superseded.exit_code)
            return
        if not _written(crawler, session, reason):
            unshown = session.browsing.unshown if session.browsing else ()
            captures = [frontier.capture for frontier in session.sites]
            stats.set_value(EXIT_CODE, _exit_code(captures, session.lost, unshown))
    except StoppedError as error:
        logger.warning("No report is written: %s. All downloads are on disk; %s", error, _way_out(session))
        stats.set_value(EXIT_CODE, INTERRUPTED)
    except (OSError, SharcError) as error:
        from sharc_crawler.live.failures.fatal_errors import fails, tell  # rarely needed

        room = "make room, then " if is_full(error) else ""
        logger.error(why := f"The end of the crawl cannot be written: {error}; {room}{_way_out(session)}")
        tell(why)
        fails(crawler)
        stats.set_value(EXIT_CODE, INTERRUPTED)
    except Exception as error:
        from sharc_crawler.live.failures.fatal_errors import unended  # only then, too

        unended(crawler, error, _way_out(session))
        raise
    finally:
        session.let_go()


def _written(crawler: Crawler, session: Session, reason: str) -> bool:
    """Write reports, deliver them, and return whether the records refute a capture."""
    refuted = False
    if session.config.output and session.places:
        stopped = "" if reason == "finished" else STOPPED.get(reason, f"({reason})")
        with busy("writing report and certificate", session.config.progress) as share, stoppable():
            refuted = _report(crawler, session, session.config.output, stopped, share)
    _deliver(session)
    for place in session.places.values():
        place.ended()
    return refuted


def _report(crawler: Crawler, session: Session, output: Path, stopped: str, share: Share) -> bool:
    from sharc_crawler.live.ending import leave  # loads report and certificate: only if there is something to report

    left = leave(_left(session), output, stopped, session.config, share, session.lost)
    out: Any = sys.stderr if session.drop_in else sys.stdout  # commands of a project may print items on stdout
    if out:  # stdout may be closed
        with suppress(AttributeError):  # a replaced stream lacks it
            out.reconfigure(errors="replace")  # its encoding may lack characters
        with suppress(OSError):  # stdout of a project may fail
            print(left.summary, end="", file=out, flush=True)
    for verdict in filter(None, left.verdicts):  # including those judged at the end
        crawler.stats.set_value(f"sharc/page/{verdict}", left.verdicts[verdict])
    for error in left.unwritten[1:]:
        logger.error("The end of a site's capture cannot be written: %s", error)
    if left.unwritten:
        raise left.unwritten[0]
    return left.refuted


def _left(session: Session) -> Iterator[tuple[Path, Callable[[], FrontierStore]]]:
    """The folders to report on, each with a function that opens its store."""
    places = list(session.places.values())
    try:
        for number, place in enumerate(places):
            if number >= AT_ONCE:
                places[number - AT_ONCE].suspend()  # its report is written
            yield place.folder, partial(_ready, session, place)
    finally:
        if session.history:
            session.history.close()


def _ready(session: Session, place: Place) -> FrontierStore:
    """The store of a place, once history and logs are up to date with it."""
    if session.history:
        from sharc_crawler.live.former.remembering import remember  # only if there is one

        remember(place.store, session.history)
    if session.former:
        session.former.end(place.store)
    place.log.finish()
    return place.store


def _deliver(session: Session) -> None:
    """Copy the output to the object store, if there is one; raises :class:`OSError`."""
    if session.config.output and session.config.objects:
        from sharc_crawler.archive.delivery import deliver  # only if there is one
        from sharc_crawler.archive.objects import ObjectFolder

        session.let_go()  # so that the state is complete in its file
        with busy("putting the capture into the object store", session.config.progress):
            deliver(session.config.output, ObjectFolder(session.config.objects))


def _way_out(session: Session) -> str:
    """How to write the end after all. Without SHARC_RESUME a project's command would begin another capture."""
    ways = ["the same command resumes it"] if session.config.resume or not session.drop_in else []
    if session.config.output:
        ways.append(f"`sharc report {quote(str(session.config.output))}` writes the report")
    return ", or ".join(ways)


def _exit_code(captures: Sequence[SiteCapture], lost: Mapping[str, Exception], unshown: Sequence[str]) -> int:
    """The exit code, as documented in docs/capturing.md: scripts rely on it."""
    stopped = any(capture.strategy is not None and capture.strategy.stopped for capture in captures)
    if stopped or any(isinstance(error, StoppedCaptureError | Superseded) for error in lost.values()):
        return FAILED
    if lost or any(capture.phase is not Phase.DONE for capture in captures):
        return INTERRUPTED
    # Answers to forms are no pages. An instant crawl has no pages if nothing new was published, but hubs that answered.
    brought = all(one.counts.captured for one in captures if one.counts.pages or not one.mode.whole)
    return COMPLETE if brought and not unshown else NOTHING_CAPTURED
