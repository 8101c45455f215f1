"""Packed bodies that end too early, or have more behind their end, whole by their length: what they show of a page."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import brotli

from sharc_crawler.certificate.verify import verify
from tests.live.serving import Answering, serving

BODY = b"<title>one</title>" + b"".join(b"<p>%d" % (number * number) for number in range(400))
PACK = {"gzip": partial(gzip.compress, mtime=0), "deflate": zlib.compress, "br": brotli.compress}
STATES = {
    "whole": lambda packed: packed,
    "cut": lambda packed: packed[: len(packed) // 2],
    "bare": lambda packed: packed[:1],
    "junk": lambda packed: packed + b"junk",
    "member": lambda packed: packed + packed[:20],
    "plain": lambda _: BODY,
}
#: by what visit and revisit bring of one and the same page
EXPECTED = {
    ("whole", "whole"): "coherent",
    ("whole", "cut"): "unknown",
    ("cut", "whole"): "unknown",
    ("cut", "cut"): "unknown",
    ("bare", "bare"): "unknown",
    ("whole", "junk"): "unknown",
    ("junk", "junk"): "coherent",
    ("plain", "whole"): "unknown",
    ("plain", "plain"): "coherent",
}
FRAMED = ("whole", "whole"), ("whole", "cut"), ("cut", "cut")
PATHS = {f"length/gzip/{first}/{second}": verdict for (first, second), verdict in EXPECTED.items()}
PATHS |= {f"{way}/gzip/{one}/{two}": EXPECTED[one, two] for way in ("chunked", "tagged") for one, two in FRAMED}
PATHS |= {f"length/{coding}/{one}/{two}": EXPECTED[one, two] for coding in ("deflate", "br") for one, two in FRAMED}
PATHS |= {f"renamed/gzip/{one}/{one}": EXPECTED[one, one] for one in ("whole", "cut", "junk")}
#: the same bytes, stored once, at several addresses: files at some, packed on the way at others, and later packed anew
PATHS |= {f"{way}/gzip/whole/whole": "coherent" for way in ("file1", "anew1", "anew2", "file2")}
#: a second answer as an error brought before
PATHS |= {"odd/gzip/whole/junk": "unknown"}
PATHS |= {f"length/gzip/{first}/member": "unknown" for first in ("whole", "member")}


class _Cutting(Answering, BaseHTTPRequestHandler):
    def __init__(self, visits: Counter[str], asked: list[str], *args: Any) -> None:
        self._visits, self._asked = visits, asked
        super().__init__(*args)

    def do_GET(self) -> None:
        framed, *told = self.path[1:].split("/")
        if self.path == "/":
            return self.answer(
                "".join(f"<a href='/{path}'>a</a>" for path in ("gone1", *PATHS, "moved", "gone2")).encode()
            )
        if self.path[1:] not in PATHS:
            body = gzip.compress(BODY)[:50] if self.path == "/moved" else gzip.compress(BODY, mtime=3) + b"junk"
            status = 301 if self.path == "/moved" else 404
            return self.answer(body, status=status, Content_Encoding="gzip", Location="/")
        self._visits[self.path] += 1
        if "If-None-Match" in self.headers:
            self._asked.append(self.path)
        again = self._visits[self.path] > 1
        mtimes = {"anew1": 1 + again, "anew2": 1 + again, "file1": 1, "file2": 1, "odd": 3}
        packed = gzip.compress(BODY, mtime=mtimes[framed]) if framed in mtimes else PACK[told[0]](BODY)
        body = STATES[told[1 + again]](packed)
        headers = {"ETag": '"1"'} if framed == "tagged" else {}
        if "file" not in framed:
            headers["Content_Encoding"] = "deflate" if again and framed == "renamed" else told[0]
        if framed != "chunked":
            return self.answer(body, **headers)
        self.send_response(200)
        for name, value in {"Content-Type": "text/html", "Transfer-Encoding": "chunked", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        return None


def test_a_packed_body_without_its_end_shows_nothing_in_the_capture_nor_in_its_verification(crawl) -> None:
    asked: list[str] = []
    with serving(partial(_Cutting, Counter(), asked)) as url:
        done = crawl(url=url, delay=0, strategy="sharc-selective")
    assert done.code == 0, done.err
    judged = {page["url"].removeprefix(url): page["verdict"] for page in done.capture["pages"]}
    assert {path: judged[path] for path in PATHS} == PATHS
    assert not {path for path in asked if path.split("/")[3] in ("cut", "bare")}, "a part is asked for in full"
    assert any(path.split("/")[3] == "whole" for path in asked)
    assert "do not support" not in done.out
    assert verify(done.folder).findings == []
