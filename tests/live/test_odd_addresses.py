"""Addresses that a request spells otherwise than the link that led there: all that is made of a capture agrees."""

from __future__ import annotations

from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from tests.live.serving import Answering, serving

LINKS = (
    "HTTP://LocalHost:{0}/Contact.htm",
    "/q?b=2&a=[1]|é",
    "/%7Eme/a b",
    "/x;y=1?utm_id=3",
)


class _Site(Answering, BaseHTTPRequestHandler):
    def __init__(self, asked: list[str], *args: Any) -> None:
        self._asked = asked
        super().__init__(*args)

    def do_GET(self) -> None:
        self._asked.append(self.path)
        if self.path == "/":
            port = self.server.server_port
            self.answer(
                "".join(f'<a href="{link.format(port)}">a</a>' for link in LINKS).encode(), "text/html;charset=utf-8"
            )
        elif self.path in ("/robots.txt", "/sitemap.xml"):
            self.answer(b"", status=404)
        else:
            self.answer(b"<title>one</title><p>" + self.path.encode())


def test_a_package_of_addresses_that_were_spelt_otherwise_holds(crawl, tmp_path) -> None:
    asked: list[str] = []
    with serving(partial(_Site, asked)) as url:
        done = crawl(url=url.replace("127.0.0.1", "localhost"), delay=0, traps=0)
    assert done.code == 0, done.err
    assert done.capture["coherence"]["captured"] == 1 + len(LINKS)
    assert "/Contact.htm" in asked
    assert not verify(done.folder).findings
    package = tmp_path / "made.wacz"
    made = CliRunner().invoke(main, ["package", str(done.folder), "-o", str(package)])
    assert made.exit_code == 0, made.output
    assert not verify(package).findings
