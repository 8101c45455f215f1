"""The Scrapy scheduler that decides just in time: a page is chosen when its host may be asked, not before.

A visit has ended when the engine is through with its request (transfer, callback, pipelines) and what was exchanged is
on disk: only then is the frontier told, with the outcome and all links at once, and only then is the next page of that
host decided.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from sharc_crawler.errors import SiteError, StoppedCaptureError, Superseded
from sharc_crawler.instants import second
from sharc_crawler.live import private
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.failing import end_as_failed, ends_the_crawl, fails
from sharc_crawler.live.lease import Lease
from sharc_crawler.live.reading.intake import Intake
from sharc_crawler.live.reading.portions import Portions
from sharc_crawler.live.requests import META_KEY, Sent, request_for
from sharc_crawler.live.wake import Alarm
from sharc_crawler.live.writing.archivist import conclude
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import NO_VALIDATORS, Done, Fetch, Outcome, Result, Wait

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from sharc_crawler.live.project.dropin import DropIn
    from sharc_crawler.live.session import Session

logger = logging.getLogger(__name__)


class SharcScheduler(BaseScheduler):
    """``SCHEDULER = "sharc_crawler.live.scheduler.SharcScheduler"``: the frontier decides what is fetched next."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._released: dict[int, Request] = {}  #: by lease; what the engine has in hand
        self._at_once = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._gave_up = False
        self._finishes = True  #: visits that are over when the crawl ends are told
        self._pause = ""  #: for want of room: its note, as long as it lasts
        self._is_next_turn = False  #: a portion of a long sitemap may be taken in
        self._continued: deque[Request] = deque()  #: redirects and retries of a project's own middlewares

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Translate; nothing is decided here."""
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """The crawl begins: a capture spider names its captures, any other spider's requests make them."""
        self._spider = spider
        engine = self._crawler.engine
        self._session: Session = session_of(self._crawler)
        self._alarm = Alarm(private.wake_up(engine))
        self._session.archivist.written = self._session.readers.read_on = private.wake_up(engine)
        self._session.readers.start()
        if self._session.browsing is not None:
            self._session.browsing.wake = private.wake_up(engine)
        self._intake = Intake(self._session.sites, self._session.former)
        self._portions = Portions(self._session.sites, self._over)
        self._next_turn = Alarm(self._turn)
        self._drop_in = self._dropped_in() if self._session.drop_in else None
        if self._drop_in:
            return deferred_from_coro(self._drop_in.begin())
        private.spare_callbacks(engine.scraper)
        return deferred_from_coro(self._session.begin())

    def close(self, reason: str) -> Deferred[None] | None:
        """The crawl is over, or has been stopped."""
        self._alarm.cancel()
        self._next_turn.cancel()
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._finishes:
            await self._finish_all()
        if self._drop_in:
            await self._drop_in.close(reason)

    async def _finish_all(self) -> None:
        """The last visits; the reactor goes round meanwhile: a second Ctrl-C waits for no disk."""
        await self._session.archivist.finish()
        await self._session.readers.finish()
        self._note_pause()
        self._note_mishaps()
        while self._finish_what_can_be():
            pass

    def _finish_what_can_be(self) -> bool:
        """Is there more: of a long sitemap, or when one site's state could not be written?"""
        try:
            self._finish_ended()
            self._portions.take()
        except SiteError as error:
            text = "The last visits of %s could not be written: %s. The same command makes them again."
            logger.error(text, error.site, error)
            if isinstance(error.cause, Superseded):
                from sharc_crawler.live.losing import supersede  # hardly ever

                supersede(self._session, error.site, error.cause)
            return True
        return bool(self._portions)

    def has_pending_requests(self) -> bool:
        """Also between visits and revisits, and while a host must not be asked."""
        direct = self._drop_in is not None and bool(self._drop_in.direct)
        return direct or not self._session.sites.done or bool(self._session.leases)

    def enqueue_request(self, request: Request) -> bool:
        """A project's spider asks for a page (or its middlewares go on with one)."""
        lease = self._continuation(request)
        if lease is not None:
            if self._drop_in and not self._drop_in.goes_on(lease, request, self._released.get(lease.fetch.lease)):
                return False
            lease.hops += 1
            self._released.pop(lease.fetch.lease, None)
            self._continued.append(request)
            return True
        if self._drop_in is None:
            raise TypeError(f"{request} was scheduled by hand: a capture spider's pages come from its frontier")
        checked = self._drop_in.checked(request)
        return checked if isinstance(checked, bool) else bool(self._queued(self._drop_in, request, checked))

    def _dropped_in(self) -> DropIn:
        from sharc_crawler.live.project.dropin import DropIn  # only in other people's projects

        return DropIn(self._crawler, self._session)

    @ends_the_crawl
    def _queued(self, drop_in: DropIn, request: Request, text: str) -> bool:
        drop_in.queue(request, text)
        return True

    @ends_the_crawl
    def next_request(self) -> Request | None:
        """The best request to send now; else the engine is woken when there may be one."""
        space = self._session.space
        while not self._gave_up:
            if wait := space.waits():
                self._alarm.set(wait)
                return None
            try:
                return self._next()
            except SiteError as error:
                if is_full(error.cause):
                    space.refused(str(error))
                else:
                    self._end_site(error.site, error.cause)
            except OSError as error:
                if is_full(error):
                    space.refused(str(error))
                else:
                    self.give_up(f"The crawl stops: {error}. The same command goes on.")
        return None

    def _end_site(self, site: str, error: Exception) -> None:
        """It can go on no more; the others do, if there are any."""
        from sharc_crawler.live.losing import lose  # hardly ever

        then, stopped = lose(self._session, site, error), isinstance(error, StoppedCaptureError)
        if self._session.sites.done or (self._drop_in is not None and not stopped):
            self.give_up(f"The crawl stops{then}")
            self._finishes = stopped
            return
        logger.error("The capture of %s stops%s The other sites go on.", site, f"{then.removesuffix('.')}.")
        fails(self._crawler)

    def give_up(self, why: str, *, exc_info: bool = False) -> None:
        """The crawl ends, as failed; what is on disk is whole. (Without room it pauses instead.)"""
        if self._gave_up:
            return
        self._gave_up, self._finishes = True, False
        logger.error(why, exc_info=exc_info)
        self._closing = end_as_failed(self._crawler, "failed")

    def _next(self) -> Request | None:
        session = self._session
        session.sites.commit()  # what there was no room for before
        self._note_mishaps()
        self._finish_ended()
        self._take_portion()
        if lacking := session.space.lacking():
            session.space.pause(lacking)
            self._note_beginning()
        if wait := session.space.waits():
            self._alarm.set(wait)
            return None
        self._note_pause()
        session.space.go_on()
        if session.control and session.control.paused:
            self._alarm.set(1.0)
            return None
        if session.used_up or max(session.archivist.pending, session.readers.pending) >= self._at_once:
            session.archivist.awaited = session.readers.awaited = True
            return None
        if self._continued:
            return self._release(self._continued.popleft())
        if self._drop_in:
            if self._drop_in.direct:
                return self._drop_in.released(self._drop_in.direct.popleft())
            self._drop_in.follow_slots()
        decision = self._decision()
        if isinstance(decision, Fetch):
            return self._release(self._leased(decision))
        if isinstance(decision, Wait):
            self._alarm.set(session.clock.until(decision.until))
        return None

    def _decision(self) -> Fetch | Wait | Done:
        return (self._drop_in or self._session.sites).next(self._session.clock.now())

    def _note_beginning(self) -> None:
        """While there is room for it: a crawl that pauses may be killed."""
        if not self._pause:
            self._pause = f"the crawl paused at {second(self._session.clock.now())}: its disk had no room"
            self._session.sites.note(self._pause)
            self._session.sites.commit()

    def _note_pause(self) -> None:
        """A pause for want of room belongs in the reports."""
        session = self._session
        if seconds := session.space.paused():
            from sharc_crawler.report.words import span

            start = second(session.clock.now() - seconds)
            session.sites.note(f"the crawl paused at {start}, for {span(seconds)}: its disk had no room", self._pause)
            self._pause = ""

    def _note_mishaps(self) -> None:
        """What befell the process that writes belongs there, too."""
        session = self._session
        while session.archivist.mishaps:
            session.sites.note(f"{second(session.clock.now())}: {session.archivist.mishaps.pop(0)}")

    def _leased(self, fetch: Fetch) -> Request:
        """What was decided before its host's pages before it had been handled is counted: the promise is for one."""
        leases = self._session.leases.values()  # one that is being shown has had its answer
        if any(lease.fetch.host == fetch.host and lease.rendering is None for lease in leases):
            self._crawler.stats.inc_value("sharc/decided_while_others_were_under_way")
        self._session.leases[fetch.lease] = Lease(fetch)
        return self._request(fetch)

    def _request(self, fetch: Fetch) -> Request:
        if self._drop_in:
            return self._drop_in.request(fetch)
        session = self._session
        sent = session.browsing.sent(fetch) if session.browsing is not None else Sent()
        if session.login is not None and (cookie := session.login.header(fetch.url, session.clock.now())):
            sent = sent._replace(headers={**sent.headers, "Cookie": cookie})
        return request_for(fetch, self._spider, session.config.codings, sent)

    def _release(self, request: Request) -> Request:
        self._released[request.meta[META_KEY].lease] = request
        return self._drop_in.released(request) if self._drop_in else request

    def _continuation(self, request: Request) -> Lease | None:
        """The lease that a redirect or retry goes on with; a callback that copies ``meta`` continues nothing."""
        fetch = request.meta.get(META_KEY)
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is None:
            return None
        hops = int(request.meta.get("redirect_times", 0)) + int(request.meta.get("retry_times", 0))
        return lease if hops > lease.hops else None

    def _finish_ended(self) -> None:
        """Tell the frontiers of every visit that the engine is through with, read and on disk: one step a site."""
        busy = private.in_progress(self._crawler.engine)
        through = [number for number, request in self._released.items() if request not in busy]
        for number in [number for number in through if number not in self._session.leases]:  # its site is another's now
            through.remove(number)
            del self._released[number]
        ended = [number for number in through if self._session.leases[number].done]
        self._session.archivist.awaited = self._session.readers.awaited = len(ended) < len(through)
        by_site: dict[str, list[int]] = {}
        for number in ended:
            by_site.setdefault(self._session.leases[number].fetch.site, []).append(number)
        for site, numbers in by_site.items():
            with self._session.sites.one_step(site):
                for number in numbers:
                    del self._released[number]
                    self._finish(self._session.leases.pop(number))
        if self._session.browsing is not None:
            self._session.browsing.look()

    def _take_portion(self) -> None:
        """One in a turn of the reactor, however often the engine asks."""
        if self._portions and self._is_next_turn:
            self._is_next_turn = False
            self._portions.take()
        if self._portions:
            self._next_turn.set(0)

    def _turn(self) -> None:
        self._is_next_turn = True
        private.wake_up(self._crawler.engine)()

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
            session.space.refused(lease.unwritten, seen.length)
            return
        if lease.written is not None:
            session.space.wrote()
        lease.outcome = lease.outcome or self._nothing_seen()
        if lease.hops:  # the validators are the last hop's: a revisit begins at the first
            lease.outcome = lease.outcome._replace(validators=NO_VALIDATORS)
        if self._drop_in:
            self._drop_in.ending(lease, lease.outcome)
        if not self._portions.add(lease):
            self._over(lease)

    def _over(self, lease: Lease) -> None:
        """Nothing more is to be learned of it."""
        outcome = lease.outcome
        assert outcome is not None, "there is one, or nothing was seen"
        judgement = self._session.sites.finished(lease.fetch, outcome, lease.links)
        stats = self._crawler.stats
        stats.inc_value(f"sharc/{lease.fetch.kind}/{lease.fetch.slot}/{outcome.result}")
        if judgement:
            stats.inc_value(f"sharc/{lease.fetch.kind}/{judgement.verdict}")
        if self._drop_in:
            self._drop_in.ended(lease)

    def _nothing_seen(self) -> Outcome:
        """A middleware dropped the request before any answer."""
        now = self._session.clock.now()
        return Outcome(Result.REFUSED, now, now, error="dropped before it was downloaded")
