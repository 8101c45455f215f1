"""One page as a browser shows it: loaded from what the crawl fetches, until network and document are quiet.

The page's clock is ours: it stands still while an answer is awaited, however long the crawl takes for it, and else runs
as fast as scripts do (DevTools' virtual time). So a host's delay breaks no script, and waiting costs nothing.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.live.browser.answers import for_browser
from sharc_crawler.live.browser.chromium import BrowserError, Chromium
from sharc_crawler.login import Login

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from pathlib import Path

    from sharc_crawler.login import Cookie
    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.spool import Octets

    Load = Callable[["Asked"], Awaitable[Octets | None]]

DATA = ("XHR", "Fetch")  #: what scripts fetch, as the protocol names it
STREAM = "text/event-stream"  #: what an EventSource accepts; the protocol gives it no kind of its own here
METHODS = ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")  #: that are named; a script may make up others
STEP = 500  #: milliseconds of the page's time, after which it is looked at
STILL = 2  #: steps in which nothing was asked for or changed: it is quiet
PATIENCE = 20  #: steps: a page that never rests is taken as it is then
SCREENS = 30  #: that are scrolled
MOST_REQUESTS = 400  #: of one page
MOST_LED_TO = 10  #: places to which its scripts would lead: a timer that leads on and on names hundreds
LONGEST: Seconds = 1800.0  #: that a page may take, waiting for its host included
STUCK: Seconds = 20.0  #: without anything awaited or asked for: its scripts run on, or the browser does not
SIZE = (1280, 1024)
_TEXT = 3  #: the type of such nodes
#: elements whose text is none of the page
_WORDLESS = {"SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "TEMPLATE", "HEADER", "FOOTER"}
#: reasons why a request fails, as the protocol and as browsers name them
_NET_ERRORS = {
    "AddressUnreachable": "ERR_ADDRESS_UNREACHABLE",
    "BlockedByClient": "ERR_BLOCKED_BY_CLIENT",
    "Failed": "ERR_FAILED",
}

#: counts what is added, removed or said otherwise, in a world that the page's scripts do not see
_WATCH = (
    "globalThis.sharcChanges = 0;"
    "new MutationObserver(seen => { sharcChanges += seen.length })"
    ".observe(document, {subtree: true, childList: true, attributes: true, characterData: true})"
)
#: a screen further, and what it shows drawn: only then is it known what is in sight; 0: it was at its end
_SCROLL = """(async () => {
  const before = scrollY;
  scrollBy({top: innerHeight, behavior: 'instant'});
  if (scrollY <= before) return 0;
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  return 1;
})()"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a page."""

    url: str
    headers: dict[str, str]
    kind: str  #: DevTools' name: Script, XHR, Image…


class Loaded(NamedTuple):
    """What came of a request of a page."""

    status: int  #: 0: nothing came
    media_type: str | None
    kind: str  #: DevTools' name in lower case: document, script, xhr…
    error: str = ""  #: as browsers call it


@dataclass(slots=True)
class Rendering:
    """What a page came to be."""

    documents: list[tuple[str, str]] = field(default_factory=list)  #: base URL and markup: its own, then its frames'
    led_to: list[str] = field(default_factory=list)  #: where its scripts would have gone
    requests: int = 0
    data: int = 0  #: of these: what its scripts fetched
    cut: list[str] = field(default_factory=list)  #: what was not waited for, or not let through
    loaded: dict[str, Loaded] = field(default_factory=dict)  #: by URL, its own document first
    script_errors: int = 0  #: that its scripts left to the browser
    text: str = ""  #: of its documents, a line for each piece
    picture: bytes | None = None  #: PNG of its first screen, where one was wanted


