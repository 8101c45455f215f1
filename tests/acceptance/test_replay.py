"""Captures made by the command that a user types, replayed by pywb: every page, at its visit's and its revisit's time.

    python3 -m venv /tmp/pywb && /tmp/pywb/bin/pip install pywb
    SHARC_PYWB=/tmp/pywb/bin python -m pytest tests/acceptance

Without it these tests are skipped; without Chromium, or python3-doc, those that need it.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.archive.replay import find_pywb, moment, replaying
from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import unix
from sharc_crawler.report.banner import dress
from tests.acceptance.browser import CHROMIUM, PATIENCE, Tab, browser, pixels
from tests.archive.readback import check
from tests.collection.test_skipping import Site, capture

try:
    find_pywb(os.environ)
except UsageError:
    pytest.skip("pywb is not installed; set SHARC_PYWB to its environment's bin folder", allow_module_level=True)

DOCUMENTATION = Path("/usr/share/doc/python3-doc/html")


def get(address: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """An answer of the replay, as it is stored (id_: nothing rewritten)."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=280)
    connection.request("GET", urlsplit(address).path + path)
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    data = response.read()
    connection.close()
    return response.status, headers, gzip.decompress(data) if headers.get("content-encoding") == "gzip" else data


def bodies(folder: Path) -> dict[str, bytes]:
    """Every body that the WARC files hold, decoded, by its payload digest."""
    found = {}
    for warc in sorted(folder.glob("*.warc.gz")):
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    digest = record.rec_headers.get_header("WARC-Payload-Digest")
                    found[digest] = record.content_stream().read()
    return found


def replayed(folder: Path) -> tuple[int, int]:
    """Ask for every page and resource at both times; returns how many answers and TimeMaps were right."""
    lines = (folder / "certificate-pages.jsonl").read_text().splitlines()
    held, answers, maps = bodies(folder), 0, 0
    with replaying([folder]) as address:
        for page in (page for page in map(json.loads, lines) if "verdict" in page):
            downloads = [page[part] for part in ("visit", "revisit") if page[part]]
            shown = [one for one in downloads if one["result"] in ("ok", "not-modified")]
            seconds = {one["date"][:19] for one in shown}
            for one in shown:
                if len(seconds) < len(shown) and page["verdict"] != "coherent":
                    continue  # two states within a second: pywb's times do not tell them apart
                stamp = moment(unix(one["date"]))
                status, headers, body = get(address, f"{stamp}id_/{one['uri']}")
                assert status == 200, one
                assert body == held[one["digest"] or page["visit"]["digest"]], one
                at = datetime.fromisoformat(one["date"]).strftime("%a, %d %b %Y %H:%M:%S GMT")
                assert headers["memento-datetime"] == at
                answers += 1
            times = get(address, f"timemap/link/{shown[0]['uri']}")[2].decode()
            assert all(f"{moment(unix(one['date']))}mp_/{one['uri']}" in times for one in shown)
            maps += 1
    return answers, maps


@pytest.mark.long
def test_the_living_site_is_replayed_at_both_times(run_crawl, tmp_path):
    with serve(LivingSite(seed=7, pages=30, scale=3000.0, slow=0.05)) as server:
        done = run_crawl(tmp_path, url=server.url, strategy="sharc-selective", delay="0.05")
    assert done.code == 0, done.err
    for warc in done.warcs:
        check(warc)
    assert verify(done.folder).findings == []
    answers, maps = replayed(done.folder)
    assert maps >= 30
    assert answers > 1.8 * maps


@pytest.mark.long
@pytest.mark.skipif(not DOCUMENTATION.is_dir(), reason=f"{DOCUMENTATION} is not there: install python3-doc")
@pytest.mark.timeout(900)
def test_the_python_documentation_is_replayed_at_both_times(run_crawl, static, tmp_path):
    with static(DOCUMENTATION, "127.0.0.4") as url:
        done = run_crawl(tmp_path, url=f"{url}index.html", delay="0", sitemap="off", timeout=400)
    assert done.code == 0, done.err
    for warc in done.warcs:
        check(warc)
    assert verify(done.folder).findings == []
    answers, maps = replayed(done.folder)
    print(f"{answers} answers and {maps} TimeMaps were right")
    assert maps > 500
    assert answers == 2 * maps - 1, "nothing changes here; only the apex, which is the reference instant, has one time"


