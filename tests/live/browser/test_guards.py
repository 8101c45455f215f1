"""What a page in a browser may not do: reach an inner address in any way, take all memory, ask without end, leave."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.live.browser import chromium, rendering, request_rules
from sharc_crawler.live.browser import page_state as costs
from sharc_crawler.live.browser.page_state import PageShown
from sharc_crawler.live.browser.request_rules import MOST_REQUESTS, TOO_LARGE, TOO_MANY
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


async def test_a_page_that_asks_for_itself_is_given_so_much_and_one_answer_at_a_time(monkeypatch):
    monkeypatch.setattr(request_rules, "MOST_HANDED", 1 << 20)
    sent, waiting, most = chromium.Chromium._sent, set(), []

    def counted(self, method, session, parameters):
        future = sent(self, method, session, parameters)
        if parameters.get("body"):
            waiting.add(future)
            future.add_done_callback(waiting.discard)
            most.append(len(waiting))
        return future

    monkeypatch.setattr(chromium.Chromium, "_sent", counted)
    many = "<p>The page<script>for (let n = 0; n < 20; n++) fetch(location.href)</script>" + " " * 300_000
    seen, _, asked = await shown(HEAD + many.encode())
    assert (seen.requests, asked, seen.cut, seen.text) == (20, [], [TOO_LARGE], "The page")
    assert most == [1] * 4, "the document, and itself three times: more than 1 MiB then"


#: statuses of Cloudflare's, of LinkedIn's, and of nobody's; headers that no browser reads
ODD = [b"520 Odd", b"999 Request denied", b"099 Odd", b"200 OK\r\nX: a\rb", b"200 OK\r\nX: a\0b"]


async def test_an_odd_answer_holds_no_page(monkeypatch):
    async def odd(self, asked):
        return b"HTTP/1.1 %b\r\nContent-Type: text/plain\r\n\r\nx" % ODD[int(asked.url[-1])]

    monkeypatch.setattr(PageShown, "answer", odd)
    monkeypatch.setattr(costs, "LOOK", 0.5)
    monkeypatch.setattr(costs, "HUNG", 5.0)
    asking = f"Promise.all([...Array({len(ODD)}).keys()].map(n => fetch('/' + n).catch(() => 0)))"
    page = f"<p>The page<script>{asking}.then(all => document.body.append(all.map(one => one.status ?? 0)))</script>"
    seen, _, _ = await shown(HEAD.replace(b"\r\n\r\n", b"\r\nX: a\0b\r\n\r\n") + page.encode())
    assert seen.text == "The page\n520,999,99,200,200"
    assert [one.status for one in seen.loaded.values()] == [200, 520, 999, 99, 200, 200]


async def test_frames_that_share_what_the_browser_holds_once_are_read_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(rendering, "MOST_SEEN", 2 << 20)
    fill = "const all = 'x'.repeat(5e5); for (let n = 0; n < 20; n++) add(all)"
    add = "add = all => document.body.appendChild(document.createElement('iframe')).contentDocument.body.append(all)"
    seen, _, _ = await shown(HEAD + f"<p>The page<script>{add}; {fill}</script>".encode())
    assert seen.cut == ["text after the first 2 MiB", "frames after the first 2 MiB of markup"]
    assert len(seen.documents) == 6, "its own, and five of half a million characters"
    assert seen.text.count("x") == 2_500_000


@pytest.mark.long
async def test_what_the_protocol_refuses_fails(monkeypatch):
    monkeypatch.setattr(rendering, "responses", {599: ""})
    monkeypatch.setattr(costs, "LOOK", 0.5)
    monkeypatch.setattr(costs, "HUNG", 5.0)

    async def odd(self, asked):
        return b"HTTP/1.1 599 Odd\r\n\r\n"

    monkeypatch.setattr(PageShown, "answer", odd)
    page = "<p>The page<script>fetch('/odd').catch(() => document.body.append('failed'))</script>"
    assert (await shown(HEAD + page.encode()))[0].text == "The page\nfailed"


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
