"""The Scrapy scheduler that decides just in time: a page is chosen when its host may be asked, not before.

A visit ends when the engine is done with its request (transfer, callback, pipelines) and its exchange is on disk. Then
the frontier is told, with outcome and links at once, and then the next page of that host is decided.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self, cast

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from sharc_crawler.errors import SharcError, SiteError, StoppedCaptureError, Superseded
from sharc_crawler.instants import second
from sharc_crawler.live import private
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.clock import Alarm
from sharc_crawler.live.failures.exit_codes import ends_the_crawl
from sharc_crawler.live.reading.intake import Intake
from sharc_crawler.live.requests import META_KEY, Lease, Sent, request_for, usual_headers
from sharc_crawler.live.writing.archivist import conclude
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import Done, Fetch, Kind, Outcome, Result, Wait

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from sharc_crawler.live.reading.portions import Portions
    from sharc_crawler.live.session import Session

logger = logging.getLogger(__name__)

MOMENT = 0.01  #: seconds that an ended visit waits at most, to be written together with others


class SharcScheduler(BaseScheduler):
    """``SCHEDULER = "sharc_crawler.live.scheduler.SharcScheduler"``: the frontier decides what is fetched next."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._released: dict[int, Request] = {}  #: by lease, requests that the engine has in hand
        self._at_once = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._gave_up = False
        self._finishes = True  #: ended visits are still recorded when the crawl ends
        self._until = 0.0  #: until when ended visits wait for others; 0: none waits
        self._pause = ""  #: the note on the present pause for want of room
        self._portions: Portions | None = None  #: made for the first sitemap with entries

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one; a project's own spider has another kind."""
        if cls is SharcScheduler and not hasattr(crawler.spider, "capture_specs"):
            from sharc_crawler.live.project.scheduler import DropInScheduler  # only in a project

            return cast("Self", DropInScheduler(crawler))
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin the crawl: a capture spider names its captures, another spider's requests make them."""
        self._spider = spider
        engine = self._crawler.engine
        self._session: Session = session_of(self._crawler)
        self._alarm, self._moment = Alarm(private.wake_up(engine)), Alarm(private.wake_up(engine))
        self._session.archivist.written = self._session.readers.read_on = private.wake_up(engine)
        self._session.readers.start()
        settings = self._crawler.settings
        self._usual = usual_headers(settings, self._session.config.codings), settings.getfloat("DOWNLOAD_TIMEOUT")
        if self._session.browsing is not None:
            self._session.browsing.wake = private.wake_up(engine)
        places = self._session.places
        self._intake = Intake(self._session.sites, lambda site: places[site].folder, self._session.former)
        return deferred_from_coro(self._begin())

    async def _begin(self) -> None:
        private.spare_callbacks(self._crawler.engine.scraper)
        try:
            await self._session.begin()
        except SharcError:
            from sharc_crawler.live.failures.fatal_errors import unbegun  # rarely needed

            unbegun()
            raise

    def close(self, reason: str) -> Deferred[None] | None:
        """End the crawl, finished or stopped."""
        self._alarm.cancel()
        self._moment.cancel()
        if self._portions is not None:
            self._portions.rest()
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:  # noqa: ARG002 - of a project's spider
        if self._finishes:
            await self._finish_all()

    async def _finish_all(self) -> None:
        """Record the last visits. The reactor keeps running, so a second Ctrl-C need not wait for the disk."""
        self._at_once = 0  # ended visits do not wait for pages shown by a browser
        await self._session.archivist.finish()
        await self._session.readers.finish()
        self._note_pause()
        self._note_writer_failures()
        while self._finish_what_can_be():
            pass

    def _finish_what_can_be(self) -> bool:
        """Record ended visits; ``True``: there is more (a long sitemap, or a site's state could not be written)."""
        try:
            self._finish_ended()
            if self._portions:
                self._portions.take()
        except SiteError as error:
            text = "The last visits of %s could not be written: %s. The same command repeats them."
            logger.error(text, error.site, error)
            self._session.sites.pass_over(error.site)
            if isinstance(error.cause, Superseded):
                from sharc_crawler.live.failures.lost_sites import supersede  # rarely needed

                supersede(self._session, error.site, error.cause)
            return True
        return bool(self._portions)

    def has_pending_requests(self) -> bool:
        """Whether the crawl goes on, be it between visits and revisits or waiting for a host."""
        return not self._session.sites.done or bool(self._session.leases)

    def enqueue_request(self, request: Request) -> bool:
        """Refuse a request: only a project's spider asks for pages."""
        raise TypeError(f"{request} was scheduled by hand: a capture spider's pages come from its frontier")

    @ends_the_crawl
    def next_request(self) -> Request | None:
        """The request to send now; ``None``: the engine is woken when there may be one."""
        space = self._session.space
        while not self._gave_up:
            if wait := space.waits():
                self._alarm.set(wait)
                return None
            try:
                return self._next()
            except (SiteError, OSError) as error:
                if is_full(error.cause if isinstance(error, SiteError) else error):
                    space.refused(str(error))
                elif isinstance(error, SiteError):
                    self._end_site(error.site, error.cause)
                else:
                    self.give_up(f"The crawl stops: {error}. Run the same command again to resume it.")
        return None

    def _end_site(self, site: str, error: Exception) -> None:
        """End a site that cannot go on; other sites go on."""
        from sharc_crawler.live.failures.lost_sites import end  # rarely needed

        if why := end(self._crawler, self._session, site, error):
            self.give_up(why)
            self._finishes = isinstance(error, StoppedCaptureError)

    def give_up(self, why: str, *, exc_info: bool = False) -> None:
        """End the crawl as failed; what is on disk is whole. (For want of room it pauses instead.)"""
        if self._gave_up:
            return
        self._gave_up, self._finishes = True, False
        logger.error(why, exc_info=exc_info)
        from sharc_crawler.live.failures.fatal_errors import end_as_failed  # rarely needed

        self._closing = end_as_failed(self._crawler, why)

    def _next(self) -> Request | None:
        session = self._session
        self._note_writer_failures()
        self._finish_ended()
        if self._portions is not None:
            self._portions.take_in_turn()
        if lacking := session.space.lacking():
            from sharc_crawler.live.failures.disk_pauses import begun  # rarely needed

            session.space.pause(lacking)
            self._pause = self._pause or begun(session)
        if wait := session.space.waits():
            self._alarm.set(wait)
            return None
        if session.space.paused() is not None:
            self._note_pause()
            session.space.go_on()
        if session.control and session.control.paused:
            self._alarm.set(1.0)
            return None
        writes, reads = session.archivist, session.readers
        if session.memory.is_used_up(writes.held + reads.held) or max(writes.pending, reads.pending) >= self._at_once:
            writes.awaited = reads.awaited = True
            return None
        if (first := self._before_visits()) is not None:
            return first
        decision = self._decision()
        if isinstance(decision, Fetch):
            return self._release(self._leased(decision))
        if isinstance(decision, Wait):
            self._alarm.set(session.clock.until(decision.until))
        return None

    def _before_visits(self) -> Request | None:
        """A request that a project's spider sends before any visit."""
        return None

    def _decision(self) -> Fetch | Wait | Done:
        return self._session.sites.next(self._session.clock.now())

    def _note_pause(self) -> None:
        if seconds := self._session.space.paused():
            from sharc_crawler.live.failures.disk_pauses import over

            over(self._session, seconds, self._pause)
            self._pause = ""

    def _note_writer_failures(self) -> None:
        """Note what happened to the writing process."""
        session = self._session
        while session.archivist.notes:
            session.sites.note(f"{second(session.clock.now())}: {session.archivist.notes.pop(0)}")

    def _leased(self, fetch: Fetch) -> Request:
        """The request of a new lease. Decisions made while its host had another under way are counted."""
        leases = self._session.leases.values()  # one that is being shown has its answer already
        if any(lease.fetch.host == fetch.host and lease.rendering is None for lease in leases):
            self._crawler.stats.inc_value("sharc/decided_while_others_were_under_way")
        self._session.leases[fetch.lease] = Lease(fetch)
        return self._request(fetch)

    def _request(self, fetch: Fetch) -> Request:
        session = self._session
        sent = session.browsing.sent(fetch) if session.browsing is not None else Sent()
        if session.login is not None:
            sent = sent._replace(headers={**sent.headers, **session.login.headers(fetch.url, session.login.since)})
        return request_for(fetch, self._spider, sent, *self._usual)

    def _release(self, request: Request) -> Request:
        self._released[request.meta[META_KEY].lease] = request
        return request

    def _finish_ended(self) -> None:
        """Record every visit that the engine is done with and that is read and on disk, in one step per site."""
        self._session.sites.commit()  # steps that found no room before, and those of ended visits
        busy = private.in_progress(self._crawler.engine)
        leases = self._session.leases
        through = [number for number, request in self._released.items() if request not in busy]
        for number in set(through) - leases.keys():  # its site was taken over
            del self._released[number]
        through = [number for number in through if number in leases]
        ended = [number for number in through if leases[number].done]
        self._session.archivist.awaited = self._session.readers.awaited = len(ended) < len(through)
        if self._waits_for_more(len(ended), len(through)):
            ended = []
        by_site: dict[str, list[int]] = {}
        for number in ended:
            by_site.setdefault(leases[number].fetch.site, []).append(number)
        for site, numbers in by_site.items():
            with self._session.sites.one_step(site):
                for number in numbers:
                    del self._released[number]
                    self._finish(leases.pop(number))
        if self._session.browsing is not None:
            self._session.browsing.look()

    def _waits_for_more(self, ended: int, through: int) -> bool:
        """Do ended visits wait for others? A step costs one sync, however many visits it has."""
        now = self._session.clock.now()
        if not ended or ended == through or 2 * ended >= self._at_once or (self._until and now >= self._until):
            self._until = 0.0
            return False
        if not self._until:
            self._until = now + MOMENT
            self._moment.set(1.1 * MOMENT)
        return True

    def _finish(self, lease: Lease) -> None:
        if lease.withheld:
            self._session.sites.give_back(lease.fetch, self._session.clock.now())
            return
        self._intake.take_in(lease)
        conclude(lease)
        session = self._session
        if lease.unwritten:
            seen = lease.outcome or self._nothing_seen()
            session.sites.give_back(lease.fetch, session.clock.now(), seen.sent)
            session.space.refused(lease.unwritten, seen.length, lease.fault)
            return
        if lease.written is not None:
            session.space.wrote()
        lease.outcome = lease.outcome or self._nothing_seen()
        self._ending(lease, lease.outcome)
        if not (lease.fetch.kind is Kind.SITEMAP and lease.links and self._is_long(lease)):
            self._over(lease)

    def _is_long(self, lease: Lease) -> bool:
        """Is the sitemap taken in by portions?"""
        if self._portions is None:
            from sharc_crawler.live.reading.portions import Portions  # rarely needed

            self._portions = Portions(self._session.sites, self._over, private.wake_up(self._crawler.engine))
        return self._portions.add(lease)

    def _ending(self, lease: Lease, outcome: Outcome) -> None:
        """Hook: adds what a project's middlewares did, before the visit is recorded."""

    def _over(self, lease: Lease) -> None:
        """Record a visit that is complete."""
        outcome = lease.outcome
        assert outcome is not None, "there is one, or nothing was seen"
        judgement = self._session.sites.of(lease.fetch).finished(lease.fetch, outcome, lease.links)
        stats = self._crawler.stats
        stats.inc_value(f"sharc/{lease.fetch.kind}/{lease.fetch.slot}/{outcome.result}")
        if judgement:
            stats.inc_value(f"sharc/{lease.fetch.kind}/{judgement.verdict}")

    def _nothing_seen(self) -> Outcome:
        """The outcome of a request that a middleware dropped before any answer."""
        now = self._session.clock.now()
        return Outcome(Result.REFUSED, now, now, error="dropped before it was downloaded")