def test_payloads_of_a_former_capture_are_shown_from_there(run_crawl, tmp_path):
    with serve(LivingSite(seed=6, pages=20, scale=1.0, slow=0.02)) as server:
        both = partial(run_crawl, tmp_path, url=server.url, delay="0", history=str(tmp_path / "history"))
        first = both(output=str(tmp_path / "first"), strategy="bfs", dedup="site")
        another_second()
        second = both(output=str(tmp_path / "second"), strategy="bfs", dedup="site")
    assert (first.code, second.code) == (0, 0), second.err
    held = bodies(first.folder) | bodies(second.folder)
    lines = (second.folder / "certificate-pages.jsonl").read_text().splitlines()
    pages = [page for page in map(json.loads, lines) if "verdict" in page]
    with replaying([second.folder, first.folder]) as address:
        for page in pages:
            visit = page["visit"]
            status, _, body = get(address, f"{moment(unix(visit['date']))}id_/{visit['uri']}")
            assert (status, body) == (200, held[visit["digest"]]), page["url"]
    assert len(bodies(second.folder)) < len(bodies(first.folder)) / 2


SCRIPT = """
const note = document.createElement('p');
note.textContent = 'Written by the script.';
document.body.append(note);
const canvas = document.querySelector('canvas').getContext('2d');
canvas.fillStyle = '#163a70';
canvas.fillRect(10, 10, 120, 40);
getComputedStyle(document.body).backgroundImage;  // so that the page is not loaded without it
document.body.dataset.ready = 'yes';
"""
STYLE = (
    "body { font: 20px/1.5 sans-serif; background: #f4efe4 url(back.png); color: #222; margin: 2em } h1 { color: #a33 }"
)


def site(folder: Path, edition: str = "") -> None:
    """A page with text, images, a style sheet and a script; what it embeds is named by the edition."""
    import matplotlib.image

    folder.mkdir(exist_ok=True)
    for name, colour in (("back.png", (0.9, 0.95, 0.9)), ("picture.png", (0.2, 0.6, 0.4))):
        pixels = np.ones((40, 60, 3)) * colour
        pixels[::8] *= 0.8
        matplotlib.image.imsave(folder / f"{edition}{name}", pixels)
    (folder / f"{edition}style.css").write_text(STYLE.replace("back.png", f"{edition}back.png"))
    (folder / "static").mkdir(exist_ok=True)  # pywb has a folder of that name, too
    (folder / "static" / f"{edition}script.js").write_text(SCRIPT)
    (folder / "index.html").write_text(
        f"<!doctype html><title>A page</title><link rel=stylesheet href={edition}style.css><h1>A page</h1><p>Its "
        f"text, in <em>two</em> kinds.</p><img src={edition}picture.png alt=picture> "
        f"<canvas width=140 height=60></canvas><script src=static/{edition}script.js></script>"
        "<script type=module>export {}</script>"
    )


def another_second() -> None:
    """pywb's times are seconds: what is captured from now on is of a later one than all before."""
    now = int(time.time())
    while int(time.time()) == now:
        time.sleep(0.02)


FRAME = (
    "<!doctype html><style>*{{margin:0;border:0}}iframe{{position:fixed;width:100%;height:100%}}</style>"
    "<iframe src='{}'></iframe>"
)