class _Shown:
    """A page that is being rendered."""

    def __init__(self, url: str, raw: Octets, load: Load) -> None:
        self.url, self.raw, self.load = url, raw, load
        self.session = self.frame = ""
        self.seen = Rendering()
        self.begun = False  # its document was asked for
        self.awaited = 0  # answers
        self.lively = asyncio.Event()  # something was asked for or answered, or a step is over
        self.step_over = False
        self.tasks: set[asyncio.Task[None]] = set()

    def lead_to(self, url: str) -> None:
        """Its scripts would go on: a page of its own, for the frontier to judge."""
        if len(self.seen.led_to) < MOST_LED_TO:
            self.seen.led_to.append(url)
        else:
            self.cut(f"where its scripts would lead after the first {MOST_LED_TO} places")

    def cut(self, what: str) -> None:
        """A bound was met."""
        if what not in self.seen.cut:
            self.seen.cut.append(what)


class Renderer:
    """A browser that renders one page at a time, each in a context of its own: nothing is kept from one to the next."""

    def __init__(self, folder: Path, *, pictures: bool = False, login: Login | None = None) -> None:
        self.rendered = 0
        self._pictures = pictures
        self._login = login or Login()
        self._browser = Chromium(self._heard, folder)
        self._page: _Shown | None = None

    @property
    def pid(self) -> int:
        """Of the browser."""
        return self._browser.pid

    @property
    def lives(self) -> bool:
        """Is its browser there?"""
        return self._browser.lives

    async def start(self) -> None:
        """Raises :class:`BrowserError`, and :class:`~sharc_crawler.errors.UsageError` where there is no Chromium."""
        await self._browser.start()
        await self._browser.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])
        await self._browser.ask("Browser.setDownloadBehavior", behavior="deny")

    def close(self) -> None:
        """End the browser."""
        self._browser.close()

    async def render(self, url: str, raw: Octets, at: Instant, load: Load, agent: str | None) -> Rendering:
        """Render what a server sent for ``url`` at an instant.

        ``load`` gives what the page asks for, as it came over the wire; ``None``: it is not to be had. Raises
        :class:`BrowserError`.
        """
        page = self._page = _Shown(url, raw, load)
        self.rendered += 1
        context = (await self._browser.ask("Target.createBrowserContext"))["browserContextId"]
        try:
            await self._open(page, context, at, agent)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._until_quiet(page), LONGEST)
                await self._read(page)
                return page.seen
            raise BrowserError(f"more than {LONGEST:.0f} s")
        finally:
            self._page = None
            for task in page.tasks:
                task.cancel()
            with suppress(BrowserError):
                await self._browser.ask("Target.disposeBrowserContext", browserContextId=context)

    async def _open(self, page: _Shown, context: str, at: Instant, agent: str | None) -> None:
        ask = self._browser.ask
        width, height = SIZE
        if self._login.cookies:
            cookies = list(map(_as_set, self._login.cookies))
            await ask("Storage.setCookies", cookies=cookies, browserContextId=context)
        target = await ask(
            "Target.createTarget", url="about:blank", browserContextId=context, width=width, height=height
        )
        page.frame = target["targetId"]
        page.session = (await ask("Target.attachToTarget", targetId=page.frame, flatten=True))["sessionId"]
        for method, parameters in (
            ("Page.enable", {}),
            ("Runtime.enable", {}),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH, "worldName": "sharc"}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _stored(self._login.storage)}),
            ("Emulation.setVirtualTimePolicy", {"policy": "pause", "initialVirtualTime": at}),
            *((("Emulation.setUserAgentOverride", {"userAgent": agent}),) if agent else ()),
        ):
            await ask(method, page.session, **parameters)
        self._browser.tell("Page.navigate", page.session, url=page.url)

    # -- until it is quiet -------------------------------------------------------------------------------------------

    async def _until_quiet(self, page: _Shown) -> None:
        """Until it rests where it begins, then screen by screen to its end: what loads late is loaded."""
        still, before, scrolled, waited = 0, (-1, -1), 0, 0
        while True:
            await self._step(page)
            now = page.seen.requests, await self._value(page, "globalThis.sharcChanges")
            still, before, waited = still + 1 if now == before else 0, now, waited + 1
            if page.awaited or (still < (1 if scrolled else STILL) and waited < (STILL if scrolled else PATIENCE)):
                continue
            if not scrolled:
                if still < STILL:
                    page.cut(f"rest: it was not quiet after {PATIENCE * STEP / 1000:g} s of its own time")
                if self._pictures:
                    page.seen.picture = await self._picture(page)
            if not await self._value(page, _SCROLL):
                return
            if scrolled == SCREENS:
                page.cut(f"what lies beyond its first {SCREENS} screens")
                return
            scrolled, waited = scrolled + 1, 0

    async def _step(self, page: _Shown) -> None:
        """Let its clock run for a step; it stands while an answer is awaited."""
        page.step_over = False
        await self._browser.ask(
            "Emulation.setVirtualTimePolicy",
            page.session,
            policy="pauseIfNetworkFetchesPending",
            budget=STEP,
            maxVirtualTimeTaskStarvationCount=100_000,
        )
        while not page.step_over:
            page.lively.clear()
            try:
                await asyncio.wait_for(page.lively.wait(), STUCK)
            except TimeoutError:
                if not page.awaited:
                    raise BrowserError("its scripts do not end") from None
            if self._browser.ended:
                raise BrowserError("the browser ended")

    async def _value(self, page: _Shown, expression: str) -> int:
        """A number, worked out in a world that the page's scripts do not see."""
        world = await self._browser.ask("Page.createIsolatedWorld", page.session, frameId=page.frame, worldName="sharc")
        said = await self._browser.ask(
            "Runtime.evaluate",
            page.session,
            expression=expression,
            contextId=world["executionContextId"],
            awaitPromise=True,
        )
        return int(said["result"].get("value") or 0)

    async def _picture(self, page: _Shown) -> bytes:
        """Its first screen."""
        taken = await self._browser.ask("Page.captureScreenshot", page.session, format="png")
        return b64decode(taken["data"])

    async def _read(self, page: _Shown) -> None:
        """Its markup as it is now, and that of its frames, shadow roots included."""
        root = await self._browser.ask("DOM.getDocument", page.session, depth=-1, pierce=True)
        page.seen.text = "\n".join(_texts(root["root"]))
        for node in _documents(root["root"]):
            markup = await self._browser.ask(
                "DOM.getOuterHTML", page.session, backendNodeId=node["backendNodeId"], includeShadowDOM=True
            )
            page.seen.documents.append((node.get("baseURL") or node["documentURL"], markup["outerHTML"]))

    # -- what it asks for ----------------------------------------------------------------------------------------------

    def _heard(self, method: str, said: dict[str, Any], session: str) -> None:
        page = self._page
        if page is None:
            if method == "Fetch.requestPaused":
                self._refuse(said, "Aborted")
            return
        if method == "Fetch.requestPaused":
            self._asked(page, said)
        elif method == "Emulation.virtualTimeBudgetExpired" and session == page.session:
            page.step_over = True
        elif method == "Page.javascriptDialogOpening":
            self._browser.tell("Page.handleJavaScriptDialog", session, accept=said["type"] == "beforeunload")
        elif method == "Runtime.exceptionThrown":
            page.seen.script_errors += 1
        elif method == "Inspector.targetCrashed" and session == page.session:
            self._browser.ended = True  # and with it whatever is still asked of it
        page.lively.set()

    def _asked(self, page: _Shown, said: dict[str, Any]) -> None:
        request = said["request"]
        url, document = request["url"], said["resourceType"] == "Document" and said["frameId"] == page.frame
        if document and (page.begun or url != page.url):
            page.lead_to(url)
            self._refuse(said, "Aborted")
        elif document:
            page.begun = True
            self._fulfil(page, said, page.raw)
        elif url == page.url and request["method"] == "GET":
            self._fulfil(page, said, page.raw)
        elif why := _why_not(page, said):
            page.cut(why)
            self._fail(page, said, "BlockedByClient")
        elif url.endswith("/favicon.ico") and said["resourceType"] == "Other":
            self._refuse(said, "Aborted")  # the browser's own idea; one that a page names is its resource
        else:
            page.seen.requests += 1
            page.seen.data += said["resourceType"] in DATA
            asked = Asked(url, request["headers"], said["resourceType"])
            task = asyncio.create_task(self._answer(page, said, asked))
            page.tasks.add(task)
            task.add_done_callback(page.tasks.discard)

    async def _answer(self, page: _Shown, said: dict[str, Any], asked: Asked) -> None:
        page.awaited += 1
        try:
            raw = await page.load(asked)
        finally:
            page.awaited -= 1
            page.lively.set()
        if raw is None:
            self._fail(page, said, "AddressUnreachable")
        else:
            self._fulfil(page, said, raw)

    def _fulfil(self, page: _Shown, said: dict[str, Any], raw: Octets) -> None:
        """Hand over an answer: content codings undone, as the protocol wants it."""
        answer = for_browser(raw, said["request"]["headers"].get("Origin"))
        if answer is None:
            self._fail(page, said, "Failed")
            return
        _note(page, said, answer.status, answer.media_type)
        self._browser.tell(
            "Fetch.fulfillRequest",
            requestId=said["requestId"],
            responseCode=answer.status,
            responseHeaders=[{"name": name, "value": value} for name, value in answer.headers],
            body=b64encode(answer.body).decode(),
        )

    def _fail(self, page: _Shown, said: dict[str, Any], reason: str) -> None:
        """It is not to be had, and the page's list of what it loaded says so."""
        _note(page, said, 0, None, f"net::{_NET_ERRORS[reason]}")
        self._refuse(said, reason)

    def _refuse(self, said: dict[str, Any], reason: str) -> None:
        self._browser.tell("Fetch.failRequest", requestId=said["requestId"], errorReason=reason)


