"""While a large file comes in, the progress says how much of it has come."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from time import sleep

import pytest

from tests.live.serving import Answering, serving

HALF = b"half" * 1_250_000
LOOKS = 600  #: a tenth of a second each, at most


@pytest.mark.slow
def test_a_large_file_under_way_is_told_with_its_bytes(crawl, tmp_path):
    """The other half is sent once the first was told of."""
    status, told = tmp_path / "capture" / "control-status.json", []

    class Site(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/":
                self.answer(b"", status=404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(2 * len(HALF)))
            self.end_headers()
            self.wfile.write(HALF)
            for _ in range(LOOKS):
                if "5 MB of 1 large file received" in (said := status.read_text() if status.exists() else ""):
                    told.append(json.loads(said))
                    break
                sleep(0.1)
            self.wfile.write(HALF)

    with serving(Site) as url:
        done = crawl(url=url, delay=0, sitemap="off", strategy="bfs:revisits=none")
    assert done.code == 0, done.err
    assert told
