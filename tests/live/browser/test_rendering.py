"""One page in a real Chromium."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from twisted.internet.defer import Deferred

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from sharc_crawler.live.browser import page_state as costs
from sharc_crawler.live.browser.answers import MOST
from sharc_crawler.live.browser.behaviors import CLICKS
from sharc_crawler.live.browser.browser_options import BrowserOptions
from sharc_crawler.live.browser.page_state import MOST_LED_TO
from sharc_crawler.live.browser.rendering import Renderer

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.live.browser.page_records import Asked, Rendering

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
ONWARD = (
    HEAD
    + b"""<p>On and on</p>
<script>new EventSource('/events'); fetch('/', {method: 'MADEUP'}); fetch('/data');
fetch('http://other.example/', {headers: {'X-Own': '1'}});
setInterval(() => location.replace('/on/' + Math.random()), 10)</script>"""
)
#: a list with a button, one without end in a shadow root, a part that scrolls, what must not be clicked
MORE = (
    HEAD
    + b"""<ul id=list></ul><button id=button>Show 2 more</button>
<button onclick="fetch('/menu' + (this.n = (this.n || 0) + 1))">More</button>
<form action=/sent><button>Show more</button></form><a href=/real>Load more</a><button disabled>Load more</button>
<div id=part style="height: 200px; overflow: auto"><div style="height: 900px"></div><img loading=lazy src=/lazy></div>
<div id=host></div>
<script>
const add = n => fetch('/page/' + n).then(() => list.append(document.createElement('li')));
let n = 0; button.onclick = () => { if (++n == 3) button.remove(); add(n); };
host.attachShadow({mode: 'open'}).innerHTML = '<a href="javascript:" id=x>Mehr laden</a>';
host.shadowRoot.getElementById('x').onclick = () => document.body.append('endless', document.createElement('p'));
part.onscroll = () => { if (part.scrollTop + part.clientHeight > part.scrollHeight - 2) fetch('/end-of-part') };
</script>"""
)
ELSEWHERE = (
    HEAD + b"""<button onclick="history.pushState(0, '', '/other'); fetch('/of-another')">Read more posts</button>"""
)


async def rendered(
    raw: bytes, folder: Path, urls: list[str], options: BrowserOptions, slow: float, silent: Callable[[], None]
) -> tuple[Rendering, list[Path]]:
    """What became of a page, and where the browser's socket was, if it has one; ``urls``: what it asked for."""

    async def nothing(asked: Asked) -> bytes:
        urls.append(asked.url)
        await asyncio.sleep(slow)
        return HEAD

    renderer = Renderer(folder, options)
    try:
        await renderer.start()
        sockets = [one.readlink() for one in folder.glob(f"{chromium.PROFILE}*/SingletonSocket")]
        return await renderer.render("http://h.example/", raw, 1e9, nothing, silent), sockets
    finally:
        renderer.close()


async def shown(
    raw: bytes, options: BrowserOptions | None = None, slow: float = 0, silent: Callable[[], None] = lambda: None
) -> tuple[Rendering, list[Path], list[str]]:
    """The same, in a folder in which nothing is left; what it asked for, without its host.

    ``slow``: seconds that each answer takes.
    """
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    urls: list[str] = []
    with TemporaryDirectory() as folder:
        work = rendered(raw, Path(folder), urls, options or BrowserOptions(), slow, silent)
        seen, sockets = await Deferred.fromFuture(asyncio.ensure_future(work))
        assert not list(Path(folder).iterdir())
    return seen, sockets, [url.removeprefix("http://h.example") for url in urls]


@pytest.mark.long
async def test_a_page_that_leads_on_and_on_names_few_places_and_its_browser_leaves_nothing():
    seen, sockets, asked = await shown(ONWARD)
    assert len(seen.led_to) == MOST_LED_TO
    assert f"where its scripts would lead after the first {MOST_LED_TO} places" in seen.cut
    assert sorted(asked) == ["/data", "http://other.example/"], "a stream of events has no end"
    assert any(what.startswith("other requests: only") for what in seen.cut), seen.cut
    assert not any(one.parent.exists() for one in sockets), "among the temporary files"


@pytest.mark.long
async def test_a_page_whose_load_begins_late_is_not_taken_for_the_empty_one(monkeypatch):
    tell = chromium.Chromium.tell

    def late(self, method, session="", **parameters):
        wait = 1.0 if method == "Runtime.evaluate" else 0.0
        asyncio.get_running_loop().call_later(wait, partial(tell, self, method, session, **parameters))

    monkeypatch.setattr(chromium.Chromium, "tell", late)
    seen, _, _ = await shown(HEAD + b"<p>The page")
    assert seen.text == "The page"


#: a list that grows when its end comes into sight, on a page that takes long to draw
DRAWN = (
    HEAD
    + b"""<style>i {position: absolute; inset: 0; filter: blur(40px); background: red}</style><i></i><p id=end>The page
<script>setTimeout(() => new IntersectionObserver(([seen], watcher) => {
if (seen.isIntersecting) { watcher.disconnect(); fetch('/more') } }).observe(end), 400)</script>"""
)


async def test_a_page_is_not_quiet_before_it_was_drawn():
    _, _, asked = await shown(DRAWN, BrowserOptions(behaviors=()))
    assert asked == ["/more"]


#: asks for something, looks at clocks, and shows more at its end
CLOCKS = (
    HEAD
    + b"""<div style="height: 3000px">The page</div><p id=end><script>
fetch('/slow').then(() => requestAnimationFrame(at => end.append([at, performance.now()].every(n => n < 1e5))));
new IntersectionObserver(([seen]) => { if (seen.isIntersecting) fetch('/more') }).observe(end)</script>"""
)


