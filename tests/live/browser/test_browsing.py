"""Pages made by script, captured with a real Chromium: ``-a browser=always``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from twisted.internet.defer import Deferred
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.browser import chromium
from sharc_crawler.live.browser.browser_options import BrowserOptions
from sharc_crawler.live.browser.browsing import ATTEMPTS, Browsing
from sharc_crawler.live.browser.rendering import Renderer
from sharc_crawler.live.reading.readings import Reading
from sharc_crawler.model import Change, Fetch, Kind, PageId, Plan, Slot, Validators
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.observations import ObservationStore
from tests.archive.readback import page
from tests.live.browser.script_site import PAGES, PLAIN, ScriptSite, served

USAGE = 2


@pytest.fixture
def there_is_chromium() -> None:
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))


def resources(crawl) -> dict[str, bytes]:
    """What the crawl itself made, by URI."""
    found = {}
    for warc in crawl.warcs:
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "resource":
                    found[record.rec_headers["WARC-Target-URI"]] = record.content_stream().read()
    return found


def compared(crawl, url: str) -> dict:
    """What ``sharc diff`` says of a page's visit and its revisit."""
    return json.loads(CliRunner().invoke(main, ["diff", str(crawl.folder), str(crawl.folder), url, "--json"]).output)


def archived(crawl) -> Counter[str]:
    """Responses and what refers to them, by path; the certificate's file has none."""
    paths: Counter[str] = Counter()
    for warc in crawl.warcs:
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type in ("response", "revisit"):
                    paths[urlsplit(record.rec_headers["WARC-Target-URI"]).path] += 1
    return paths


@pytest.mark.usefixtures("there_is_chromium")
def test_all_that_a_page_loads_is_fetched_by_the_crawl_and_nothing_else(crawl):
    site = ScriptSite(changing=("b",))
    with served(site) as url:
        done = crawl(url=url, browser="always", screenshots="1", text="1", delay="0.01", sitemap="off")
    assert done.code == 0, done.err
    pages = {urlsplit(page["url"]).path: page for page in done.capture["pages"] if page["kind"] == "page"}
    others = {"/from-frame", "/led-to", "/opened"}
    assert set(pages) == {"/", *(f"/p/{page}" for page in PAGES), *others}, done.capture["notes"]
    verdicts = {path: (page["verdict"], page["code"]) for path, page in pages.items()}
    assert verdicts.pop("/") == ("unknown", "data-unknown"), "where its API's redirect led later is not known"
    assert verdicts.pop("/p/b") == ("changed", "data-changed"), "the shell is as it was, the answer of the API is not"
    assert verdicts.pop("/opened") == (None, "gone")
    assert set(verdicts.values()) == {("coherent", "equal-bytes")}
    assert pages["/p/b"]["reason"] == f"what its scripts fetched had changed: {url}api/b"
    assert pages["/p/b"]["content"] == "changed"
    assert pages["/p/a"]["data"] == [f"{url}api/a"], "what was compared is named"
    found = {path: compared(done, f"{url}p/{path}") for path in PAGES}
    assert {path: one["equal_bytes"] for path, one in found.items()} == dict.fromkeys(PAGES, True)
    assert {path: one["changed"] for path, one in found.items()} == {"a": False, "b": True}
    ((edit,),) = (data["edits"] for data in found["b"]["data"])
    assert edit["old"] != edit["new"]
    asked = Counter(path for path, _ in site.asked)
    assert not site.methods, "nothing is sent that may have an effect"
    assert not {"/api/forbidden", "/favicon.ico"} & set(asked), "robots.txt holds"
    assert asked["/opened"] == 1, "a pop-up does not happen, where it would lead is a page as any other"
    api = ("/api/index.json", "/api/late", "/api/more", *(f"/api/{page}" for page in PAGES))
    assert {path: asked[path] for path in api} == dict.fromkeys(api, 2), "once before T, once after it"
    assert asked["/socket"] == 2, "a WebSocket is opened, no more; it was not there, before T nor after it"
    assert asked["/app.js"] == 2, "what pages share is asked for once"
    assert asked["/api/index"] == 1, "a redirect has its target to show"
    assert {app for path, app in site.asked if path in api} == {"1", None}
    assert [app for path, app in site.asked if path == "/api/a"] == ["1", "1"], "both times as the page asked"
    kept = archived(done)
    del asked["/robots.txt"], kept["/robots.txt"]
    assert kept == asked, "each exchange is in the archive"
    notes = " ".join(done.capture["notes"])
    for bound in ("POST requests", "pop-ups", "rest: it was not quiet after 10 s of its own time"):
        assert f"1 page was shown without {bound}" in notes, notes
    assert not (done.folder / ".answers").exists()
    assert not verify(done.folder).findings, "by the records alone"
    told = done.capture["settings"]
    assert [told[name] for name in ("browser", "behaviors", "screenshots", "text")] == ["always", "scroll", True, True]
    with done.warcs[0].open("rb") as stream:
        assert f"chromium/{told['chromium']}".encode() in next(ArchiveIterator(stream)).content_stream().read()
    made = resources(done)
    assert set(made) == {
        f"urn:{kind}:{page['url']}"
        for kind in ("view", "text", "pageinfo")
        for path, page in pages.items()
        if path != "/opened"
    }
    assert made[f"urn:text:{url}p/a"] == b"Page a, which is made by a script alone\nx"
    assert made[f"urn:view:{url}"].startswith(b"\x89PNG")
    assert struct.unpack(">II", made[f"urn:view:{url}"][16:24]) == (1280, 1024)
    info = json.loads(made[f"urn:pageinfo:{url}"])
    assert "pop-ups: where they would lead is a link" in info["cut"]
    loaded = info.pop("urls")
    assert (info["url"], info["counts"]) == (url, {"jsErrors": 4}), "of its fetches four failed"
    assert loaded[url] == {"status": 200, "mime": "text/html", "type": "document"}
    assert loaded[f"{url}api/index.json"] == {"status": 200, "mime": "application/json", "type": "xhr"}
    assert loaded[f"{url}api/forbidden"] == {"status": 0, "type": "xhr", "error": "net::ERR_ADDRESS_UNREACHABLE"}


