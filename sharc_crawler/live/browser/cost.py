"""What a page costs its browser, and when that is too much: a page whose scripts never end holds no capture.

A busy machine is patiently waited for: what counts is the processor time that the browser was given, and only where it
has nothing to do, the clock.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sharc_crawler.live.browser.chromium import PageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, NoReturn

    from sharc_crawler.live.browser.chromium import Chromium
    from sharc_crawler.live.browser.shown import PageShown
    from sharc_crawler.model import Seconds

LOOK: Seconds = 5.0  #: between two looks at what it costs
IDLE: Seconds = 0.2  #: of processor time between them: a browser has so little that has nothing to do
HUNG: Seconds = 60.0  #: by the clock, in which it has nothing to do, and nothing is awaited: the page waits for ever
LONGEST: Seconds = 1800.0  #: that a page may take, waiting for its host included


async def watched(
    work: Coroutine[Any, Any, None], page: PageShown, browser: Chromium, most: Seconds, silent: Callable[[], None]
) -> None:
    """Have work done with a page, for ``most`` seconds of processor time.

    ``silent`` is called where nothing is heard of it from one look to the next, and nothing awaited. Raises
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
