"""Whoever answers by https is archived, as with Scrapy; report and certificate say that nobody checked who it was."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager

from sharc_crawler.certificate.verify import verify
from sharc_crawler.live.middlewares import UNVERIFIED
from tests.live.wire_servers import tls_context


@contextmanager
def secure_site(folder):
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("<a href=b.html>b</a>")
    (folder / "site" / "b.html").write_text("page")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder / "site"))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = tls_context(folder).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(5)


def test_report_and_certificate_say_that_nobody_was_authenticated(crawl, tmp_path):
    with secure_site(tmp_path) as url:
        done = crawl(url=url, delay="0", sitemap="off")
        strict = ("DOWNLOAD_VERIFY_CERTIFICATES=True", "SHARC_ATTEMPTS=1")
        refused = crawl(url=url, delay="0", sitemap="off", settings=strict, output=str(tmp_path / "strict"))
    assert done.code == 0, done.err
    assert UNVERIFIED in done.capture["notes"]
    certificate = json.loads((done.folder / "certificate.json").read_text())
    assert UNVERIFIED in certificate["capture"]["notes"]
    assert verify(done.folder).findings == []
    assert refused.code == 4, refused.out + refused.err
    assert UNVERIFIED not in refused.capture["notes"]
