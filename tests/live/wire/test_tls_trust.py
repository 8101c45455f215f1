"""Certificates whose names cannot be read are archived as other untrusted ones, and refused where all are verified."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from scrapy import Request
from scrapy.exceptions import DownloadFailedError

from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from tests.live.wire_servers import OK, handler, in_loop, serving

NAMES = {
    "an address as text": b"\x30\x0b\x87\x09127.0.0.1",
    "a name beyond ASCII": b"\x30\x06\x82\x04\xe4\xff\x00a",
}


def context(folder, names):
    """A server's, with a certificate that has these bytes for its alternative names."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    extension = x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), names)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(extension, critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (pem := folder / "server.pem").write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pem)
    return made


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