@pytest.mark.usefixtures("there_is_chromium")
def test_data_that_folders_share_counts_for_the_pages_of_all_of_them(crawl, tmp_path):
    with served(ScriptSite(changing=("b",))) as url:
        paths = [f"p/{folder}{page}" for page in PAGES for folder in ("", "x/")]
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join(url + path for path in paths))
        done = crawl(
            seeds=str(seeds),
            browser="always",
            include="/p/",
            delay="0",
            sitemap="off",
            history=str(tmp_path / "history.sqlite"),
            settings=["SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"],
        )
    assert done.code == 0, done.err
    pages = {page["url"].removeprefix(url): page for page in done.capture["pages"] if page["kind"] == "page"}
    assert set(pages) == set(paths)
    assert len({page["subsite"] for page in pages.values()}) > 1, "they are in different parts of the report"
    verdicts = {path: (page["verdict"], page["code"]) for path, page in pages.items()}
    same, other = ("coherent", "equal-bytes"), ("changed", "data-changed")
    assert verdicts == {path: same if path.endswith("a") else other for path in paths}
    assert not verify(done.folder).findings, "by the records, too"
    with ObservationStore(tmp_path / "history.sqlite") as store:
        seen = [one for site in store.sites() for one in store.observations(site) if one.kind is Kind.PAGE]
    changed = {one.url.removeprefix(url) for one in seen if one.change is Change.CHANGED}
    assert changed == {path for path in paths if path.endswith("b")}, "the history learns by their data"


@pytest.mark.long
@pytest.mark.usefixtures("there_is_chromium")
def test_only_classes_of_pages_that_a_browser_makes_others_are_shown(crawl):
    site = ScriptSite()
    with served(site) as url:
        done = crawl(url=f"{url}plain/0", browser="auto", delay="0.01", sitemap="off", strategy="bfs")
    assert done.code == 0, done.err
    pages = {urlsplit(page["url"]).path: page for page in done.capture["pages"] if page["kind"] == "page"}
    assert {f"/p/{page}" for page in PAGES} | {f"/plain/{number}" for number in range(PLAIN)} <= set(pages)
    assert pages["/p/b"]["data"] == [f"{url}api/b"], "found by way of the index, which an API makes"
    (note,) = (note for note in done.capture["notes"] if note.startswith("classes of URLs"))
    assert note == "classes of URLs shown by a browser: /*, /p/*; the same without: /plain/*"


def shown(url: str) -> Fetch:
    """A page of a site."""
    site = "h.example"
    return Fetch(0, PageId(0), site, url, Kind.PAGE, Slot.FIRST, Plan.HOPEFUL, site, 1, Validators(), 0.0)


async def killed(folder, fetch):
    """A browser that has shown a page, and was killed."""
    renderer = Renderer(folder, BrowserOptions())
    await renderer.start()
    await renderer.render(fetch.url, page().response, 1e9, None)
    os.killpg(renderer.pid, signal.SIGKILL)
    os.waitid(os.P_PID, renderer.pid, os.WEXITED | os.WNOWAIT)
    return renderer


