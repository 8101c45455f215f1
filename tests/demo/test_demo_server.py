"""The living site over real sockets."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.demo.layout import FLAKY, SLOW
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.demo import DemoServer

NOW = 1.7e9


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serve(LivingSite(pages=60, slow=0.5), clock=lambda: NOW) as running:
        yield running


def address(server: DemoServer) -> tuple[str, int]:
    parts = urlsplit(server.url)
    return str(parts.hostname), int(parts.port or 0)


def connect(server: DemoServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*address(server), timeout=120)


def talk(server: DemoServer, request: bytes) -> bytes:
    """What comes back until the server closes; the test must send what makes it close."""
    with socket.create_connection(address(server), timeout=120) as raw:
        raw.sendall(request)
        return b"".join(iter(lambda: raw.recv(65_536), b""))


@pytest.mark.slow
def test_2000_requests_over_16_connections_get_the_site_s_own_bytes(server: DemoServer) -> None:
    site, host = server.site, urlsplit(server.url).netloc
    targets = [path for path in (*site.paths, *site.resources, "/sitemap.xml", "/nothing") if path not in (SLOW, FLAKY)]
    expected = {target: site.respond("GET", target, {"Host": host}, NOW) for target in targets}

    def client(number: int) -> int:
        with closing(connect(server)) as connection:
            for i in range(125):
                target = targets[(number * 125 + i) % len(targets)]
                connection.request("GET", target)
                answer = connection.getresponse()
                assert (answer.status, answer.read()) == (expected[target].status, expected[target].body)
                assert answer.getheaders() == list(expected[target].headers)
        return number

    before = len(server.log)
    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(client, range(16), timeout=280)) == list(range(16))
    assert len(server.log) == before + 2000


def test_one_connection_is_kept_for_many_requests(server: DemoServer) -> None:
    with closing(connect(server)) as connection:
        connection.request("GET", "/")
        etag = connection.getresponse()
        etag.read()
        first = connection.sock
        for method, headers, status in (
            ("HEAD", {}, 200),
            ("GET", {"If-None-Match": etag.headers["ETag"]}, 304),
            ("POST", {}, 405),
            ("GET", {}, 200),
        ):
            connection.request(method, "/", body=b"form=1" if method == "POST" else None, headers=headers)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (status, (method, status) == ("GET", 200))
        assert connection.sock is first


def test_pipelined_requests_are_answered_in_their_order(server: DemoServer) -> None:
    targets = ["/", "/news/", "/docs/", "/nothing", "/style.css"]
    requests = [f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n" for target in targets]
    answer = talk(
        server, "".join(requests).replace("css HTTP/1.1\r\n", "css HTTP/1.1\r\nConnection: close\r\n").encode()
    )
    for target in targets:
        body = server.site.respond("GET", target, {}, NOW).body
        head, _, rest = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 ")
        assert rest[: len(body)] == body
        answer = rest[len(body) :]
    assert answer == b""


def test_a_request_may_come_in_pieces(server: DemoServer) -> None:
    with socket.create_connection(address(server), timeout=120) as raw:
        for byte in b"GET /robots.txt HTTP/1.1\r\nHost: x\r\n\r\n":
            raw.sendall(bytes([byte]))
        assert raw.recv(15) == b"HTTP/1.1 200 OK"


def test_an_old_client_is_answered_and_the_connection_closed(server: DemoServer) -> None:
    answer = talk(server, b"GET / HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (b"nonsense\r\n\r\n", b"not a request line"),
        (b"GET /\r\n\r\n", b"not a request line"),
        (b"GET / HTTP/2.0\r\n\r\n", b"not a request line"),
        (b"GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n", b"not a request line"),
        (b"\x16\x03\x01 TLS\r\n\r\n", b"not a request line"),
        (b"GET / HTTP/1.1\r\n\r\n", b"no Host header"),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", b"not a header"),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"not a header"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"a body that"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"a body that"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"a body that"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b""),
    ],
)
def test_what_is_no_request_is_refused(server: DemoServer, request_: bytes, reason: bytes) -> None:
    answer = talk(server, request_)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert reason in answer


def test_a_client_that_hangs_up_harms_nobody(server: DemoServer, caplog: pytest.LogCaptureFixture) -> None:
    for part in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
        with socket.create_connection(address(server), timeout=120) as raw:
            raw.sendall(part)
    with closing(connect(server)) as connection:
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
    assert not caplog.records


def test_the_slow_page_comes_in_its_time(server: DemoServer) -> None:
    with closing(connect(server)) as slow:
        began = time.monotonic()
        slow.request("GET", SLOW)
        assert slow.getresponse().status == 200
        assert time.monotonic() >= began + 0.5


def test_the_slow_page_keeps_nobody_else_waiting() -> None:
    with (
        serve(LivingSite(pages=60, slow=600)) as server,
        closing(connect(server)) as slow,
        closing(connect(server)) as quick,
    ):
        slow.request("GET", SLOW)
        bound = time.monotonic() + 240
        while not server.log:
            assert time.monotonic() < bound
        quick.request("GET", "/")
        assert quick.getresponse().status == 200
        slow.sock.setblocking(False)
        with pytest.raises(BlockingIOError):  # nothing has come yet
            slow.sock.recv(1)


def test_the_log_says_what_was_asked_and_answered() -> None:
    site = LivingSite(pages=60, no_validators=0.0)
    clock = iter([NOW, NOW + 1, NOW + 2]).__next__
    with serve(site, clock=clock) as server, closing(connect(server)) as connection:
        for method, headers in (("GET", {}), ("HEAD", {}), ("GET", {"If-None-Match": "*"})):
            connection.request(method, "/?a=1", headers=headers)
            connection.getresponse().read()
    assert [tuple(request) for request in server.log] == [
        (NOW, "GET", "/?a=1", 200, False),
        (NOW + 1, "HEAD", "/?a=1", 200, False),
        (NOW + 2, "GET", "/?a=1", 304, True),
    ]


def test_pages_change_as_the_clock_moves() -> None:
    site = LivingSite(pages=60)
    hot = max(site.paths, key=site.rate)
    change = site.changes(hot, NOW, NOW + 1000)[0]
    instants = [change - 0.001, change, change + 1e-6]
    with serve(site, clock=iter(instants).__next__) as server, closing(connect(server)) as connection:
        bodies = []
        for _ in instants:
            connection.request("GET", hot)
            bodies.append(connection.getresponse().read())
    assert bodies[0] != bodies[1] == bodies[2]


def test_it_ends_with_the_block_even_under_open_connections() -> None:
    threads = threading.active_count()
    with serve(LivingSite(pages=60, slow=60)) as server:
        idle, busy = connect(server), connect(server)
        idle.request("GET", "/")
        idle.getresponse().read()
        busy.request("GET", SLOW)
        bound = time.monotonic() + 240
        while len(server.log) < 2:
            assert time.monotonic() < bound
    assert threading.active_count() == threads
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(address(server), timeout=120)
    for connection in (idle, busy):
        assert connection.sock.recv(1) == b""
        connection.close()


def test_a_taken_port_is_named() -> None:
    with serve(LivingSite(pages=60)) as server:
        _, port = address(server)
        with pytest.raises(UsageError, match=f"port={port} cannot be served on 127.0.0.1: .*in use.*; port 0"):
            serve(LivingSite(pages=60), port=port).__enter__()


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no host", 0), ("203.0.113.1", 0)])
def test_what_cannot_be_served_is_named(host: str, port: int) -> None:
    with pytest.raises(UsageError, match=f"port={port} cannot be served on {host}: "):
        serve(LivingSite(pages=60), host=host, port=port).__enter__()


def test_it_serves_on_other_loopback_addresses() -> None:
    with serve(LivingSite(pages=60), host="127.0.0.9") as server, closing(connect(server)) as connection:
        assert server.url.startswith("http://127.0.0.9:")
        connection.request("GET", "/robots.txt")
        assert f"Sitemap: {server.url}sitemap.xml\n" in connection.getresponse().read().decode()
