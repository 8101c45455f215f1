"""| The state of a page while it is shown, and the limits on what it may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

from sharc_crawler.live.browser.chromium import Chromium, PageError
from sharc_crawler.live.browser.long_polls import LongPolls
from sharc_crawler.live.browser.page_records import Asked, Rendering

if TYPE_CHECKING:
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.model import Seconds

    Load = Callable[[Asked], Awaitable[Octets | None]]

MOST_LED_TO = 10  #: navigations that are noted: a timer may make hundreds


class PageShown:
    """A page that is being shown."""

    def __init__(self, url: str, raw: Octets, load: Load) -> None:
        self.url, self.raw, self.load = url, raw, load
        self.session = self.frame = ""
        self.seen = Rendering()
        self.begun = False  # its document was requested
        self.there = False  # its document has replaced the empty one
        self.gone = ""  # why it is gone or was never loaded
        self.awaited = 0  # answers that are awaited
        self.handing = asyncio.Lock()  # one answer at a time
        self.handed = 0  # bytes of answers handed over
        self.heard = 0  # events heard of it
        self.dear = False  # it has used half of its limit
        self.lively = asyncio.Event()  # something was requested or answered, or a step ended
        self.step_over = False
        self.protocols: dict[str, str] = {}  # of the socket that is opened next, by session
        self.state = (-1, -1)  # requests and changes when it was last looked at
        self.polls = LongPolls()
        self.tasks: set[asyncio.Task[object]] = set()

    def lead_to(self, url: str) -> None:
        """Note where its scripts would navigate: a page for the frontier to judge."""
        if len(self.seen.led_to) < MOST_LED_TO:
            self.seen.led_to.append(url)
        else:
            self.cut(f"where its scripts would lead after the first {MOST_LED_TO} places")

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine as a task of this page."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def answer(self, asked: Asked) -> Octets | None:
        """An answer that the crawl has or fetches; the page's clock stops meanwhile."""
        self.awaited += 1
        try:
            return await self.load(asked)
        finally:
            self.awaited -= 1
            self.lively.set()

    def cut(self, what: str) -> None:
        """Note a bound that was reached."""
        if what not in self.seen.cut:
            self.seen.cut.append(what)


# -- what a page costs its browser, and when that is too much ----------------------------------------------------------

# A page whose scripts never end must not hold up the capture. On a busy machine we wait: what counts is the processor
# time that the browser got, and the clock only while it has nothing to do.


LOOK: Seconds = 5.0  #: between two looks
IDLE: Seconds = 0.2  #: processor time between two looks below which the browser counts as idle
HUNG: Seconds = 60.0  #: idle time by the clock, with no answer awaited, after which the page is given up
LONGEST: Seconds = 1800.0  #: that a page may take, including waits for its host


async def watched(
    work: Coroutine[Any, Any, None], page: PageShown, browser: Chromium, most: Seconds, silent: Callable[[], None]
) -> None:
    """Run ``work`` with a page for at most ``most`` seconds of processor time.

    ``silent`` is called if nothing was heard of the page between two looks, and nothing is awaited. Raises
    :class:`~sharc_crawler.live.browser.chromium.BrowserError`.
    """
    tasks = [asyncio.create_task(work), asyncio.create_task(_watch(page, browser, most, silent))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()


async def _watch(page: PageShown, browser: Chromium, most: Seconds, silent: Callable[[], None]) -> NoReturn:
    before = await browser.spent()
    used = idle = 0.0
    for _ in range(round(LONGEST / LOOK)):
        heard = page.heard
        await asyncio.sleep(LOOK)
        spent = await browser.spent()
        had, before = max(0.0, spent - before), spent
        used += had
        page.dear = used > most / 2
        if used > most:
            raise PageError(f"it took more than {most:g} s of processor time: do its scripts ever end?")
        if page.awaited or page.heard > heard:
            idle = 0.0
            continue
        silent()
        idle = idle + LOOK if had < IDLE else 0.0
        if idle >= HUNG:
            raise PageError(f"nothing happened for {HUNG:.0f} s")
    raise PageError(f"it took more than {LONGEST:.0f} s")