@pytest.mark.long
@pytest.mark.usefixtures("there_is_chromium")
async def test_browsers_that_died_while_they_waited_are_no_attempts_of_a_page(tmp_path):
    fetch = shown("http://h.example/")
    browsing = Browsing(Sites(), None, time.time, lambda _: tmp_path, None, BrowserOptions())
    try:
        browsing._idle += [await wait(killed(tmp_path, fetch)) for _ in range(ATTEMPTS)]
        seen = await wait(browsing._rendered(fetch, page(), None))
    finally:
        browsing.close()
    assert "hello" in seen.documents[0][1]
    assert not list(tmp_path.glob(f"{chromium.PROFILE}*"))


async def test_a_browser_whose_pipes_cannot_be_had_is_ended(tmp_path, monkeypatch):
    async def too_many(*_):
        raise OSError("too many open files")

    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv(chromium.PLACE, str(program))
    monkeypatch.setattr(asyncio.get_running_loop(), "connect_read_pipe", too_many)
    browser = chromium.Chromium(lambda *_: None, tmp_path)
    with pytest.raises(OSError, match="too many open files"):
        await wait(browser.start())
    browser.close()
    assert browser.ended
    with pytest.raises(ProcessLookupError):
        os.kill(browser.pid, 0)
    assert list(tmp_path.iterdir()) == [program]


def wait(coroutine):
    """Of asyncio, in the reactor's loop."""
    return Deferred.fromFuture(asyncio.ensure_future(coroutine))


def test_without_chromium_nothing_is_begun(tmp_path, run_crawl, monkeypatch):
    monkeypatch.setenv(chromium.PLACE, str(tmp_path / "chromium"))
    with pytest.raises(UsageError, match="is no program: it must be the path of a Chromium"):
        chromium.found()
    monkeypatch.delenv(chromium.PLACE)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="none is on the path: install it"):
        chromium.found()
    other = tmp_path / "true"
    other.write_text("#!/bin/sh\necho true 9.1\n")
    other.chmod(0o755)
    monkeypatch.setenv(chromium.PLACE, str(other))
    with pytest.raises(UsageError, match=r"is no Chromium: asked for its --version, it says 'true 9\.1'"):
        chromium.version.__wrapped__()
    monkeypatch.undo()
    assert os.environ.get("PATH")


@pytest.mark.matrix
@pytest.mark.parametrize(("browser", "code"), [("always", 4), ("auto", 0)])
def test_where_no_browser_stays_a_capture_of_shells_is_no_success(crawl, tmp_path, monkeypatch, browser, code):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho Chromium 156.0.1.1\n")
    program.chmod(0o755)
    monkeypatch.setenv(chromium.PLACE, str(program))
    with served(ScriptSite()) as url:
        done = crawl(url=f"{url}p/a", browser=browser, delay="0", sitemap="off")
    assert done.code == code, done.err
    assert ("could be shown by a browser; they are archived as served" in done.err) == (browser == "always")
    assert [page["verdict"] for page in done.capture["pages"] if page["kind"] == "page"] == ["coherent"]
    notes = " ".join(done.capture["notes"])
    assert "not each was shown by a browser" in notes
    assert "shows no more" not in notes


@pytest.mark.usefixtures("there_is_chromium")
@pytest.mark.slow
def test_a_dry_run_says_how_pages_would_be_shown(crawl):
    done = crawl(url="http://127.0.0.1:9/", browser="auto", post="1", behaviors="off", dry_run="1")
    said = f"Pages in a browser: browser auto, chromium {chromium.version()}, behaviors off, post True"
    assert said in " ".join(done.out.split()), done.out


@pytest.mark.usefixtures("there_is_chromium")
def test_a_crawl_that_goes_on_keeps_to_the_classes_that_were_learned(tmp_path):
    site = "h.example"
    sites = Sites()
    frontier = sites.open(CaptureSpec(site=site, seeds=(f"http://{site}/",), strategy="bfs"), 0.0)

    def learn(*learned: tuple[str, bool]) -> Browsing:
        """Another crawl goes on."""
        browsing = Browsing(sites, None, time.time, lambda _: tmp_path, None, BrowserOptions(every=False))
        for path, differs in learned:
            fetch = shown(f"http://{site}{path}")
            browsing._class_wants(fetch, Reading())
            browsing._learn(fetch, differs=differs)
        return browsing

    learn(("/app/1", True), ("/blog/1", False), ("/blog/2", False))
    learn(("/blog/2", False))
    assert learn()._class_wants(shown(f"http://{site}/blog/4"), Reading()), "of one page, shown twice"
    learn(("/blog/3", False))
    assert not learn()._class_wants(shown(f"http://{site}/blog/4"), Reading())
    assert [note for note in frontier.capture.notes if note.startswith("classes")] == [
        "classes of URLs shown by a browser: /app/*; the same without: /blog/*"
    ]
