"""Servers that add what changes at every download: one packs every answer anew, one has texts that are edited, too."""

from __future__ import annotations

import gzip
import json
from http.server import BaseHTTPRequestHandler
from itertools import count, repeat
from types import MappingProxyType

import numpy as np
import pytest
from click.testing import CliRunner

from sharc_crawler.changes.masks import load_masks
from sharc_crawler.cli import main
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.storage.observations import ObservationStore
from tests.live.serving import Answering, serving

FILLER = "<p>Words that make up a page, many of them, as pages have.</p>" * 8
LINKS = "".join(f"<a href=/{name}>{name}</a>" for name in ("plain", "nonce", "counter", "edited"))


class _Noisy(Answering, BaseHTTPRequestHandler):
    numbers = count(1)  # of answers

    def do_GET(self) -> None:
        number = next(self.numbers)
        noise = {
            "/nonce": f"<script nonce={number}></script>",
            "/counter": f"<div id=seen>Seen {number} times</div>",
            "/edited": f"<p>Edition {number}</p>",
        }
        known = self.path in ("/", "/plain", *noise)
        page = f"<html><body>{FILLER}{LINKS if self.path == '/' else ''}{noise.get(self.path, '')}</body></html>"
        body = gzip.compress(page.encode(), mtime=number)
        self.answer(body, status=200 if known else 404, Content_Encoding="gzip")


@pytest.fixture(scope="module")
def captures(run_crawl, tmp_path_factory):
    """The site captured twice with one history, the second time with a mask for the counter."""
    folder = tmp_path_factory.mktemp("noisy")
    masks = {"version": 1, "masks": [{"path": "//*[@id='seen']", "pattern": r"Seen \d+ times"}]}
    (folder / "masks.json").write_text(json.dumps(masks))
    common = {
        "strategy": "bfs:revisits=fifo",
        "delay": "0",
        "sitemap": "off",
        "history": str(folder / "history.sqlite"),
    }
    with serving(_Noisy) as url:
        first = run_crawl(folder, url=url, output=str(folder / "first"), **common)
        second = run_crawl(folder, url=url, output=str(folder / "second"), masks=str(folder / "masks.json"), **common)
    assert (first.code, second.code) == (0, 0), first.err + second.err
    return first, second


def pages(crawl) -> dict[str, dict]:
    found = [page for page in crawl.capture["pages"] if page["kind"] == "page" and page["verdict"]]
    return {page["url"].rpartition("/")[2]: page for page in found}


def test_a_page_that_was_packed_anew_is_coherent_by_bytes(captures):
    plain = pages(captures[0])["plain"]
    assert (plain["verdict"], plain["evidence"]) == ("coherent", "bytes")
    assert plain["visit"]["digest"] != plain["revisit"]["digest"]
    assert plain["reason"] == "equal bytes before and after, once unpacked"


def test_noise_is_told_from_edits_and_is_no_evidence(captures):
    first, second = map(pages, captures)
    assert {name: page["fingerprint_equal"] for name, page in first.items() if name} == {
        "plain": True,
        "nonce": True,
        "counter": False,
        "edited": False,
    }
    assert second["counter"]["fingerprint_equal"]
    assert not second["edited"]["fingerprint_equal"]
    for page in (first["nonce"], second["counter"]):
        assert page["verdict"] == "changed"


def test_rates_go_by_content_and_the_report_says_so(captures):
    first, second = captures
    assert first.capture["settings"]["masks"] == ""
    assert second.capture["settings"]["masks"] == str(first.folder.parent / "masks.json")
    for crawl, noise in ((first, 1), (second, 2)):
        coherence = crawl.capture["coherence"]
        assert coherence["same_content"] == noise
        assert coherence["expected"]["same_content"] == coherence["expected"]["counted"] + noise
    assert "3 of 5 pages kept their content (2 coherent)" in first.out
    with ObservationStore(first.folder.parent / "history.sqlite") as store:
        (site,) = store.sites()
        history = store.histories(site)
    own = zip(history.urls, np.split(history.changed, history.offsets[1:-1]), strict=True)
    bits = {url.rpartition("/")[2]: bit for url, bit in own}
    assert bits["nonce"].tolist() == [UNKNOWN, *[UNCHANGED] * 3]
    assert bits["counter"].tolist() == [UNKNOWN, CHANGED, UNKNOWN, UNCHANGED], "from the second capture on it is masked"
    assert bits["edited"].tolist() == [UNKNOWN, CHANGED, UNKNOWN, CHANGED], "of the time between, nobody can tell"


def test_the_next_capture_compares_unpacked_pages(captures):
    with ObservationStore(captures[0].folder.parent / "history.sqlite") as store:
        (site,) = store.sites()
        changes = [one.change for one in store.observations(site) if one.url.endswith("/plain")]
    assert changes == ["unknown", "unchanged", "unchanged", "unchanged"]


def test_the_certificate_holds(captures):
    done = CliRunner().invoke(main, ["verify", str(captures[0].folder)])
    assert done.exit_code == 0, done.output
    lines = (captures[0].folder / "certificate-pages.jsonl").read_text().splitlines()
    methods = {page["url"].rpartition("/")[2]: page["reason"] for page in map(json.loads, lines)}
    assert methods["plain"] == "equal-unpacked"


class _News(Answering, BaseHTTPRequestHandler):
    """News, of which four in ten are edited between any two requests, with ETags; forms that number each answer."""

    names = (*(f"news-{n}" for n in range(10)), *(f"form-{n}" for n in range(4)))
    edited = MappingProxyType({name: count(10 * n) for n, name in enumerate(names[:4], 1)})  # their versions
    numbers = count(1)

    def do_GET(self) -> None:
        name = self.path.strip("/")
        if name not in self.names:
            body = "".join(f"<a href=/{one}>{one}</a>" for one in self.names)
            return self.answer(body.encode(), status=404 if name else 200)
        if name.startswith("form"):
            return self.answer(f"<title>{name}</title>{FILLER}<p id=asked>Answer {next(self.numbers)}".encode())
        version = next(self.edited.get(name, repeat(1)))
        if self.headers.get("If-None-Match") == f'"{version}"':
            return self.answer(b"", status=304, ETag=f'"{version}"')
        text = f"<title>{name}</title>{FILLER}<p id=text>Version {version} of the text</p>"
        return self.answer(text.encode(), ETag=f'"{version}"')


@pytest.mark.long
def test_texts_that_are_edited_on_some_pages_are_no_noise_beside_what_is_made_up_for_each_answer(run_crawl, tmp_path):
    with serving(_News) as url:
        done = run_crawl(tmp_path, url=url, output=str(tmp_path / "news"), delay="0", sitemap="off")
    assert done.code == 0, done.err
    assert "but for what this capture learned to ignore)" in done.out
    assert [mask.path for mask in load_masks(done.folder / "learned-masks.json")] == ["//*[@id='asked']"]
    twice = {name: page for name, page in pages(done).items() if page["revisit"]}  # one page alone was T itself
    assert {name for name, page in twice.items() if page["content"] == "changed"} == twice.keys() & _News.edited.keys()
    assert sum(page["verdict"] == "changed" for page in twice.values()) >= 7
    again = CliRunner().invoke(main, ["masks", str(done.folder)]).output
    assert "1 learned" in again, again
    assert "//*[@id='asked']" in again.splitlines()[0]
