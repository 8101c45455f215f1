"""One page in a real Chromium."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from twisted.internet.defer import Deferred

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from sharc_crawler.live.browser.rendering import MOST_LED_TO, Asked, Renderer, Rendering

ONWARD = b"""HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>On and on</p>
<script>new EventSource('/events'); fetch('/', {method: 'MADEUP'}); fetch('/data');
setInterval(() => location.replace('/on/' + Math.random()), 10)</script>"""


async def rendered(raw: bytes, folder: Path, urls: list[str]) -> tuple[Rendering, Path]:
    """What became of a page, and where the browser's socket was; ``urls``: what it asked for."""

    async def nothing(asked: Asked) -> None:
        urls.append(asked.url)

    renderer = Renderer(folder)
    try:
        await renderer.start()
        (socket,) = folder.glob(f"{chromium.PROFILE}*/SingletonSocket")
        return await renderer.render("http://h.example/", raw, 1e9, nothing, None), socket.readlink()
    finally:
        renderer.close()


async def test_a_page_that_leads_on_and_on_names_few_places_and_its_browser_leaves_nothing():
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    urls: list[str] = []
    with TemporaryDirectory() as folder:
        seen, socket = await Deferred.fromFuture(asyncio.ensure_future(rendered(ONWARD, Path(folder), urls)))
        assert not list(Path(folder).iterdir())
    assert len(seen.led_to) == MOST_LED_TO
    assert f"where its scripts would lead after the first {MOST_LED_TO} places" in seen.cut
    assert urls == ["http://h.example/data"], "a stream of events has no end"
    assert any(what.startswith("other requests: only") for what in seen.cut), seen.cut
    assert not socket.parent.exists(), "among the temporary files"
