"""A time stamp authority of our own: openssl's, behind a small server on loopback."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = """
[tsa]
default_tsa = one
[one]
serial = {folder}/serial
signer_cert = {folder}/{name}.pem
signer_key = {folder}/{name}.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""
LEAF = "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n"
NEW = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class TimeAuthority:
    """Its root is ``root``; ``stamp`` answers a query. ``days``: of its certificate; negative: it is over."""

    def __init__(self, folder: Path, name: str = "authority", days: int = 3650) -> None:
        folder.mkdir(exist_ok=True)
        self._folder, self._name = folder, name
        self.root = folder / f"{name}-root.pem"
        (folder / "leaf.cnf").write_text(LEAF)
        (folder / f"{name}.cnf").write_text(CONFIG.format(folder=folder, name=name))
        root = ["-keyout", f"{name}-root.key", "-out", self.root.name, "-subj", f"/CN=Root of {name}", "-days", "3650"]
        _openssl(folder, "req", "-x509", *NEW, *root, "-addext", "basicConstraints=critical,CA:TRUE")
        _openssl(folder, "req", "-new", *NEW, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        by = ["-CA", self.root.name, "-CAkey", f"{name}-root.key", "-CAcreateserial", "-days", str(days)]
        _openssl(folder, "x509", "-req", "-in", f"{name}.csr", *by, "-extfile", "leaf.cnf", "-out", f"{name}.pem")

    def stamp(self, query: bytes) -> bytes:
        """The answer, in DER."""
        (self._folder / "query").write_bytes(query)
        config = ["-config", f"{self._name}.cnf", "-section", "one"]
        _openssl(self._folder, "ts", "-reply", "-queryfile", "query", *config, "-out", "answer")
        return (self._folder / "answer").read_bytes()


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=280)


@contextmanager
def serving(authority: TimeAuthority, status: int = 200) -> Iterator[str]:
    """The authority's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            answer = authority.stamp(query) if status == 200 else b"busy"
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsr"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