def settled(tab: Tab, expected: bytes) -> bytes:
    """What is shown once it is as expected, or after a bounded time."""
    deadline = time.monotonic() + PATIENCE
    while not np.array_equal(pixels(picture := tab.picture()), pixels(expected)) and time.monotonic() < deadline:
        time.sleep(0.3)
    return picture


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_page_looks_as_it_did_when_it_was_live(run_crawl, static, tmp_path):
    site(tmp_path / "site")
    with browser(tmp_path / "profile") as tab:
        with static(tmp_path / "site", "127.0.0.5") as url:
            done = run_crawl(tmp_path, url=url, delay="0", sitemap="off")
            assert done.code == 0, done.err
            tab.open(url)
            tab.wait_for("document.body.dataset.ready === 'yes' && [...document.images].every(i => i.complete)")
            live = tab.picture()
        (tmp_path / "frame").mkdir()
        with replaying([done.folder]) as address, static(tmp_path / "frame") as frame:
            with (done.folder / "certificate-pages.jsonl").open() as lines:
                visit = json.loads(next(lines))["visit"]
            shown = f"{address}{moment(unix(visit['date']))}mp_/{url}"
            (tmp_path / "frame" / "index.html").write_text(FRAME.format(shown))  # as pywb's own, without its banner
            tab.open(frame)
            replay = settled(tab, live)
    assert pixels(live).std() > 0.05, "something is on it"
    (tmp_path / "live.png").write_bytes(live)
    (tmp_path / "replay.png").write_bytes(replay)
    assert np.array_equal(pixels(live), pixels(replay)), f"compare {tmp_path}/live.png and replay.png"


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_each_page_bears_what_the_certificate_says_of_this_copy(run_crawl, static, tmp_path):
    folders = []
    (tmp_path / "site").mkdir()
    with static(tmp_path / "site", "127.0.0.6") as url:
        for edition in (
            "old-",
            "new-",
        ):  # of one page; a resource of both would be shown from either, whichever is nearer
            site(tmp_path / "site", edition)
            another_second()
            done = run_crawl(tmp_path, url=url, delay="0", sitemap="off", output=str(tmp_path / edition))
            assert done.code == 0, done.err
            folders.append(done.folder)
    (folders[0] / "certificate.json").unlink()  # as of a capture that is not complete
    with (
        replaying(folders, dress=partial(dress, folders, pytest.fail)) as address,
        browser(tmp_path / "profile") as tab,
    ):
        for folder, expected in zip(folders, ("No certificate speaks of this copy", "Coherent at "), strict=True):
            with (folder / "certificate-pages.jsonl").open() as lines:
                visit = json.loads(next(lines))["visit"]
            tab.open(f"{address}{moment(unix(visit['date']))}/{visit['uri']}")
            tab.wait_for("document.getElementById('sharc-verdict')?.dataset.done === 'true'")
            shown = tab.value("document.getElementById('sharc-verdict').shadowRoot.querySelector('summary').innerText")
            assert shown.startswith(expected)
            assert f"This copy is of {visit['date'][:19]}Z" in shown
            assert re.search(r"Shown with 4 resources.*copies made within", shown), shown
            assert "Scripts of it are modules, which pywb does not run" in shown
        tab.value("document.getElementById('replay_iframe').contentWindow.location.href = 'about:blank'")
        said = "document.getElementById('sharc-verdict').shadowRoot.querySelector('summary').innerText"
        tab.wait_for(f"{said}.startsWith('No copy is shown, the page left for an address that is no copy')")
    assert "4 resources, all coherent at the same instant" in shown


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_page_that_a_capture_did_not_ask_for_is_shown_as_what_it_still_was(tmp_path):
    """``skip=attested``: at the last instant replay has a former copy, and the certificates of both captures speak."""
    living, folders = Site(), []
    with living.served():
        for edits in ((), (3, 5), (7,)):
            living.edit(*edits)
            folders.append(capture(tmp_path, living))
    document = json.loads((folders[-1] / "certificate.json").read_text())
    instant = document["subsites"][0]["reference"]["instant"]
    pages = [json.loads(line) for line in (folders[-1] / "certificate-pages.jsonl").read_text().splitlines()]
    taken = [page for page in pages if page["evidence"] == "former" and page["revisit"] is None]
    assert len(taken) > 20
    with (
        replaying(folders, dress=partial(dress, folders, pytest.fail)) as address,
        browser(tmp_path / "profile") as tab,
    ):
        for page in taken:
            status, _, body = get(address, f"{moment(unix(instant))}id_/{page['url']}")
            number = int(urlsplit(page["url"]).path.strip("/") or 0)
            assert (status, body) == (200, living.body(f"/{number}")), page["url"]
        tab.open(f"{address}{moment(unix(instant))}/{taken[-1]['url']}")
        tab.wait_for("document.getElementById('sharc-verdict')?.dataset.done === 'true'")
        root = "document.getElementById('sharc-verdict').shadowRoot"
        shown = tab.value(f"{root}.querySelector('summary').innerText")
        tab.value(f"{root}.querySelector('details').open = true")
        (tmp_path / "banner.png").write_bytes(tab.picture())
        more = tab.value(f"{root}.querySelector('details').innerText")
    assert shown.startswith("Coherent at ")
    assert f"Unchanged until {instant[:19]}Z" in shown, "though this copy is of a capture before"
    assert document["digest"] in more and Evidence.FORMER.ground in more


def test_links_of_other_spellings_lead_to_what_was_captured(run_crawl, static, tmp_path):
    """A session's id in its path, an answer's in its query, and a name in capitals, which is not there."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(
        "<a href=main.htm>a<a href=main.htm;jsessionid=0A1B>b<a href='main.htm?replytocom=7'>c<a href=MAIN.HTM>d"
        + "<a href='login/?next=/a'>f<a href='login/?next=/b'>g"
        + "".join(f"<a href='forum/?topic={number}'>e" for number in range(100))  # more than pywb looks through
    )
    (site / "forum").mkdir()
    (site / "forum" / "index.html").write_text("<p>Main")
    (site / "login").mkdir()
    (site / "login" / "index.html").write_text("<p>Main")
    (site / "main.htm").write_text("<p>Main")
    with static(site, "127.0.0.3") as url:
        done = run_crawl(tmp_path, url=url, strategy="bfs", delay="0")
        with replaying([done.folder]) as address:
            others = "main.htm?replytocom=7", "forum/?topic=99&replytocom=7", "MAIN.HTM"
            log_in = "login/?next=/a", "login/?next=/b", "login/?next=%2Fc%3Fd=1%26e"
            for name in (*log_in, "main.htm", "main.htm;jsessionid=0A1B", *others):
                status, _, body = get(address, f"20991231000000id_/{url}{name}")
                assert (status, body) == (200, b"<p>Main"), name
            assert get(address, f"20991231000000id_/{url}other;jsessionid=0A1B")[0] == 404
