"""Why there was no answer, in plain words, whatever Scrapy, Twisted and OpenSSL call it: over real sockets."""

from __future__ import annotations

import socket

import pytest
from scrapy import Request

from sharc_crawler.live.failures.error_texts import plain
from tests.live.wire_servers import handler, in_loop, saying, serving, tls_context

OK = b"HTTP/1.1 200 OK\r\n"


async def words(url: str, **settings) -> str:
    async with handler(**settings) as tap:
        try:
            response = await tap.download_request(Request(url, meta={"download_timeout": 20}))
        except Exception as error:
            return plain(error)
    return f"answered: {response.status}"


async def reset(peer) -> None:
    await peer.heard()
    peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1" + bytes(7))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (saying(), "connection closed before an answer"),
        (saying(OK + b"X: "), "connection closed before an answer"),
        (reset, "connection broken off before an answer"),
        (saying(b"SSH-2.0-x\r\n"), "no valid HTTP: wrong number of parts"),
        (saying(b"HTTP/1.1 two OK\r\n"), "no valid HTTP: non-integer status code"),
        (saying(OK + b"Content-Length: 2,3\r\n\r\n"), "no valid HTTP: conflicting Content-Length headers: b'2,3'"),
        (saying(OK + b"Transfer-Encoding: br\r\n\r\n"), "no valid HTTP: unknown transfer coding br"),
        (saying(OK + 40_000 * (b"X: " + 30 * b"y" + b"\r\n"), hang=True), "headers without end"),
    ],
)
@in_loop
async def test_answers_that_are_none(script, said):
    async with serving(script) as server:
        assert await words(server.url) == said


@in_loop
async def test_connections_that_are_not_made():
    with socket.socket() as unheard:  # nobody listens there
        unheard.bind(("127.0.0.1", 0))
        assert await words(f"http://127.0.0.1:{unheard.getsockname()[1]}/") == "connection refused"
    everywhere = {"SHARC_ALLOWED_ADDRESSES": ["0.0.0.0/0"]}
    assert await words("http://255.255.255.255/", **everywhere) == "no connection: network is unreachable"
    assert (await words("http://10.1.2.3/")).startswith("host '10.1.2.3' is at 10.1.2.3, a private address")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", f"{'a' * 64}.example"])
@in_loop
async def test_names_of_no_host_are_told_at_once(host):
    assert await words(f"http://{host}/") == "no such host"


@in_loop
async def test_a_certificate_that_nobody_vouches_for(tmp_path):
    async with serving(saying(OK + b"\r\n"), tls_context(tmp_path)) as server:
        assert await words(server.url, DOWNLOAD_VERIFY_CERTIFICATES=True) == "the TLS certificate is not trusted"
