"""Browsers show pages; whatever a page requests becomes a resource of it, fetched by way of the frontier.

So robots.txt, delays, budgets, guards and the archive apply to each request of a page, and nothing is fetched twice. A
page's visit is over once it was shown: its links are those of the document as it is then. Meanwhile no other page of
its site is decided, as its links may matter.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.live.browser import sockets
from sharc_crawler.live.browser.answers import KeptAnswers
from sharc_crawler.live.browser.chromium import BrowserError, PageError, version
from sharc_crawler.live.browser.page_records import Asked, Rendering, as_sent, resources_of
from sharc_crawler.live.browser.rendering import Renderer
from sharc_crawler.live.browser.request_rules import is_data, passed_on, told_apart
from sharc_crawler.live.browser.url_classes import ShownClasses
from sharc_crawler.live.reading.readings import Payload, Reading
from sharc_crawler.live.requests import Lease, Sent
from sharc_crawler.live.writing.messages import NotArchivedError
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import (
    EMBEDDED,
    CaptureRef,
    Exchange,
    Fetch,
    HowMade,
    Kind,
    Outcome,
    PageId,
    Result,
    Sighting,
    Slot,
)
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT

if TYPE_CHECKING:
    from sharc_crawler.archive.options import Resource
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.browser.browser_options import BrowserOptions
    from sharc_crawler.live.browser.page_state import Load
    from sharc_crawler.live.reading.readers import Readers
    from sharc_crawler.live.reading.readings import Order, WhenRead

logger = logging.getLogger(__name__)

MARKUP = ("text/html", "application/xhtml+xml")
NOTE = "classes of URLs "
_UNSHOWN = "not shown by a browser"  #: begins notes on pages
_CHOSEN = (
    "scripts chose among answers of one address by headers of their own: a replay goes by addresses, and shows one"
)
ATTEMPTS = 3  #: to show a page
PAGES = 100  #: shown by one browser before it is replaced, which frees what it leaked
_WAITING = (State.QUEUED, State.LEASED)


class _ToShow(NamedTuple):
    """A page whose exchange is over."""

    fetch: Fetch
    exchange: Exchange
    outcome: Outcome
    order: Order  #: how to read its document
    reading: WhenRead  #: of the document as served


class Browsing:
    """The browsers of a crawl, one per processor. ``folder_of``: a site's folder; ``describe``: has records written."""

    def __init__(
        self,
        sites: Sites,
        readers: Readers,
        now: Callable[[], float],
        folder_of: Callable[[str], Path],
        describe: Callable[[str, Sequence[Resource]], asyncio.Future[CaptureRef] | None],
        options: BrowserOptions,
    ) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._sites, self._readers, self._now, self._folder_of = sites, readers, now, folder_of
        self._describe, self._options = describe, options
        self._places = asyncio.Semaphore(os.cpu_count() or 1)
        self._idle: list[Renderer] = []
        self._busy: set[Renderer] = set()
        self._answers: dict[str, KeptAnswers] = {}
        self._awaited: dict[tuple[str, PageId], list[asyncio.Future[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.unshown: list[str] = []  #: sites with ``browser=always`` of which no page could be shown
        self.software = f" chromium/{version()}"  #: added to the crawl's own name
        self._classes: dict[str, ShownClasses] = {}  # by site, unless all pages are shown

    # -- what the crawl tells ----------------------------------------------------------------------------------------

    def shows(self, fetch: Fetch, outcome: Outcome) -> bool:
        """Is this a page to show? At a revisit, only if it was shown at the visit."""
        whole = self._sites.of(fetch).capture.spec.mode == "capture" and fetch.kind is Kind.PAGE
        if not whole or outcome.result is not Result.OK or outcome.media_type not in MARKUP:
            return False
        return fetch.slot is not Slot.SECOND or self._of(fetch.site).shown(fetch.page) is not None

    def show(self, lease: Lease, exchange: Exchange, outcome: Outcome, order: Order) -> None:
        """Have a browser show the page; the lease is done after that."""
        future = lease.rendering = Future()
        future.set_running_or_notify_cancel()
        assert lease.reading is not None, "its document is being read"
        page = _ToShow(lease.fetch, exchange, outcome, order, lease.reading)
        task = asyncio.create_task(self._show(page, lease, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def keep(self, fetch: Fetch, exchange: Exchange) -> None:
        """Keep an answer that pages may want."""
        if fetch.kind in EMBEDDED and fetch.slot is not Slot.SECOND and exchange.truncated is None:
            self._of(fetch.site).keep(fetch.page, exchange.response)

    def sent(self, fetch: Fetch) -> Sent:
        """What a request for a page's resource carries, the same at both downloads."""
        return self._asked(fetch.site, fetch.page) if fetch.kind in EMBEDDED else Sent()

    def look(self) -> None:
        """Resume pages whose awaited answers have come, after visits have ended."""
        for (site, page), futures in list(self._awaited.items()):
            if site not in self._sites or self._sites[site].pages.states[page] not in _WAITING:
                del self._awaited[site, page]
                for future in futures:
                    if not future.done():
                        future.set_result(None)

    def close(self) -> None:
        """End all browsers, and remove what was kept for captures that are complete."""
        for task in self._tasks:
            task.cancel()
        for renderer in (*self._idle, *self._busy):
            renderer.close()
        for site, answers in self._answers.items():
            if site in self._sites and self._sites[site].done:
                if self._options.every and answers.none_shown and _failed(self._sites[site].capture.notes):
                    logger.error("No page of %s could be shown by a browser; they are archived as served", site)
                    self.unshown.append(site)
                answers.clear()

    # -- showing a page ------------------------------------------------------------------------------------------------

    async def _show(self, page: _ToShow, lease: Lease, future: Future[Reading]) -> None:
        ends = self._sites.of(page.fetch).capture.budget.ends
        left = None if ends == math.inf else ends - self._now()
        try:
            future.set_result(await asyncio.wait_for(self._shown(page), left))
        except TimeoutError:
            logger.warning("%s was not shown to its end: max_time has run out", page.fetch.url)
            future.set_result(Reading(problems=(f"{_UNSHOWN} (max_time has run out)",)))
        except NotArchivedError as error:
            if is_full(error):
                lease.unwritten = str(error)
            logger.error("%s was shown, but its records cannot be archived: %s", page.fetch.url, error)
            future.set_result(Reading(problems=(f"a record of what was seen ({error})",)))
        except BrowserError as error:
            logger.warning("%s was not shown by a browser: %s", page.fetch.url, error)
            links = [Sighting(url, Kind.PAGE, page.fetch.url) for url in error.seen.led_to] if error.seen else []
            future.set_result(Reading(links=links, problems=(f"{_UNSHOWN} ({error})",)))
        except Exception as error:
            logger.exception("%s was not shown by a browser", page.fetch.url)
            future.set_result(Reading(problems=(f"{_UNSHOWN} ({type(error).__name__})",)))
        self.wake()

    async def _shown(self, page: _ToShow) -> Reading:
        fetch = page.fetch
        served = await asyncio.shield(asyncio.wrap_future(page.reading))
        if fetch.slot is Slot.SECOND:
            return await self._shown_again(page, served)
        if not self._options.every and not self._class_wants(fetch, served):
            return Reading()
        self._sites.of(fetch).loads.answered(fetch, page.outcome)
        self.wake()
        try:
            async with self._places:
                seen = await self._rendered(fetch, page.exchange, partial(self._load, fetch))
        except BrowserError as error:
            seen = error.seen or Rendering()
            seen.cut.append(f"a browser: {error}")
            await self._tell(page, seen, text=False)
            raise
        await self._tell(page, seen, text=self._options.texts)
        reading = await self._read(fetch, seen, page.order)
        self._of(fetch.site).show(fetch.page, reading.payload.fingerprint or "")
        if not self._options.every:
            self._learn(fetch, differs=bool(seen.data or seen.led_to) or _differ(served, reading))
        return reading

    async def _tell(self, page: _ToShow, seen: Rendering, *, text: bool) -> None:
        """Have the records about a page written."""
        about = resources_of(page.fetch.url, page.exchange.started, seen, text=text)
        if (written := self._describe(page.fetch.site, about)) is not None:
            await asyncio.shield(written)

    async def _shown_again(self, page: _ToShow, served: Reading) -> Reading:
        """The content at a revisit: the visit's if the bytes are equal, else shown with what was loaded before."""
        fetch = page.fetch
        if served.payload.digest == page.order.known:
            return Reading(Payload(fingerprint=self._of(fetch.site).shown(fetch.page) or None))
        async with self._places:
            seen = await self._rendered(fetch, page.exchange, partial(self._stored_answer, fetch))
        return Reading((await self._read(fetch, seen, page.order)).payload)

    async def _stored_answer(self, fetch: Fetch, asked: Asked) -> Octets | None:
        """An answer that the capture has."""
        page = self._sites.of(fetch).loads.loaded(asked.url, _kind(asked), self._mark(fetch, asked))
        return None if page is None else self._of(fetch.site).of(page)

    def _class_wants(self, fetch: Fetch, served: Reading) -> bool:
        """Whether a page is to be shown: its class differs in a browser, or it shows nothing without scripts."""
        if fetch.site not in self._classes:
            self._classes[fetch.site] = ShownClasses(self._of(fetch.site).learned())
        classes = self._classes[fetch.site]
        return classes.wants(fetch.url) or (served.document is not None and served.document.by_script)

    def _learn(self, fetch: Fetch, *, differs: bool) -> None:
        classes = self._classes[fetch.site]
        known = classes.kept()
        classes.learned(fetch.url, differs=differs)
        if (kept := classes.kept()) != known:
            self._of(fetch.site).learn(kept)
        frontier, now = self._sites.of(fetch), f"{NOTE}{classes.note()}"
        before = next((note for note in frontier.capture.notes if note.startswith(NOTE)), "")
        if now not in (NOTE, before):
            frontier.note(HowMade(now), before)

    async def _rendered(self, fetch: Fetch, exchange: Exchange, load: Load) -> Rendering:
        for attempt in range(1, ATTEMPTS + 1):
            renderer = self._idle_browser() or Renderer(self._of(fetch.site).folder, self._options)
            self._busy.add(renderer)
            try:
                if not renderer.rendered:
                    await renderer.start()
                seen = await renderer.render(
                    fetch.url, exchange.response, exchange.started, load, partial(self._go_on, fetch)
                )
            except BaseException as error:
                renderer.close()
                own = isinstance(error, PageError) or not isinstance(error, BrowserError)
                if own or attempt == ATTEMPTS:
                    raise
                continue
            finally:
                self._busy.discard(renderer)
                self._sites.held_up = ""
            if renderer.rendered < PAGES:
                self._idle.append(renderer)
            else:
                renderer.close()
            return seen
        raise AssertionError("an attempt returns or raises")

    def _go_on(self, fetch: Fetch) -> None:
        """Let other pages of the site go on while this one takes long, and not for its host."""
        if fetch.site in self._sites:
            self._sites.of(fetch).loads.go_on(fetch)
            url = self._options.login.without(fetch.url) if self._options.login else fetch.url
            self._sites.held_up = f", {url} is shown"
            self.wake()

    def _idle_browser(self) -> Renderer | None:
        """An idle browser; one that died is dropped."""
        while self._idle:
            renderer = self._idle.pop()
            if renderer.lives:
                return renderer
            renderer.close()
        return None

    async def _load(self, fetch: Fetch, asked: Asked) -> Octets | None:
        """An answer that the capture has, or fetches now; ``None``: it cannot be had."""
        frontier = self._sites.of(fetch)
        if (login := self._options.login) and (note := login.note_of(asked.url)):
            frontier.note(note)  # its list also names what could not be fetched
        if (mark := self._mark(fetch, asked)).startswith("get-"):
            frontier.note(_CHOSEN)
        answers, pages = self._of(fetch.site), frontier.pages

        def keep(page: PageId) -> None:
            if pages.states[page] == State.QUEUED:
                headers = asked.headers if asked.kind == sockets.KIND else passed_on(asked.headers)
                answers.ask(page, pages.urls[page], Sent(headers, asked.method, asked.body))

        page = frontier.loads.load(fetch, asked.url, _kind(asked), self._now(), mark, keep)
        if page is None:
            return None
        if pages.states[page] in _WAITING:
            future = asyncio.get_running_loop().create_future()
            self._awaited.setdefault((fetch.site, page), []).append(future)
            self.wake()
            await future
        return answers.of(page)

    async def _read(self, fetch: Fetch, seen: Rendering, order: Order) -> Reading:
        """Read the shown documents: their links, and the content of the page's own."""
        readings = [
            await asyncio.shield(asyncio.wrap_future(self._readers.read(as_sent(markup, encoding), asked)))
            for base, markup, encoding in seen.documents
            for asked in [order._replace(url=base, known=None)]
        ]
        links = [link._replace(via=fetch.url) for reading in readings for link in reading.links]
        links += [Sighting(url, Kind.PAGE, fetch.url) for url in seen.led_to]
        own = readings[0]
        about = own.document and own.document._replace(words=own.document.words or own.payload.fingerprint)
        unread = [f"not read, or not whole, as a browser shows it ({problem})" for problem in own.problems]
        cut = [f"shown without {what}" for what in seen.cut]
        return Reading(
            Payload(fingerprint=own.payload.fingerprint), links, (), about, None, None, own.text, (*unread, *cut)
        )

    def _asked(self, site: str, page: PageId) -> Sent:
        """What a page's request carried. Where data were redirected, the target is requested in the same way."""
        pages, answers = self._sites[site].pages, self._of(site)
        sent, parent = answers.asked(page, pages.urls[page]), pages.parents[page]
        if sent == Sent() and parent != NO_PARENT and pages.kinds[parent] is pages.kinds[page] is Kind.DATA:
            sent = Sent(answers.asked(parent, pages.urls[parent]).headers)
        return sent

    def _mark(self, fetch: Fetch, asked: Asked) -> str:
        """Distinguishes a request from others for the same URL; "" for the first, and for those alike."""
        if asked.kind == sockets.KIND:
            return sockets.MARK
        variant = told_apart(asked.kind, asked.headers)
        if asked.method == "GET":
            if _kind(asked) is not Kind.DATA:
                return ""  # no script chose its headers, so the request need not be read
            first = self._sites.of(fetch).loads.loaded(asked.url, _kind(asked))
            if first is None or told_apart(asked.kind, self._asked(fetch.site, first).headers) == variant:
                return ""
        sent = f"{variant}\n".encode(errors="replace") + asked.body
        return f"{asked.method.lower()}-{hashlib.sha1(sent, usedforsecurity=False).hexdigest()}"

    def _of(self, site: str) -> KeptAnswers:
        if site not in self._answers:
            self._answers[site] = KeptAnswers(self._folder_of(site), self._options.seal)
        return self._answers[site]


def _failed(notes: Iterable[str]) -> bool:
    """Whether a page could not be shown."""
    return any(f" {_UNSHOWN} (" in note for note in notes)


def _differ(served: Reading, shown: Reading) -> bool:
    """Whether a page says something else, or links to more, once its scripts have run."""
    before, after = ({link.url for link in state.links if link.kind is Kind.PAGE} for state in (served, shown))
    return served.text != shown.text or not after <= before


def _kind(asked: Asked) -> Kind:
    return Kind.DATA if is_data(asked.kind, asked.headers) else Kind.RESOURCE
