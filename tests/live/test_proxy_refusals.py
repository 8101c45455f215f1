"""A proxy that wants a password, or opens no connection, is told in plain words, and not asked for minutes."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from scrapy import Request

from sharc_crawler.changes.http import classify
from sharc_crawler.links.robots import DISALLOW_ALL, missing, rules_text
from sharc_crawler.live.failures.error_texts import plain
from sharc_crawler.model import Outcome
from tests.live import warm
from tests.live.wire_servers import handler, in_loop, saying, serving

PASSWORD = "the proxy wants a user and a password"


@pytest.fixture
def proxy():
    """The address of one that answers 407, and what it was asked."""
    asked = []

    class Refusing(BaseHTTPRequestHandler):
        def refuse(self):
            asked.append(self.requestline)
            self.send_response(407)
            self.send_header("Proxy-Authenticate", "Basic realm=x")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_CONNECT = refuse  # noqa: N815

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_password_is_named_at_once(proxy, tmp_path, scheme):
    address, asked = proxy
    words = warm.site_words(url=f"{scheme}://127.0.0.1:9/", output="capture", delay="0")
    named = {"http_proxy": address, "https_proxy": address, "no_proxy": ""}
    done = warm.finished(words, tmp_path, {**os.environ, **named, "SCRAPY_SETTINGS_MODULE": warm.PROFILE}, timeout=280)
    assert done.returncode == 4, done.stderr
    assert PASSWORD in done.stdout, done.stdout
    assert len(asked) == 1, "for robots.txt: nothing else is fetched without its rules"
    again = warm.finished(words, tmp_path, {**os.environ, **named, "SCRAPY_SETTINGS_MODULE": warm.PROFILE}, timeout=280)
    assert (again.returncode, len(asked)) == (4, 2), "the same command tries again, once the proxy has its password"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"407 Proxy Authentication Required", f"closed by the proxy {{}}: status 407: {PASSWORD}"),
        (b"403 Forbidden", "closed by the proxy {}: status 403"),
        (b"502 Bad Gateway", "the proxy {} opens no connection: status 502"),
    ],
)
@in_loop
async def test_a_tunnel_that_is_not_opened_is_told_in_words(answer, said):
    async with serving(saying(b"HTTP/1.1 " + answer + b"\r\n\r\n")) as server, handler() as tap:
        with pytest.raises(Exception, match="CONNECT") as refused:
            await tap.download_request(Request("https://127.0.0.1:9/", meta={"proxy": server.url}))
        assert plain(refused.value) == said.format(f"127.0.0.1:{server.port}")


def test_a_407_is_no_word_of_the_host_that_there_is_no_robots_txt():
    answered = Outcome(classify(407, None), 0.0, 1.0, status=407)
    assert missing(answered) == f"could not be read (status 407: {PASSWORD})"
    assert rules_text(answered) == DISALLOW_ALL
    assert missing(Outcome(classify(403, None), 0.0, 1.0, status=403)) == ""
