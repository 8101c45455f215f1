"""A document over which each of its readers ends, whatever is asked of it: its capture is certified all the same."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.changes.digest import labelled_digest
from tests.live.serving import Answering, serving

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {"/": b"<a href=/fatal>a</a> <a href=/plain>b</a>", "/fatal": b"fatal" * 20_000, "/plain": b"plain"}
_DETECTOR = """
import os
from sharc_crawler.changes.content import ContentDetector as Usual
from sharc_crawler.live.reading import document
parsed = document.parse_response
def fatal(raw):
    if b"fatalfatal" in raw:
        os._exit(3)
    return parsed(raw)
document.parse_response = fatal
"""


class _Site(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(PAGES.get(self.path, b""), status=200 if self.path in PAGES else 404)


@pytest.mark.slow
def test_a_document_over_which_each_reader_ends_costs_no_certificate(crawl, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(_DETECTOR)
    given = {"delay": 0, "sitemap": "off", "strategy": "bfs:revisits=none"}
    with serving(_Site) as url:
        done = crawl(url=url, **given, settings=["SHARC_DETECTOR=mine.Usual"])
    assert done.code == 0, done.err
    [lost] = [page for page in done.capture["pages"] if page["url"].endswith("/fatal")]
    assert lost["visit"]["digest"] == labelled_digest(PAGES["/fatal"])
    assert any("ended (exit code 3" in note for note in done.capture["notes"])
    assert verify(tmp_path / "capture").findings == []