@pytest.mark.long
async def test_a_page_is_drawn_though_its_clock_stood_for_long(monkeypatch):
    """The browser would draw when the page's clock has caught up with its own: after as long as it stood."""
    monkeypatch.setattr(chromium, "_PATIENCE", 60.0)
    seen, _, asked = await shown(CLOCKS, BrowserOptions(pictures=True), slow=4.0)
    assert asked == ["/slow", "/more"]
    assert (seen.text, seen.cut) == ("The page\ntrue", [])
    assert seen.picture


@pytest.mark.long
async def test_a_page_that_has_nothing_to_do_and_never_rests_is_ended(monkeypatch):
    monkeypatch.setattr(costs, "LOOK", 0.5)
    monkeypatch.setattr(costs, "IDLE", 0.1)
    monkeypatch.setattr(costs, "HUNG", 2.0)
    tell, heard = chromium.Chromium.tell, []

    def told(self, method, session="", **parameters):
        if method != "Emulation.setVirtualTimePolicy":  # its clock stands for good
            tell(self, method, session, **parameters)

    monkeypatch.setattr(chromium.Chromium, "tell", told)
    with pytest.raises(chromium.PageError, match="nothing happened for 2 s"):
        await shown(HEAD + b"<p>The page", silent=lambda: heard.append(1))
    assert heard, "who waits for it is told before"


@pytest.mark.long
async def test_a_page_that_takes_much_is_scrolled_no_further(monkeypatch):
    monkeypatch.setattr(costs, "LOOK", 0.2)
    busy = "onscroll = () => { for (let n = 0; n < 3e7; n++) work = Math.random() }"
    tall = f'<p>The page<div style="height: 90000px"></div><script>{busy}</script>'
    seen, _, _ = await shown(HEAD + tall.encode(), BrowserOptions(time=4.0))
    assert seen.cut == ["what comes after 2 s of processor time: it was not scrolled further"]


#: prints once it has loaded, in each way that there is, from a frame without a document of its own, too
PRINTED = (
    HEAD
    + b"""<p>The page<script>fetch('/slow').then(() => {
  const frame = document.body.appendChild(document.createElement('iframe'));
  for (const one of [window, frame.contentWindow]) { one.print(); one.document.execCommand('print') }
  document.body.append(`has ${[innerWidth, innerHeight, screen.width, screen.height]}`);
})</script>"""
)


@pytest.mark.long
async def test_no_page_is_printed_and_each_is_as_large_as_it_is_told():
    seen, _, _ = await shown(PRINTED, slow=1.0)
    assert (seen.text, seen.cut) == ("The page\nhas 1280,1024,1280,1024", [])


@pytest.mark.long
async def test_buttons_that_bring_more_are_clicked_as_long_as_they_do():
    seen, _, asked = await shown(MORE, BrowserOptions(behaviors=("scroll", "more")))
    assert {"/page/1", "/page/2", "/page/3", "/lazy", "/end-of-part"} <= set(asked)
    assert seen.documents[0][1].count("<li>") == 3
    assert "/menu1" in asked
    assert "/menu9" not in asked, "one that brings nothing is left alone"
    assert seen.text.count("endless") == CLICKS - 3 - asked.count("/menu1")
    assert seen.cut == [f'what comes after {CLICKS} clicks on "more"']
    assert not {"/sent", "/real"} & {*asked, *seen.led_to}


@pytest.mark.long
async def test_nothing_is_clicked_where_nobody_asked_for_it():
    _, _, asked = await shown(MORE)
    assert not any(path.startswith(("/page", "/menu")) for path in asked)
    assert "/end-of-part" in asked, "but parts are scrolled"


@pytest.mark.long
async def test_a_click_that_leads_elsewhere_names_a_page_and_is_the_last():
    seen, _, _ = await shown(ELSEWHERE, BrowserOptions(behaviors=("more",)))
    assert seen.led_to == ["http://h.example/other"]
    assert seen.cut == ["what comes after a click that led elsewhere"]


#: each is shown, or not at once: whatever it is, a picture is not waited for, and no address is lost
LEAVING = HEAD + b"<script>location = '/onward'</script><p>Never parsed"
DOWNLOAD = HEAD.replace(b"\r\n\r\n", b"\r\nContent-Disposition: attachment\r\n\r\n") + b"<p>A file"
DEEP = HEAD + b"<div>" * 600 + b"<p>The bottom"


@pytest.mark.long
async def test_a_page_that_leads_elsewhere_at_once_has_nothing_to_draw():
    seen, _, _ = await shown(LEAVING, BrowserOptions(pictures=True))
    assert seen.led_to == ["http://h.example/onward"]
    assert (seen.picture, seen.cut) == (None, ["a picture and behaviors: it has no body"])


@pytest.mark.long
async def test_a_document_that_is_sent_as_a_download_and_one_that_is_deep_are_pages():
    assert (await shown(DOWNLOAD))[0].text == "A file"
    assert (await shown(DEEP))[0].text == "The bottom"


@pytest.mark.long
async def test_a_document_that_a_browser_is_not_given_is_not_shown_and_where_one_led_is_kept(monkeypatch):
    with pytest.raises(chromium.PageError, match="its document is larger than 64 MiB"):
        await shown(HEAD + b" " * MOST)
    monkeypatch.setattr(chromium, "_LONGEST", 1 << 16)
    with pytest.raises(chromium.PageError, match="it has too many elements") as raised:
        await shown(HEAD + b"<b>x</b>" * 10_000 + b"<script>location = '/onward'</script>")
    assert raised.value.seen.led_to == ["http://h.example/onward"]
