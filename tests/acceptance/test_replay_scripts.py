"""Sites of frameworks, live and replayed by pywb and ReplayWeb.page, in a browser: the same text, the same picture.

In each the page is used: it is scrolled until all of it is there, and its first link to another view is clicked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from sharc_crawler.archive.replay import moment, replaying
from sharc_crawler.instants import unix
from sharc_crawler.report.packaging import package
from tests.acceptance import pywb_server
from tests.acceptance.browser import CHROMIUM, PATIENCE, Tab, browser, pixels
from tests.acceptance.viewer import in_viewer, viewing
from tests.live.browser.framework_site import INSTALLED, MISSING, FrameworkSite, build, served
from tests.report.by_hand import load_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(CHROMIUM is None or not INSTALLED, reason=MISSING)
in_pywb = pytest.mark.skipif(not pywb_server.INSTALLED, reason=pywb_server.MISSING)


class Part(NamedTuple):
    """What is on its first page once all is there, and on the view that a click leads to."""

    path: str
    says: str
    link: str = ""
    then: str = ""


PARTS = {
    "vue": Part("vue/", "3", "a[href$='/vue/2']", "vue 2, edition 1"),
    "graph": Part("graph/", "answer to Tides"),
    "react": Part("react/", "3", "a[href$='/react/2']", "react 2, edition 1"),
    "preset": Part("preset/1.html", "Preset page 1", "a[href$='/preset/2.html']", "Preset page 2"),
    "pwa": Part("pwa/", "pwa news, edition 1"),
    "lazy": Part("lazy/", "2"),
    "feed": Part("feed/", "Item 6"),
    "module": Part("module/", "module imported, edition 1"),
}
SOME = ("vue", "graph")
OTHERS = tuple(name for name in PARTS if name not in SOME)
#: it puts each script into a block, where no module may import (its issues 764 and 964), unless the browser replays
IN_BROWSER = {"module"}
NEARLY_IN_PYWB = {"preset", "feed"}  #: a dozen pixels of letters differ by 1 of 255 in the frame that they are shown in
#: where the page's window is
LIVE = "window"
PYWB = "document.getElementById('replay_iframe').contentWindow"
#: pywb shows a page in a frame below a banner of its own
WITHOUT_BANNER = """(frame => {
  for (const one of document.querySelectorAll('body *')) if (!one.contains(frame)) one.style.display = 'none';
  frame.style = 'position:fixed;inset:0;width:100%;height:100%;border:0';
})(document.getElementById('replay_iframe'))"""
VIEWER = """(function seek(node) {
  if (node.tagName === 'IFRAME' && /mp_\\//.test(node.src)) return node.contentWindow;
  for (const one of [...(node.shadowRoot ? node.shadowRoot.children : []), ...(node.children || []),
      ...(node.contentDocument ? [node.contentDocument.documentElement] : [])]) {
    const found = seek(one); if (found) return found;
  }
})(document.documentElement)"""
#: the page's text, once it is shown to its end; a picture that is not there yet is brought into sight, and a link that
#: leads there is clicked, anew where a viewer shows the page before once more
WHOLE = """((page, says, link) => {
  if (!page || !page.document.body) return '';
  const said = page.document.body.innerText;
  const there = link && !said.includes(says) && page.document.querySelector(link);
  if (there && !there.clicked) { there.clicked = true; there.click(); }
  const late = [...page.document.images].find(one => !one.complete || !one.naturalWidth);
  if (late) late.scrollIntoView(); else page.scrollTo(0, 1e6);
  return !late && page.document.readyState === 'complete' && said.includes(says) && said;
})(%s, %r, %r)"""


class Shown(NamedTuple):
    """What a reader saw."""

    texts: list[str]
    pictures: list[bytes]


def alike(one: bytes, other: bytes, within: float = 0) -> bool:
    """Of two pictures: no colour of any pixel differs by more."""
    first, second = pixels(one), pixels(other)
    return first.shape == second.shape and np.abs(first - second).max() <= within


def used(tab: Tab, window: str, part: Part, expected: Shown | None = None, within: float = 0) -> Shown:
    """Look at what a tab has opened, as a reader does; where there is something to compare with, until it is so."""
    seen = Shown([], [])
    views = [(part.says, ""), (part.then, part.link)] if part.then else [(part.says, "")]
    for number, (says, link) in enumerate(views):
        seen.texts.append(tab.wait_for(WHOLE % (window, says, link)))
        seen.pictures.append(settled(tab, expected.pictures[number] if expected else None, within))
    return seen


def settled(tab: Tab, expected: bytes | None, within: float) -> bytes:
    """A picture that stays as it is, or is as expected."""
    last, deadline = tab.picture(), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(0.2)
        now = tab.picture()
        if expected is None and now == last:
            break
        if expected is not None and alike(now, expected, within):
            break
        last = now
    return now


@pytest.fixture(scope="module")
def captured(run_crawl, tmp_path_factory) -> Callable:
    """Captures some parts; the folder, the site's URL, and what each part is live."""
    made: dict[tuple[str, ...], tuple] = {}

    def capture(parts: tuple[str, ...]) -> tuple:
        if parts not in made:
            folder = tmp_path_factory.mktemp("scripts")
            site = FrameworkSite(build(folder / "made"), parts)
            with served(site) as url, browser(folder / "profile") as tab:
                done = run_crawl(folder, url=url, browser="auto", post="1", delay="0", sitemap="off")
                assert done.code == 0, done.err
                live = {}
                for name in parts:
                    tab.open(f"{url}{PARTS[name].path}")
                    live[name] = used(tab, LIVE, PARTS[name])
            made[parts] = done, url, live
        return made[parts]

    return capture


def as_it_comes(_: Path) -> None:
    """pywb rewrites what it sends."""


def in_browser(place: Path) -> None:
    """A service worker does, that of ReplayWeb.page."""
    (place / "config.yaml").write_text("client_side_replay: true\n")


def compared(name: str, live: Shown, replay: Shown, place, within: float = 0) -> None:
    for number, (one, other) in enumerate(zip(live.pictures, replay.pictures, strict=True)):
        (place / f"{name}-{number}-live.png").write_bytes(one)
        (place / f"{name}-{number}-replay.png").write_bytes(other)
    assert replay.texts == live.texts, name
    assert all(pixels(one).std() > 0.02 for one in live.pictures), "something is on it"
    for one, other in zip(live.pictures, replay.pictures, strict=True):
        assert alike(one, other, within), f"compare the pictures of {name} in {place}"


@in_pywb
@pytest.mark.parametrize("parts", [SOME, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["some", "others"])
def test_pywb_shows_what_was_live(captured, tmp_path, parts):
    done, url, live = captured(parts)
    pages = {page["url"]: page["visit"] for page in done.capture["pages"]}
    for names, dress in ((set(parts) - IN_BROWSER, as_it_comes), (IN_BROWSER.intersection(parts), in_browser)):
        if not names:
            continue
        with replaying([done.folder], dress=dress) as address, browser(tmp_path / "profile") as tab:
            for name in sorted(names):
                page = f"{url}{PARTS[name].path}"
                tab.open(f"{address}{moment(unix(pages[page]['started']))}/{page}")
                tab.value(WITHOUT_BANNER)
                within = 1.01 / 255 if name in NEARLY_IN_PYWB else 0
                compared(name, live[name], used(tab, PYWB, PARTS[name], live[name], within), tmp_path, within)


@pytest.mark.long
@in_viewer
@pytest.mark.parametrize("parts", [SOME, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["some", "others"])
def test_replayweb_page_shows_what_was_live(captured, static, tmp_path, parts):
    done, url, live = captured(parts)
    wacz = package(done.folder, load_facts(done.folder), tmp_path / "capture.wacz")
    (tmp_path / "viewer").mkdir()
    with viewing(wacz, static, tmp_path / "viewer") as page, browser(tmp_path / "profile") as tab:
        for name in parts:
            tab.open(page(f"{url}{PARTS[name].path}", embed="replayonly"))
            compared(name, live[name], used(tab, VIEWER, PARTS[name], live[name]), tmp_path)
