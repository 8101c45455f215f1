"""Certificates whose names cannot be read are archived as other untrusted ones, and refused where all are verified."""

from __future__ import annotations

import pytest
from cryptography import x509
from scrapy import Request
from scrapy.exceptions import DownloadFailedError

from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from tests.live.wire_servers import OK, handler, in_loop, serving, tls_context

NAMES = {
    "an address as text": b"\x30\x0b\x87\x09127.0.0.1",
    "a name beyond ASCII": b"\x30\x06\x82\x04\xe4\xff\x00a",
}


def context(folder, names):
    """A server's, with a certificate that has these bytes for its alternative names."""
    return tls_context(folder, names=x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), names))


async def site(peer):
    await peer.heard()
    await peer.say(OK + b"Content-Length: 4\r\n\r\nsite")


@pytest.mark.parametrize("names", NAMES)
@in_loop
async def test_names_that_cannot_be_read_are_a_fault_like_others(tmp_path, names):
    async with serving(site, context(tmp_path, NAMES[names])) as server, handler() as tap:
        request = Request(f"https://127.0.0.1:{server.port}/")
        response = await tap.download_request(request)
    assert response.body == b"site"
    assert "not issued for this name" in request.meta[EXCHANGE_KEY].untrusted


@in_loop
async def test_where_certificates_are_verified_they_are_refused(tmp_path):
    async with (
        serving(site, context(tmp_path, NAMES["an address as text"])) as server,
        handler(DOWNLOAD_VERIFY_CERTIFICATES=True) as tap,
    ):
        with pytest.raises(DownloadFailedError):
            await tap.download_request(Request(f"https://127.0.0.1:{server.port}/"))
