"""A capture signed and stamped: at the end of its crawl, and later where the authority failed then."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from scrapy.settings import Settings

from sharc_crawler.certificate.signatures import read_signer
from sharc_crawler.certificate.verify import Trust, verify
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.live.config import Config
from sharc_crawler.live.wire import authority as module
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.authority import ask
from tests.certificate.domain_owner import DomainOwner
from tests.certificate.test_sealing import key_file
from tests.certificate.time_authority import TimeAuthority, serving
from tests.live.serving import serving as serving_site
from tests.live.test_last_page import EACH_ITS_IMAGE, site

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_crawl_is_signed_and_its_time_stamp_made_up_for(crawl, tmp_path):
    key, authority = key_file(tmp_path / "key.pem"), TimeAuthority(tmp_path / "authority")
    with serving(authority, status=503) as busy, serving_site(site(EACH_ITS_IMAGE)) as url:
        done = crawl(url=url, delay="0.01", sitemap="off", wacz="1", sign=str(key), timestamp=busy)
    assert done.code == 0, done.err
    assert "the capture is whole; try again with: sharc seal" in done.out
    assert "status 503" in done.out
    signer = read_signer("", key)
    (wacz,) = done.folder.glob("*.wacz")
    for path in (done.folder, wacz):
        result = verify(path, trust=Trust(signer))
        assert (result.findings, result.seals.signed["signature.json"], result.seals.stamped) == ([], signer, {})
    with serving(authority) as url:
        said = CliRunner().invoke(main, ["seal", str(done.folder), "--timestamp", url])
    assert (said.exit_code, said.stdout.strip()) == (0, str(done.folder / "timestamp.tsr"))
    assert verify(done.folder, trust=Trust(signer, authority.root)).findings == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sign": "nowhere.pem"}, "sign='nowhere.pem': key 'nowhere.pem' cannot be read"),
        ({"timestamp": "not an address"}, "timestamp='not an address' is not an http(s) URL"),
    ],
)
def test_what_cannot_be_used_is_said_before_the_first_request(crawl, given, said):
    done = crawl(url="http://127.0.0.1:1/", **given)
    assert (done.code, said in done.err, done.folder.exists()) == (2, True, False), done.err


def test_a_name_that_leads_into_the_own_network_is_not_asked(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80))]
    monkeypatch.setattr(module.socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(AddressRefusedError, match=r"10\.0\.0\.1"):
        ask("http://time.example/tsr", b"query", "agent")


def test_an_authority_that_is_not_there_is_said_to_be_so():
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:9/tsr does not answer"):
        ask("http://127.0.0.1:9/tsr", b"query", "agent")


class Endless(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(bytes(1 << 16))

    def log_message(self, *_: object) -> None:
        pass


def test_an_answer_without_end_is_not_waited_for():
    with serving_site(Endless) as url, pytest.raises(DataError, match="more than 1,048,576 bytes"):
        ask(url, b"query", "agent")


@contextmanager
def saying(*parts: bytes) -> Iterator[int]:
    """One who says the first, then the last again and again; gives his port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError), server.accept()[0] as connection:
                for part in parts[:-1]:
                    connection.sendall(part)
                while True:
                    connection.sendall(parts[-1])
                    over.wait(0.05)

        over, thread = Event(), Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        over.set()
        thread.join()


@pytest.mark.parametrize(
    ("scheme", "parts"),
    [
        ("http", (b"HTTP/1.1 200 OK\r\n", b"X")),
        ("http", (b"HTTP/1.1 100 Continue\r\n\r\n",)),
        ("http", (b"HTTP/1.1 200 OK\r\n\r\n", b"X")),
        ("https", (b"\x16\x03\x03\x40\x00", b"X")),
    ],
)
def test_who_says_a_little_again_and_again_is_not_waited_for(monkeypatch, scheme, parts):
    monkeypatch.setattr(module, "LONGEST", 1.0)
    with saying(*parts) as port, pytest.raises(DataError, match="not whole after 1 s"):
        ask(f"{scheme}://127.0.0.1:{port}/", b"query", "agent")


def test_the_key_of_a_domain_needs_an_authority(tmp_path):
    settings = {"SHARC_SIGN": str(DomainOwner(tmp_path).key), "SHARC_OPERATOR": "a@example.org"}
    with pytest.raises(UsageError, match=r"of a domain, .* \(timestamp=URL\)"):
        Config.from_settings(Settings(settings))
    settings["SHARC_TIMESTAMP"] = "https://time.example/tsr"
    assert Config.from_settings(Settings(settings)).sign == settings["SHARC_SIGN"]
