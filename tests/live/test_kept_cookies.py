"""A log-in that is cut off while its callback runs: what it yielded is asked for with its cookies all the same."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

from tests.live.serving import serving
from tests.live.warm import finished

SPIDER = """
import asyncio, os, pathlib, scrapy

class Member(scrapy.Spider):
    name = "member"

    async def start(self):
        yield scrapy.Request(self.url + "login")

    async def parse(self, response):
        yield scrapy.Request(self.url + "inside", callback=self.inside)
        if not pathlib.Path("killed").exists():
            while not pathlib.Path("inside").exists():
                await asyncio.sleep(0.02)
            pathlib.Path("killed").touch()
            os.kill(os.getpid(), 9)

    def inside(self, response):
        yield {"url": response.url}
"""


def test_requests_of_a_log_in_that_is_cut_off_have_its_cookies(tmp_path) -> None:
    cookies: list[str] = []
    killed, inside = threading.Event(), threading.Event()

    class Members(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"hello"
            if self.path == "/inside":
                cookies.append(self.headers.get("Cookie", ""))
                (tmp_path / "inside").touch()
                if len(cookies) == 1:
                    killed.wait(240)  # no answer comes in time
                inside.set()
            elif cookies:
                inside.wait(1)  # the second log-in takes longer than it takes to go inside, where that is asked for
            self.send_response(404 if self.path == "/robots.txt" else 200)
            if self.path == "/login":
                self.send_header("Set-Cookie", "session=s1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    (tmp_path / "member.py").write_text(SPIDER)
    with serving(Members) as url:
        addons = json.dumps({"sharc_crawler.live.addon.SharcAddon": 500})
        chosen = (
            f"ADDONS={addons}",
            "SHARC_OUTPUT=capture",
            "SHARC_RESUME=True",
            "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8",
        )
        words = ["runspider", "member.py", "-a", f"url={url}", "-o", "items.jsonl"]
        words += [text for one in (*chosen, "TELNETCONSOLE_ENABLED=False") for text in ("-s", one)]
        assert finished(words, tmp_path, os.environ).returncode == -9
        killed.set()
        done = finished(words, tmp_path, os.environ)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "items.jsonl").read_text().splitlines()) == 1, done.stderr
    assert set(cookies) == {"session=s1"}
