"""A real site: a part of the Python documentation as Debian ships it (package python3-doc)."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from warcio.archiveiterator import ArchiveIterator

DOCUMENTATION = Path("/usr/share/doc/python3-doc/html")


@pytest.mark.skipif(not DOCUMENTATION.is_dir(), reason=f"{DOCUMENTATION} is not there: install python3-doc")
@pytest.mark.long
@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs"])
def test_every_page_is_captured_as_often_as_visited_and_byte_for_byte(crawl, static, strategy):
    with static(DOCUMENTATION, "127.0.0.3") as url:
        done = crawl(url=f"{url}howto/index.html", scope="prefix", strategy=strategy, delay="0", sitemap="off")
    assert done.code == 0, done.err
    pages = [page for page in done.capture["pages"] if page["kind"] == "page"]
    files = {f"/howto/{file.name}" for file in (DOCUMENTATION / "howto").glob("*.html")}
    assert {urlsplit(page["url"]).path for page in pages} == files
    assert all(page["verdict"] == "coherent" for page in pages)
    revisits = Counter(page["url"] for page in pages if page["revisit"] is not None)
    tested = Counter({page["url"]: page["revisit"]["attempts"] - 1 for page in pages if page["revisit"]})  # 304s
    assert sum(tested.values()) <= done.capture["audit"]["audited"]
    visits = Counter(page["url"] for page in pages) + revisits + tested
    stored, bodies = Counter(), {}
    for warc in done.warcs:
        with gzip.open(warc) as stream:
            while stream.read(1 << 20):
                pass
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                target = record.rec_headers.get_header("WARC-Target-URI")
                if record.rec_type in ("response", "revisit"):
                    stored[target] += 1
                if record.rec_type == "response":
                    bodies[target] = record.content_stream().read()
    assert {url: stored[url] for url in visits} == visits
    for page in random.Random(1).sample(sorted(bodies), 20):
        path = unquote(urlsplit(page).path)
        if path != "/robots.txt":
            assert bodies[page] == (DOCUMENTATION / path[1:]).read_bytes()
