"""Second captures of servers that pack what they send, as web servers do by default."""

from __future__ import annotations

import gzip
from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.collection.folder import Collection
from tests.live import warm
from tests.live.serving import Answering, serving

DATE = "Wed, 18 Nov 2026 10:00:00 GMT"
PAGES = {f"/{number}.html": f"<title>{number}</title>page {number}".encode() for number in range(8)}
FRONT = "".join(f"<a href={path}>{path}</a>" for path in PAGES).encode()


class _Conditional(Answering, BaseHTTPRequestHandler):
    """As nginx: a weak ETag at what is packed, the strong one at a 304."""

    def do_GET(self) -> None:
        if self.headers.get("If-None-Match"):
            self.answer(b"", "text/html", 304, ETag='"1"', Last_Modified=DATE)
        else:
            packed = gzip.compress(_body(self.path), mtime=0)
            self.answer(packed, ETag='W/"1"', Last_Modified=DATE, Content_Encoding="gzip")


class _Suffixed(Answering, BaseHTTPRequestHandler):
    """An ETag with an ending at what is packed, and without it at the 304 to just that."""

    def do_GET(self) -> None:
        if self.headers.get("If-None-Match") == '"1-gzip"':
            self.answer(b"", "text/html", 304, ETag='"1"', Last_Modified=DATE)
        else:
            packed = gzip.compress(_body(self.path), mtime=0)
            self.answer(packed, ETag='"1-gzip"', Last_Modified=DATE, Content_Encoding="gzip")


class _ByTurns(Answering, BaseHTTPRequestHandler):
    """As two servers behind one name, of which one packs."""

    asked: Counter[str]

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        if self.asked[self.path] % 2:
            self.answer(gzip.compress(_body(self.path), mtime=0), Content_Encoding="gzip")
        else:
            self.answer(_body(self.path))


def _body(path: str) -> bytes:
    return {**PAGES, "/": FRONT}.get(path, b"User-agent: *")


@pytest.mark.slow
@pytest.mark.parametrize("handler", [_Conditional, _Suffixed, pytest.param(_ByTurns, marks=pytest.mark.long)])
def test_a_second_capture_of_a_server_that_packs_is_borne_out(tmp_path, handler) -> None:
    """What it judges by lies packed in the first capture."""
    with serving(type("Server", (handler,), {"asked": Counter()})) as url:
        for _ in range(2):
            words = warm.site_words(collection=str(tmp_path / "kept"), delay="0", url=url)
            done = warm.finished(words, tmp_path, timeout=280)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "9 coherent" in done.stdout
    first, second = Collection(tmp_path / "kept").captures()
    alone, beside = verify(second.folder), verify(second.folder, [first.folder])
    assert (alone.findings, beside.findings) == ([], [])
    assert alone.elsewhere > beside.elsewhere == 0
