"""Shows a page in a browser: loads it from what the crawl fetches, until network and document are quiet.

The page's clock is ours (DevTools' virtual time): it stops while an answer is awaited, and otherwise runs as fast as
the scripts do. So a host's delay breaks no script, and waiting is free.

Chromium draws a frame only when it is due by both clocks, so a page whose clock lags is not drawn. So the clock gets a
lead while the page is empty; a script then navigates it, which starts its own times.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.client import responses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.browser import long_polls, request_rules, sockets, workers
from sharc_crawler.live.browser.answers import MOST, for_browser
from sharc_crawler.live.browser.behaviors import Behavior, behaviors_of
from sharc_crawler.live.browser.chromium import BrowserError, Chromium, PageError
from sharc_crawler.live.browser.page_records import Asked, Loaded, Rendering, documents, texts, within
from sharc_crawler.live.browser.page_state import LONGEST, PageShown, watched
from sharc_crawler.live.browser.workers import as_set, stored

if TYPE_CHECKING:
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.live.browser.browser_options import BrowserOptions
    from sharc_crawler.live.browser.page_state import Load
    from sharc_crawler.model import Instant, Seconds

STEP = 500  #: milliseconds of the page's time between two looks at it
STILL = 2  #: steps without requests or changes, after which it is quiet
FRAME: Seconds = 0.02  #: real time in which a frame is drawn
MOMENT = 10  #: milliseconds of the page's time, meanwhile
FRAMES = 100  #: attempts to wait for frames
MOST_SEEN = 64 << 20  #: characters of markup, and of text: frames may share what Chromium holds once
PATIENCE = 20  #: steps, after which a restless page is taken as it is
SIZE: dict[str, Any] = {
    "width": 1280,
    "height": 1024,
}  #: of what is seen of a page, and of the screen that it is told of
_SCREEN = {"screenWidth": SIZE["width"], "screenHeight": SIZE["height"], "deviceScaleFactor": 1, "mobile": False}
#: reasons for a failed request, in the protocol and in browsers
_NET_ERRORS = {
    "AddressUnreachable": "ERR_ADDRESS_UNREACHABLE",
    "BlockedByClient": "ERR_BLOCKED_BY_CLIENT",
    "Failed": "ERR_FAILED",
}

#: counts changes of the document, in a world that the page's scripts do not see
_WATCH = (
    "globalThis.sharcChanges = 0;"
    "new MutationObserver(seen => { sharcChanges += seen.length })"
    ".observe(document, {subtree: true, childList: true, attributes: true, characterData: true})"
)
_DRAW = (
    "globalThis.sharcDrawn = false;requestAnimationFrame(() => requestAnimationFrame(() => { sharcDrawn = true })); 0"
)
#: false for a page whose scripts navigate at once: it has no body, and is not drawn
_SHOWS = "document.body !== null || document.documentElement?.localName !== 'html'"
_LEFT = "its scripts closed it, or left it for what has no address"
_NO_DOCUMENT = f"its document is larger than {MOST >> 20} MiB"
_PLACE = "location.href.split('#')[0]"  #: its address, without the fragment


class Renderer:
    """A browser that shows one page at a time, each in a context of its own, so nothing carries over."""

    def __init__(self, folder: Path, options: BrowserOptions) -> None:
        self.rendered = 0
        self._options = options
        self._behaviors = behaviors_of(options.behaviors)
        self._browser = Chromium(self._heard, folder)
        self._page: PageShown | None = None

    @property
    def pid(self) -> int:
        """The process id of its browser."""
        return self._browser.pid

    @property
    def lives(self) -> bool:
        """Whether its browser runs."""
        return self._browser.lives

    async def start(self) -> None:
        """Start it. Raises :class:`BrowserError`, and UsageError where there is no Chromium."""
        await self._browser.start()
        await self._browser.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])
        await self._browser.ask("Browser.setDownloadBehavior", behavior="deny")
        await self._browser.ask("Target.setAutoAttach", **workers.ATTACH, filter=workers.OF_NO_PAGE)

    def close(self) -> None:
        """End the browser."""
        self._browser.close()

    async def render(
        self, url: str, raw: Octets, at: Instant, load: Load, silent: Callable[[], None] = lambda: None
    ) -> Rendering:
        """Show what a server sent for ``url`` at an instant.

        ``load`` gives what the page requests, as it came over the wire; ``None``: it cannot be had. ``silent`` is
        called while nothing is heard of the page. Raises :class:`BrowserError`: then close the browser.
        """
        page = self._page = PageShown(url, raw, load)
        self.rendered += 1
        context = (await self._browser.ask("Target.createBrowserContext"))["browserContextId"]
        try:
            await watched(self._rendered(page, context, at), page, self._browser, self._options.time, silent)
        except BrowserError as error:
            error.seen = page.seen
            raise
        finally:
            self._page = None
            for task in page.tasks:
                task.cancel()
        with suppress(BrowserError):
            await self._browser.ask("Target.disposeBrowserContext", browserContextId=context)
        return page.seen

    async def _rendered(self, page: PageShown, context: str, at: Instant) -> None:
        await self._open(page, context, at)
        await self._until_quiet(page)
        await self._read(page)

    async def _open(self, page: PageShown, context: str, at: Instant) -> None:
        ask, login, agent = self._browser.ask, self._options.login, self._options.agent
        if login is not None and login.living:
            cookies = list(map(as_set, login.living))
            await ask("Storage.setCookies", cookies=cookies, browserContextId=context)
        target = await ask("Target.createTarget", url="about:blank", browserContextId=context, **SIZE)
        page.frame = target["targetId"]
        page.session = (await ask("Target.attachToTarget", targetId=page.frame, flatten=True))["sessionId"]
        wanted = [
            ("Page.enable", {}),
            ("DOM.enable", {}),
            ("Runtime.enable", {}),
            ("Network.enable", workers.NOTHING_KEPT),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH, "worldName": "sharc"}),
            ("Runtime.addBinding", {"name": sockets.BINDING}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": sockets.TELL}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": workers.WITHOUT_PAPER}),
            ("Target.setAutoAttach", workers.ATTACH),
            *((("Page.addScriptToEvaluateOnNewDocument", {"source": stored(login.storage)}),) if login else ()),
            ("Emulation.setVirtualTimePolicy", {"policy": "pause", "initialVirtualTime": at - LONGEST}),
            ("Emulation.setDeviceMetricsOverride", {**SIZE, **_SCREEN}),
            *((("Emulation.setUserAgentOverride", {"userAgent": agent}),) if agent else ()),
        ]
        await asyncio.gather(*(ask(method, page.session, **parameters) for method, parameters in wanted))
        await self._step(page, int(LONGEST * 1000))  # its clock's lead
        self._browser.tell("Runtime.evaluate", page.session, expression=f"location.replace({json.dumps(page.url)})")

    # -- until it is quiet -------------------------------------------------------------------------------------------

    async def _until_quiet(self, page: PageShown) -> None:
        """Let the page load until it is quiet, and again after each behavior."""
        await self._step(page)
        while not page.there:  # on a busy machine the empty document is quiet, too
            await self._hear(page)
        if not await self._rest(page, STILL, PATIENCE):
            page.cut(f"rest: it was not quiet after {PATIENCE * STEP / 1000:g} s of its own time")
        if not await self._value(page, _SHOWS):
            page.cut("a picture and behaviors: it has no body")
            return
        if self._options.pictures:
            page.seen.picture = await self._picture(page)
        here = await self._value(page, _PLACE)
        times = dict.fromkeys(self._behaviors, 0)
        while (behavior := await self._behaved(page, times)) is not None:
            if page.dear:
                page.cut(
                    f"what comes after {self._options.time / 2:g} s of processor time: it was not scrolled further"
                )
                return
            times[behavior] += 1
            await self._rest(page, 1, STILL)
            if behavior.after:
                await self._value(page, behavior.after)
            if (place := await self._value(page, _PLACE)) != here:
                page.lead_to(place)
                page.cut("what comes after a click that led elsewhere")
                return

    async def _behaved(self, page: PageShown, times: dict[Behavior, int]) -> Behavior | None:
        """The first behavior that had something to do, within its bound."""
        for behavior in list(times):
            within = times[behavior] < behavior.most
            if await self._value(page, f"({behavior.script})({'true' if within else 'false'})"):
                if within:
                    return behavior
                page.cut(behavior.beyond)
                del times[behavior]
        return None

    async def _rest(self, page: PageShown, still: int, patience: int) -> bool:
        """Let the page's clock run for ``still`` quiet steps, at most ``patience`` in all."""
        quiet = waited = 0
        while page.awaited or (quiet < still and waited < patience):
            await self._step(page)
            now = page.seen.requests, await self._changes(page)
            quiet, page.state, waited = quiet + 1 if now == page.state else 0, now, waited + 1
            if quiet == 1 < still and not await self._drawn(page):
                page.cut("what begins once it is drawn: its frames take too long")
        return quiet >= still

    async def _drawn(self, page: PageShown) -> bool:
        """Wait for two frames, which takes real time: then the page knows what is visible."""
        if not await self._value(page, _SHOWS):
            return True
        await self._value(page, _DRAW)
        for _ in range(FRAMES):
            if await self._value(page, "globalThis.sharcDrawn"):
                return True
            await asyncio.sleep(FRAME)
            await self._step(page, MOMENT)
        return False

    async def _step(self, page: PageShown, budget: int = STEP) -> None:
        """Let the page's clock run for a step."""
        page.step_over = False
        self._browser.tell(  # a script that never ends keeps it from answering
            "Emulation.setVirtualTimePolicy",
            page.session,
            policy="pauseIfNetworkFetchesPending",
            budget=budget,
            maxVirtualTimeTaskStarvationCount=100_000,
        )
        while not page.step_over:
            await self._hear(page)

    async def _hear(self, page: PageShown) -> None:
        """Wait until something happens with the page."""
        page.lively.clear()
        await page.lively.wait()
        if self._browser.ended:
            raise self._browser.why()
        if page.gone:
            raise PageError(page.gone)

    async def _value(self, page: PageShown, expression: str) -> Any:
        """The value of an expression, evaluated in a world that the page's scripts do not see."""
        world = await self._browser.ask("Page.createIsolatedWorld", page.session, frameId=page.frame, worldName="sharc")
        answer = await self._browser.ask(
            "Runtime.evaluate",
            page.session,
            expression=expression,
            contextId=world["executionContextId"],
            awaitPromise=True,
        )
        return answer["result"].get("value")

    async def _changes(self, page: PageShown) -> int:
        return int(await self._value(page, "globalThis.sharcChanges") or 0)

    async def _picture(self, page: PageShown) -> bytes:
        """A picture of its first screen."""
        taken = await self._browser.ask("Page.captureScreenshot", page.session, format="png")
        return b64decode(taken["data"])

    async def _read(self, page: PageShown) -> None:
        """Read its markup, with shadow roots and frames, and its text."""
        snapshot = await self._browser.ask("DOMSnapshot.captureSnapshot", page.session, computedStyles=[])
        said, room = list(within(texts(snapshot), MOST_SEEN)), MOST_SEEN
        page.seen.text = "\n".join(said)
        if len(page.seen.text) >= MOST_SEEN:
            page.cut(f"text after the first {MOST_SEEN >> 20} MiB")
        for base, encoding, node in documents(snapshot):
            if room <= 0:
                page.cut(f"frames after the first {MOST_SEEN >> 20} MiB of markup")
                break
            markup = await self._browser.ask(
                "DOM.getOuterHTML", page.session, backendNodeId=node, includeShadowDOM=True
            )
            page.seen.documents.append((base, markup["outerHTML"], encoding))
            room -= len(markup["outerHTML"])

    # -- what it asks for ----------------------------------------------------------------------------------------------

    def _heard(self, method: str, event: dict[str, Any], session: str) -> None:
        page = self._page
        if page is None:
            if method == "Fetch.requestPaused":
                self._refuse(event, "Aborted")
            return
        if method == "Fetch.requestPaused":
            self._asked(page, event)
        elif method == "Emulation.virtualTimeBudgetExpired" and session == page.session:
            page.step_over = True
        elif method == "Page.frameNavigated" and session == page.session and event["frame"]["id"] == page.frame:
            page.gone = _LEFT if page.there else page.gone
            page.there |= page.begun
        elif method == "Target.detachedFromTarget":
            page.gone = _LEFT if event["sessionId"] == page.session else page.gone
        elif method == "Inspector.targetCrashed" and session == page.session:
            self._browser.ended = True  # this also ends all requests to it
        else:
            self._heard_besides(page, method, event, session)
        page.heard += 1
        page.lively.set()

    def _heard_besides(self, page: PageShown, method: str, event: dict[str, Any], session: str) -> None:
        """Handle events of its scripts and workers."""
        if method == "Page.windowOpen":
            page.lead_to(event["url"])
            page.cut("pop-ups: where they would lead is a link")
        elif method == "Page.javascriptDialogOpening":
            self._browser.tell("Page.handleJavaScriptDialog", session, accept=event["type"] == "beforeunload")
        elif method == "Target.attachedToTarget":
            workers.listen(self._browser.tell, event["sessionId"], event["targetInfo"]["type"])
        elif method == "Runtime.bindingCalled" and event["name"] == sockets.BINDING:
            page.protocols[session] = event["payload"]
        elif method == "Network.webSocketCreated":
            self._opened(page, event["url"], page.protocols.pop(session, ""))
        elif method == "Runtime.exceptionThrown":
            page.seen.script_errors += 1

    def _asked(self, page: PageShown, event: dict[str, Any]) -> None:
        request, kind = event["request"], event["resourceType"]
        url, method, headers = request["url"], request["method"], request["headers"]
        document = kind == "Document" and event["frameId"] == page.frame
        if document and (page.begun or url != page.url):
            page.lead_to(url)
            self._refuse(event, "Aborted")
        elif document:
            page.begun = True
            page.do(self._begin(page, event))
        elif (allowed := request_rules.preflight(request, session=self._options.login is not None)) is not None:
            page.do(self._hand(event, 204, allowed))
        elif why := request_rules.why_not(event, page.seen.requests, posts=self._options.posts):
            page.cut(why)
            self._fail(page, event, "BlockedByClient")
        elif url.endswith("/favicon.ico") and kind == "Other":
            self._refuse(event, "Aborted")  # requested by the browser itself; an icon that a page names is a resource
        elif url == page.url and method == "GET" and not request_rules.told_apart(kind, headers):
            page.seen.requests += 1
            page.do(self._fulfil(page, event, page.raw))
        else:
            page.seen.requests += 1
            page.seen.data += request_rules.is_data(kind, headers)
            page.do(self._answer(page, event, Asked(url, headers, kind, method, request_rules.body_of(request) or b"")))

    def _opened(self, page: PageShown, url: str, names: str) -> None:
        """Handle a WebSocket; the browser's own connection fails."""
        page.cut(sockets.CUT)
        if page.seen.requests >= request_rules.MOST_REQUESTS:
            page.cut(request_rules.TOO_MANY)
        elif url not in page.seen.loaded:
            page.seen.requests += 1
            page.seen.loaded[url] = Loaded(0, None, sockets.KIND.lower(), f"net::{_NET_ERRORS['AddressUnreachable']}")
            page.do(self._open_socket(page, url, names))

    async def _open_socket(self, page: PageShown, url: str, names: str) -> None:
        raw = await page.answer(sockets.opening(url, page.url, names))
        if raw is not None and (answer := parse_response(raw)) is not None:
            page.seen.loaded[url] = Loaded(answer.status, None, sockets.KIND.lower())

    async def _answer(self, page: PageShown, event: dict[str, Any], asked: Asked) -> None:
        if page.polls.may_be(asked.url) and request_rules.is_data(asked.kind, asked.headers):
            changes = -1  # a script that waits for the answer blocks all other answers
            with suppress(TimeoutError):
                changes = await asyncio.wait_for(self._changes(page), long_polls.PATIENCE)
            if page.polls.is_one(asked.url, changes):
                page.cut(long_polls.CUT)
                self._fail(page, event, "BlockedByClient")
                return
        page.polls.asked(asked.url)
        raw = await page.answer(asked)
        page.polls.answered(asked.url, raw)
        if raw is None:
            self._fail(page, event, "AddressUnreachable")
        else:
            await self._fulfil(page, event, raw)

    async def _begin(self, page: PageShown, event: dict[str, Any]) -> None:
        """Hand over its document."""
        page.gone = "" if await self._fulfil(page, event, page.raw) else _NO_DOCUMENT
        page.lively.set()

    async def _fulfil(self, page: PageShown, event: dict[str, Any], raw: Octets) -> bool:
        """Hand over a decoded answer, one at a time to save memory; ``False``: it is too large for a browser."""
        headers = event["request"]["headers"]
        async with page.handing:
            answer = None
            if page.handed < request_rules.MOST_HANDED:
                answer = await asyncio.to_thread(
                    for_browser, raw, request_rules.field(headers, "Origin"), request_rules.field(headers, "Range")
                )
            else:
                page.cut(request_rules.TOO_LARGE)
            if answer is None:
                self._fail(page, event, "Failed")
                return False
            page.handed += len(answer.body)
            self._note(page, event, answer.status, answer.media_type)
            await self._hand(event, *answer)
        return True

    async def _hand(
        self, event: dict[str, Any], status: int, headers: Iterable[tuple[str, str]], body: bytes = b""
    ) -> None:
        """Send an answer. If the protocol refuses it, the request fails: otherwise the page would wait for ever."""
        try:
            await self._browser.ask(
                "Fetch.fulfillRequest",
                requestId=event["requestId"],
                responseCode=status,
                responsePhrase=responses.get(status, "Unknown"),  # Chromium needs one for an unknown status
                responseHeaders=[{"name": name, "value": value} for name, value in headers],
                body=b64encode(body).decode(),
            )
        except BrowserError:
            self._refuse(event, "Failed")

    def _fail(self, page: PageShown, event: dict[str, Any], reason: str) -> None:
        """Fail a request, and note that in the page's list."""
        self._note(page, event, 0, None, f"net::{_NET_ERRORS[reason]}")
        self._refuse(event, reason)

    def _refuse(self, event: dict[str, Any], reason: str) -> None:
        self._browser.tell("Fetch.failRequest", requestId=event["requestId"], errorReason=reason)

    def _note(
        self, page: PageShown, event: dict[str, Any], status: int, media_type: str | None, error: str = ""
    ) -> None:
        """Note what came of a request, the first time."""
        known = Loaded(status, media_type, event["resourceType"].lower(), error)
        page.seen.loaded.setdefault(request_rules.listed(event["request"], self._options.login), known)
