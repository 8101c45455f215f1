"""Whoever answers by https is archived, as with Scrapy; report and certificate say whose name nobody vouched for."""

from __future__ import annotations

import http.server
import json
import ssl
import threading
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sharc_crawler.certificate.verify import verify

NOW = datetime.now(UTC)
PEM = serialization.Encoding.PEM


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """Issues certificates for addresses."""

    def __init__(self, known_as):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = name(known_as)
        self.certificate = self._signed(self._name, self._key, NOW, x509.BasicConstraints(ca=True, path_length=None))

    def issue(self, folder, address, until):
        """A server's TLS context."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]) if address else None
        private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        pem = folder / "server.pem"
        pem.write_bytes(private + self._signed(name("a server"), key, until, names))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        return context

    def _signed(self, subject, key, until, extension):
        return (
            x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(NOW - timedelta(days=9))
            .not_valid_after(until + timedelta(days=1))
            .add_extension(extension or x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
            .public_bytes(PEM)
        )


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"page" if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def secure(host, context):
    with http.server.ThreadingHTTPServer((host, 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"https://{host}:{server.server_port}/"
        server.shutdown()
        thread.join(5)


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    """Of a trusted authority; so, expired; so, for another name; of one unknown; so, for no name; trusted, for none."""
    trusted = Authority("trusted")
    (tmp_path / "trusted.pem").write_bytes(trusted.certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    issued = {
        "127.0.0.1": trusted.issue(tmp_path, "127.0.0.1", NOW),
        "127.0.0.2": trusted.issue(tmp_path, "127.0.0.2", NOW - timedelta(days=5)),
        "127.0.0.3": trusted.issue(tmp_path, "127.0.0.9", NOW),
        "127.0.0.4": Authority("unknown").issue(tmp_path, "127.0.0.4", NOW),
        "127.0.0.5": Authority("unknown").issue(tmp_path, None, NOW),
        "127.0.0.6": trusted.issue(tmp_path, None, NOW),
    }
    with ExitStack() as open_hosts:
        yield [open_hosts.enter_context(secure(host, context)) for host, context in issued.items()]


def told(notes):
    return [note.split("(")[1].split(")")[0] for note in notes if "not shown to be valid" in note]


def test_report_and_certificate_say_which_hosts_were_not_authenticated(crawl, hosts, tmp_path):
    done = crawl(url=",".join(hosts), delay="0", sitemap="off")
    assert done.code == 0, done.err
    captures = sorted(done.captures, key=lambda capture: hosts.index(capture["seeds"][0]))
    unknown = "unable to get local issuer certificate"
    unnamed = "not issued for this name"
    why = ["certificate has expired", unnamed, unknown, f"{unknown}; {unnamed}", unnamed]
    assert [told(capture["notes"]) for capture in captures] == [[], *([reason] for reason in why)]
    certificates = [json.loads(path.read_text())["capture"] for path in done.folder.glob("*/certificate.json")]
    assert sorted(told(one["notes"]) for one in certificates) == [[], *([reason] for reason in sorted(why))]
    assert verify(done.folder).findings == []
    assert "certificate is not" not in done.err, "the notes say it, once"
    (note,) = (note for note in captures[1]["notes"] if "TLS" in note)
    assert note.startswith(f"{hosts[1].split('/')[2]}: its TLS certificate is not shown to be valid (")


def test_asked_to_verify_nobody_unknown_is_archived(crawl, hosts):
    strict = ("DOWNLOAD_VERIFY_CERTIFICATES=True", "SHARC_ATTEMPTS=1")
    done = crawl(url=",".join([hosts[0], *hosts[2:]]), delay="0", sitemap="off", settings=strict)
    assert done.code == 4, done.out + done.err
    captured = {capture["seeds"][0]: capture["coherence"]["captured"] for capture in done.captures}
    assert captured == {hosts[0]: 1, hosts[2]: 0, hosts[3]: 0, hosts[4]: 0, hosts[5]: 0}
    assert "robots.txt could not be read (the TLS certificate is not trusted)" in done.out
    assert "robots.txt could not be read (the TLS certificate is not issued for this name)" in done.out
    assert "Traceback" not in done.err
    assert not [note for capture in done.captures for note in told(capture["notes"])]
