"""A server that packs every answer anew and adds what changes at every download."""

from __future__ import annotations

import gzip
import json
from http.server import BaseHTTPRequestHandler
from itertools import count

import numpy as np
import pytest
from click.testing import CliRunner

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
