"""What a page in a browser may not do: reach an inner address in any way, take all memory, ask without end, leave."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.live.browser import chromium
from sharc_crawler.live.browser.passing import MOST_REQUESTS, TOO_MANY
from tests.live.browser.hostile_page import INNER, hostile, listening
from tests.live.browser.test_browsing import resources, there_is_chromium  # noqa: F401
from tests.live.browser.test_rendering import HEAD, shown
from tests.live.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("there_is_chromium")]


def test_no_page_reaches_an_inner_address_in_any_way(crawl):
    heard: list[str] = []
    asked: list[str] = []
    with listening(heard) as inner, serving(hostile(inner, asked)) as url:
        done = crawl(url=url, browser="always", text="1", delay="0.01", sitemap="off")
    assert done.code == 0, done.err
    assert not heard, heard
    said = resources(done)[f"urn:text:{url}"].decode()
    assert "calls" in said, "each way was tried"
    assert "and waited" in said, "those that take time by the clock had it"
    assert not {"file! ", "popUp! "} & set(said)
    loaded = json.loads(resources(done)[f"urn:pageinfo:{url}"])["urls"]
    refused = {one: got for one, got in loaded.items() if INNER in one}
    assert len(refused) > 20
    assert all(got["status"] == 0 for got in refused.values())
    assert "/prerendered" not in asked
    assert not any("/etc/passwd" in warc.read_bytes().decode("latin-1") for warc in done.warcs)


async def test_a_page_may_ask_for_so_much_and_no_more():
    many = f"<p>The page<script>for (let n = 0; n < {MOST_REQUESTS + 50}; n++) new Image().src = '/' + n</script>"
    seen, _, asked = await shown(HEAD + many.encode())
    assert (len(asked), seen.cut) == (MOST_REQUESTS, [TOO_MANY])


@pytest.mark.long
async def test_a_page_that_takes_all_memory_loses_its_process(monkeypatch):
    monkeypatch.setattr(chromium, "MEMORY", 400 << 20)
    hog = b"<p>The page<script>const all = []; for (;;) all.push([all.length, {all}, 'x' + all.length])</script>"
    with pytest.raises(chromium.BrowserError, match="the browser ended"):
        await shown(HEAD + hog)


@pytest.mark.long
@pytest.mark.parametrize("way", ["back()", "go(-1)"])
async def test_a_page_has_nothing_to_go_back_to(way):
    seen, _, _ = await shown(
        HEAD + f"<p>The page<script>history.{way}; setInterval(() => history.{way}, 50)</script>".encode()
    )
    assert (seen.text, seen.cut) == ("The page", [])


@pytest.mark.parametrize("way", [pytest.param("close()", marks=pytest.mark.long), "location = 'about:blank'"])
async def test_a_page_that_is_no_more_is_not_waited_for(way):
    with pytest.raises(chromium.BrowserError, match="its scripts closed it, or left it"):
        await shown(HEAD + f"<p>The page<script>{way}</script>".encode())