def _as_set(cookie: Cookie) -> dict[str, Any]:
    """A cookie as the protocol sets it; without a domain it is its host's alone."""
    where = {"domain": f".{cookie.domain}"} if cookie.subdomains else {}
    return {
        "name": cookie.name,
        "value": cookie.value,
        "url": f"http{'s' * cookie.secure}://{cookie.domain}{cookie.path}",
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        **({"expires": cookie.expires} if cookie.expires else {}),
        **where,
    }


def _stored(storage: Mapping[str, Mapping[str, str]]) -> str:
    """A script that finds what scripts had stored at its origin, before any of the page's runs."""
    known = json.dumps({origin: dict(items) for origin, items in storage.items()})
    return f"for (const item of Object.entries({known}[origin] || {{}})) localStorage.setItem(...item)"


def _note(page: _Shown, said: dict[str, Any], status: int, media_type: str | None, error: str = "") -> None:
    """What came of it, the first time."""
    page.seen.loaded.setdefault(said["request"]["url"], Loaded(status, media_type, said["resourceType"].lower(), error))


def _why_not(page: _Shown, said: dict[str, Any]) -> str:
    """Why a request does not pass; empty: it may."""
    request = said["request"]
    if not request["url"].startswith(("http://", "https://")):
        return "requests that are not http"
    if request["method"] != "GET":
        method = request["method"] if request["method"] in METHODS else "other"
        return f"{method} requests: only what can be asked for without effect is"
    if STREAM in (request["headers"].get("Accept"), request["headers"].get("accept")):
        return "a stream of events: its answer has no end"
    if page.seen.requests >= MOST_REQUESTS:
        return f"requests after its first {MOST_REQUESTS}"
    return ""


def _texts(node: dict[str, Any]) -> Iterator[str]:
    """What its documents say, in their order; as Browsertrix: without what frames most pages of a site."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node["nodeType"] == _TEXT and (text := node["nodeValue"].strip()):
            yield text
        if node["nodeName"] in _WORDLESS:
            continue
        if "contentDocument" in node:
            waiting.append(node["contentDocument"])
        waiting += reversed(node.get("children", ()))
        waiting += reversed(node.get("shadowRoots", ()))


def _documents(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A document, and those within it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node["nodeName"] == "#document":
            yield node
        waiting += reversed(node.get("children", ()))
        waiting += node.get("shadowRoots", ())
        if "contentDocument" in node:
            waiting.append(node["contentDocument"])
