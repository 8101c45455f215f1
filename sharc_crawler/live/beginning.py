"""| Begins the session of a crawl, from its settings, its arguments and what is on disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.utils.asyncio import is_asyncio_available

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.archive.open_files import RESERVE, left, limit, raise_limit
from sharc_crawler.errors import DataError, Superseded, UsageError
from sharc_crawler.frontier.hosts import Pace
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.config import Config
from sharc_crawler.live.failures.exit_codes import without_tracebacks
from sharc_crawler.live.former.history import parts_of
from sharc_crawler.live.reading.memory import memory_of
from sharc_crawler.live.session import Session
from sharc_crawler.live.writing.space import Space
from sharc_crawler.options.reading import tell_unread

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.frontier.opening import Parts
    from sharc_crawler.live.former.validators import FormerCaptures
    from sharc_crawler.live.setup.arguments import Arguments
    from sharc_crawler.login import Login
    from sharc_crawler.model import Instant
    from sharc_crawler.state.spec import CaptureSpec

logger = logging.getLogger(__name__)

sessions: WeakKeyDictionary[Crawler, Session] = WeakKeyDictionary()  #: the sessions that were begun


def session_of(crawler: Crawler) -> Session:
    """The session of a crawl, begun by the first component that asks."""
    session = sessions.get(crawler)
    if session is None:
        try:
            session = sessions[crawler] = _begin(crawler)
        except (UsageError, DataError, Superseded) as error:
            if _captures(crawler):
                raise
            from sharc_crawler.live.failures.fatal_errors import in_settings

            raise in_settings(error) from error
    return session


def _captures(crawler: Crawler) -> bool:
    """Is the spider one of ours? Otherwise it is a project's own, under our frontier."""
    return hasattr(crawler.spider, "capture_specs")


def _begin(crawler: Crawler) -> Session:
    without_tracebacks()
    clock, drop_in = clock_of(crawler), not _captures(crawler)
    config = _config(crawler, clock.now(), drop_in=drop_in)
    name = crawler.spider.name if crawler.spider else "crawl"
    rebuilds = not drop_in and config.resume == "rebuild"
    history = None
    if config.history:
        from sharc_crawler.storage.observations import ObservationStore  # only if there is one

        history = ObservationStore(config.history)
    former = None if drop_in else _former(crawler.spider, config)
    parts = parts_of(history, config)
    sites = _sites(crawler, config, former.known_to(parts) if former else parts, drop_in=drop_in)
    space = Space(config.output, config.min_free)
    _check_detector(config.detector, config.masks)
    memory = memory_of(crawler)
    memory.limit = config.max_memory or memory.limit
    specs = [] if drop_in else crawler.spider.capture_specs(config)  # type: ignore[union-attr]
    at_once = crawler.settings.getint("CONCURRENT_REQUESTS")
    session = Session(config, clock, history, sites, space, memory, drop_in, name, specs, at_once, former, rebuilds)
    if config.output is not None and config.warc:
        memory.lie_in(config.output)  # this process holds it by now
    arguments = getattr(crawler.spider, "arguments", None)
    session.login = _login(arguments, specs)
    if arguments and not drop_in and arguments.options.browser != "never":
        from sharc_crawler.live.browser.browser_options import opened  # only if browsers show pages

        session.browsing = opened(session, arguments.options)
    return session


def _config(crawler: Crawler, now: Instant, *, drop_in: bool) -> Config:
    """The checked settings, with the output folder resolved."""
    config = Config.from_settings(crawler.settings)
    require_descriptors(crawler.settings.getint("CONCURRENT_REQUESTS"))
    tell_unread(crawler.settings)
    if crawler.spider is None:  # ``scrapy shell`` uses several threads and captures nothing
        logger.info("A shell archives nothing, even with SHARC_OUTPUT")
        return replace(config, output=None, resume="", warc=False)
    if config.output is None:
        return config
    goes_on = drop_in and bool(config.resume)
    config = replace(config, output=_named(crawler, config.output, now, goes_on=goes_on))
    if config.warc and not is_asyncio_available():
        raise UsageError(
            f"SHARC_OUTPUT={str(config.output)!r}: WARC files are written by way of asyncio, which"
            f" TWISTED_REACTOR={crawler.settings['TWISTED_REACTOR']!r} has not; leave Scrapy's own reactor, or set"
            " SHARC_WARC=False"
        )
    return config


def _sites(crawler: Crawler, config: Config, parts: Parts, *, drop_in: bool) -> Sites:
    politeness = config.politeness
    if drop_in:
        from sharc_crawler.live.project.beginning import PARTS, politeness_of  # only in a project

        politeness, parts = politeness_of(config, crawler.spider, crawler.settings), replace(PARTS, rates=parts.rates)
    machine = str if drop_in else machine_of  # in a project each download slot has its own pace
    pace = getattr(crawler.spider, "new_pace", lambda _: Pace())  # a fleet's workers share the paces of machines
    return Sites(politeness, parts, terms=getattr(crawler.spider, "terms", None), machine=machine, pace=pace)


def _named(crawler: Crawler, output: Path, now: Instant, *, goes_on: bool) -> Path:
    """The output folder, with its pattern filled in."""
    if "%(" not in str(output):
        return output
    from sharc_crawler.live.setup.folder_names import attributes, check_pattern, named  # only for patterns

    check_pattern(str(output), goes_on=goes_on)
    return named(output, attributes(crawler.spider), now)


def _login(arguments: Arguments | None, specs: Sequence[CaptureSpec]) -> Login | None:
    login = arguments.login if arguments else None
    for line in login.warnings(specs) if login else ():
        logger.warning(line)
    return login


def _former(spider: Any, config: Config) -> FormerCaptures | None:
    options = spider.arguments.options if hasattr(spider, "arguments") else None
    if options is None or options.collection is None:
        return None
    if options.browser != "never" or spider.arguments.login:  # browsers and sessions need whole answers
        return None
    from sharc_crawler.live.former.validators import former_captures  # only in a collection

    return former_captures(options.collection, config)


def _check_detector(detector: str, masks: str | None) -> None:
    """Load the detector and masks now, so that errors in them are reported at the start."""
    if masks or detector != "content":
        from sharc_crawler.live.reading.document import detector_of  # only if there may be one

        detector_of(detector, masks)


def require_descriptors(at_once: int) -> None:
    """Check, before the first request, that enough files and connections can be opened."""
    if 0 <= (most := getrlimit(RLIMIT_FSIZE)[0]) < 10**9:  # WARC files are that large
        logger.warning("ulimit -f: no file can exceed %d bytes. If its state has to, the crawl stops", most)
    raise_limit()
    if left() < (needed := at_once + RESERVE // 2):
        raise UsageError(
            f"ulimit -n: of {limit()} open files {max(left(), 0)} are left, and CONCURRENT_REQUESTS={at_once} needs"
            f" {needed}: raise the limit, as in `ulimit -n 1024`, or lower CONCURRENT_REQUESTS"
        )
