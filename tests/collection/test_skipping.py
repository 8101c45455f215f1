"""``skip=attested``: what sitemaps that have earned trust call unchanged is not asked for, and is claimed as that."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from sharc_crawler.certificate.confirming import confirmation_of, waits
from sharc_crawler.certificate.verify import verify
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.collection.payloads import Holding
from sharc_crawler.collection.verifying import verify_collection
from sharc_crawler.instants import iso, unix
from sharc_crawler.storage.beside import load_state
from tests.live import warm
from tests.live.conftest import captures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 40
STYLED = "Sat, 03 Oct 2026 17:15:22 GMT"
TAKEN = PAGES - 4  #: at least, where three pages are edited in all, and /0 is stored as the front page


class Site:
    """Pages that link to the two below them, with a sitemap.

    Lastmods to the microsecond: of whole seconds, one in the second of its page's visit would tell no change.
    """

    def __init__(self) -> None:
        self.changed = {number: time.time() - 86_400 - 60 * number for number in range(PAGES)}
        self.texts = {number: f"page {number}" for number in range(PAGES)}
        self.asked: list[str] = []
        self.styles: list[int] = []  #: statuses

    def edit(self, *numbers: int, silently: bool = False) -> None:
        for number in numbers:
            self.texts[number] += " edited"
            if not silently:
                self.changed[number] = time.time()

    def body(self, path: str) -> bytes | None:
        if path == "/sitemap.xml":
            rows = (
                f"<url><loc>{self.url}{number}</loc><lastmod>{iso(when)}</lastmod></url>"
                for number, when in self.changed.items()
            )
            return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(rows)}</urlset>'.encode()
        number = path.strip("/") or "0"
        if not number.isdigit() or int(number) not in self.texts:
            return None
        below = [one for one in (2 * int(number) + 1, 2 * int(number) + 2) if one < PAGES]
        links = "".join(f"<a href=/{one}>x</a>" for one in below)
        return (
            f"<title>{number}</title><link rel=stylesheet href=/style.css>{links}<p>{self.texts[int(number)]}".encode()
        )

    @contextmanager
    def served(self) -> Iterator[str]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                site.asked.append(self.path)
                body, status, about = site.body(self.path), 200, {}
                if self.path == "/style.css":  # no sitemap tells of it
                    body, about = b"p { color: navy }", {"ETag": '"1"', "Last-Modified": STYLED}
                    if self.headers["If-None-Match"] == '"1"':
                        body, status = b"", 304
                    site.styles.append(status)
                self.send_response(404 if body is None else status)
                for name, value in about.items() if status == 200 else ():
                    self.send_header(name, value)
                self.send_header("Content-Type", "text/xml" if self.path.endswith("xml") else "text/html")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield self.url
        finally:
            server.shutdown()
            server.server_close()


def words(base: Path, site: Site) -> dict[str, str]:
    """What a capture is told."""
    attested = {"strategy": "sharc-attested", "lag": "0", "skip": "attested"}
    return {"collection": str(base / "kept"), "url": site.url, **attested}


def capture(base: Path, site: Site, **more: str) -> Path:
    """One, to its end; its folder."""
    site.asked.clear()
    done = warm.finished(warm.site_words(**words(base, site) | more, delay="0"), base, timeout=280)
    assert done.returncode == 0, done.stderr
    return list(Collection(base / "kept").captures())[-1].folder


def pages_of(folder: Path) -> dict[str, dict]:
    (found,) = captures_of(folder)
    return {page["url"]: page for page in found["pages"] if page["kind"] == "page" and page["verdict"]}


class Kept(NamedTuple):
    site: Site
    base: Path
    folders: list[Path]
    asked: list[list[str]]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Iterator[Kept]:
    """Three captures: of all, of two edits (by which trust is earned), of one more."""
    base, site = tmp_path_factory.mktemp("skipping"), Site()
    folders, asked = [], []
    with site.served():
        for edits in ((), (3, 5), (7,)):
            site.edit(*edits)
            folders.append(capture(base, site))
            asked.append(list(site.asked))
        yield Kept(site, base, folders, asked)


def test_nothing_is_left_out_before_trust_is_earned(kept):
    for asked in kept.asked[:2]:
        assert {f"/{number}" for number in range(1, PAGES)} <= set(asked)


def test_what_has_not_changed_is_not_asked_for_and_every_page_is_there(kept):
    asked = [path for path in kept.asked[2] if path.strip("/").isdigit()]
    assert "/7" in asked
    assert len(asked) <= 10, "the page that changed, and the audit's"
    pages = pages_of(kept.folders[2])
    assert len(pages) == PAGES + 1, "and the front page"
    edited = pages.pop(kept.site.url + "7")  # seconds before its visit: its lastmod may not decide
    assert {page["verdict"] for page in pages.values()} == {"coherent"}
    assert edited["reason"].startswith("its lastmod does not tell") or edited["verdict"] == "coherent"
    (found,) = captures_of(kept.folders[2])
    taken = found["coherence"]["not_asked"]
    assert TAKEN <= taken < PAGES, "of what the sitemap names all but what changed, now or within seconds of its visit"


def test_what_pages_embed_is_asked_for_by_the_validators_of_the_former_capture(kept):
    """And claimed: of a 304 that says no date, by the one that it was asked by."""
    assert kept.site.styles[0] == 200
    assert kept.site.styles.count(200) == 1
    (found,) = captures_of(kept.folders[2])
    (style,) = (page for page in found["pages"] if page["kind"] == "resource")
    assert (style["verdict"], style["visit"]["status"]) == ("coherent", 304)


def test_it_is_claimed_as_what_it_is_and_audited(kept):
    (found,) = captures_of(kept.folders[2])
    evidence = [page["evidence"] for page in pages_of(kept.folders[2]).values()]
    assert evidence.count("former") > PAGES - 12
    audit = found["audit"]
    assert audit["audited"] >= 4, "of five drawn; one may be the page that was just edited"
    assert audit["claimed"] >= evidence.count("former")
    assert "unchanged since a former capture" in found["claim"]["sentence"]
    told = f"; {found['coherence']['not_asked']} pages were not asked for: "
    assert told in found["claim"]["sentence"], "whatever they are claimed by"
    assert any("were not requested (skip=attested)" in one for one in found["claim"]["limits"])


@pytest.mark.slow
def test_the_certificate_holds_with_the_former_captures_and_without(kept):
    first, second, third = kept.folders
    alone, together = verify(third), verify(third, [first, second])
    assert alone.findings == together.findings == []
    assert (alone.elsewhere >= TAKEN, together.elsewhere) == (True, 0)
    every, without = verify_collection(Collection(kept.base / "kept"))
    assert (every.findings, without) == ([], [])
    document = json.loads((third / "certificate.json").read_text())
    entries = [json.loads(line) for line in (third / document["pages"]["name"]).read_text().splitlines()]
    taken = [entry["visit"] for entry in entries if entry["visit"] and not entry["visit"]["attempts"]]
    held = {warc.name for folder in (first, second) for warc in folder.glob("*.warc.gz")}
    assert len(taken) >= TAKEN and {one["file"] for one in taken} <= held


def test_no_capture_goes_whose_answers_another_one_stands_on(kept):
    needed = set(Holding(kept.folders[2]).needed)
    held = {code for folder in kept.folders[:2] for code in Holding(folder).held}
    assert needed <= held and len(needed) >= TAKEN


@pytest.mark.long
def test_one_that_is_killed_goes_on_with_what_it_took(kept):
    site, collection = kept.site, Collection(kept.base / "kept")
    kept.site.edit(9, 11)
    before = len(list(collection.captures()))
    running = warm.Scrapy(warm.site_words(**words(kept.base, site), delay="0.5"), kept.base)
    while running.poll() is None:
        found = list(collection.captures())
        if len(found) > before and taken_so_far(found[-1].folder) >= 10:
            break
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait(240)
    last = list(collection.captures())[-1].folder
    assert not is_over(last)
    other = warm.finished(warm.site_words(**{**words(kept.base, site), "skip": "off"}), kept.base, timeout=280)
    assert (other.returncode, "begun with skip=attested, not off" in other.stderr) == (2, True), other.stderr
    assert capture(kept.base, site) == last
    pages = pages_of(last)
    assert len(pages) == PAGES + 1
    assert [page["evidence"] for page in pages.values()].count("former") > PAGES - 12
    assert {"/9", "/11"} <= {page["url"].removeprefix(site.url.rstrip("/")) for page in pages.values() if asked(page)}
    assert verify(last, [one.folder for one in collection.captures()][:-1]).findings == []


@pytest.mark.long
def test_what_was_not_asked_for_is_confirmed_once_the_lag_is_over(kept):
    """A page of it that turns out to have changed before T is claimed no longer."""
    kept.site.edit(1)
    last = capture(kept.base, kept.site, lag="2")
    before = pages_of(last)
    provisional = {url for url, page in before.items() if page["evidence"] == "provisional"}
    taken = {url for url in provisional if not asked(before[url])}
    assert len(taken) > PAGES - 12
    late = min(taken - {kept.site.url}, key=len)
    kept.site.changed[int(late.rsplit("/", 1)[1])] = reference(last) - 1.0
    time.sleep(max(0.0, waits(last).due + 1 - time.time()))
    settings = "-s", "SHARC_OPERATOR=a@example.org"
    command = Path(sys.executable).with_name("sharc"), "confirm", last, *settings
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    left = {one["url"]: one["evidence"] for one in confirmation_of(last)["pages"]}
    assert late in left and len(left) < 3, "and the page whose change the sitemap had told of"
    former = [one.folder for one in Collection(kept.base / "kept").captures() if one.folder != last]
    assert verify(last, former).findings == []


@pytest.mark.long
def test_a_lie_that_the_audit_finds_costs_its_kind_the_claim(kept):
    kept.site.edit(*range(PAGES), silently=True)
    last = capture(kept.base, kept.site)
    (found,) = captures_of(last)
    assert found["audit"]["lies"] > 0
    evidence = [page["evidence"] for page in pages_of(last).values()]
    assert "former" not in evidence and "attested" not in evidence
    assert verify(last, [one.folder for one in Collection(kept.base / "kept").captures()][:-1]).findings == []
    kept.site.edit(1)
    capture(kept.base, kept.site)
    assert len([path for path in kept.site.asked if path.strip("/").isdigit()]) >= PAGES, "it is asked for all again"


def reference(folder: Path) -> float:
    document = json.loads((folder / "certificate.json").read_text())
    return unix(document["subsites"][0]["reference"]["instant"])


def asked(page: dict) -> bool:
    return page["visit"]["attempts"] > 0


def taken_so_far(folder: Path) -> int:
    return sum(not one.attempt for one in load_state(folder).visits) if any(folder.glob("*.open")) else 0
