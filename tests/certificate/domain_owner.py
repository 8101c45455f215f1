"""A domain's owner with certificates of our own: a root, one between, the domain's, made by openssl."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NEW = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
CA = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"
BETWEEN = f"{CA}authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
LEAF = (
    "basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
    "subjectAltName=DNS:{domain},DNS:www.{domain}\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
)


class DomainOwner:
    """``key`` is the PEM file of key and chain, ``root`` that of the root."""

    def __init__(self, folder: Path, domain: str = "archive.example") -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self.root, self.key = folder / "root.pem", folder / "key-and-chain.pem"
        root = ["-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Root of domains", "-days", "3650"]
        more = [text for line in CA.splitlines() for text in ("-addext", line)]
        self._openssl("req", "-x509", *NEW, *root, *more)
        self._issue("between", "root", "Between", BETWEEN, 3650)
        self._issue("leaf", "between", domain, LEAF.format(domain=domain), 90)
        parts = ("leaf.key", "leaf.pem", "between.pem")
        self.key.write_text("".join((folder / name).read_text() for name in parts))

    def _issue(self, name: str, by: str, subject: str, extensions: str, days: int) -> None:
        (self._folder / f"{name}.cnf").write_text(extensions)
        self._openssl("req", "-new", *NEW, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={subject}")
        ca = ["-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial", "-extfile", f"{name}.cnf"]
        self._openssl("x509", "-req", "-in", f"{name}.csr", *ca, "-days", str(days), "-out", f"{name}.pem")

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True, timeout=280)
