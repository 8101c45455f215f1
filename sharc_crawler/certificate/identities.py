"""Sign with a bare key, or with the key of a domain's certificate (wacz-auth 0.1.0 has both forms).

The second form names the domain and holds its certificates. It has a time stamp of the signature, which shows that the
certificate was valid when it signed. See https://specs.webrecorder.net/wacz-auth/0.1.0/.
"""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from sharc_crawler import extras
from sharc_crawler.certificate.signatures import UNREADABLE, fingerprint, public_der, read_key, signed
from sharc_crawler.errors import DataError, UsageError

if TYPE_CHECKING:
    Ask = Callable[[bytes], bytes]  #: asks a time stamp authority

_PRIVATE = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)
_MAKE = "put the private key and the chain of certificates into one PEM file: cat privkey.pem fullchain.pem"


@dataclass(frozen=True, slots=True)
class Identity:
    """A key, and its domain's chain of certificates, the domain's own first; empty: a bare key."""

    key: ec.EllipticCurvePrivateKey
    chain: tuple[x509.Certificate, ...] = ()

    def sign(self, digest: str, said: Mapping[str, str], ask: Ask | None) -> dict[str, str]:
        """``signedData`` of a digest; ``said``: its fields ``created``, ``software``, ``version``.

        Raises :class:`~sharc_crawler.errors.DataError` if the authority gives no time stamp.
        """
        if not self.chain:
            return {**signed(self.key, digest), **said}
        from sharc_crawler.certificate import timestamps  # only where one is asked for

        assert ask is not None, "checked when the identity was read"
        signature = b64encode(self.key.sign(digest.encode(), ec.ECDSA(SHA256()))).decode()
        answer = timestamps.stamp(signature, ask, time.time())
        return {
            "hash": digest,
            **said,
            "signature": signature,
            "domain": domain_of(self.chain[0]),
            "domainCert": to_pem(self.chain),
            "timeSignature": b64encode(answer).decode(),
            "timestampCert": to_pem(timestamps.signers(answer)),
        }


def read_identity(path: Path, *, stamped: bool) -> Identity:
    """The private key in a PEM file, with its domain's certificates if the file has some.

    ``stamped``: a time stamp authority was given. Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    try:
        pem = path.read_bytes()
    except OSError:
        return Identity(read_key(path))  # which says what is wrong
    if b"BEGIN CERTIFICATE" not in pem:
        return Identity(read_key(path))
    extras.check(f"key {str(path)!r}, which is of a domain,", "rfc3161_client")
    if not stamped:
        raise UsageError(
            f"key {str(path)!r} is of a domain, whose certificate is not valid for long: give a time stamp authority,"
            " too (timestamp=URL), which shows when it signed"
        )
    return _of_domain(path, pem)


def _of_domain(path: Path, pem: bytes) -> Identity:
    found = _PRIVATE.search(pem)
    try:
        key = serialization.load_pem_private_key(found[0] if found else b"", None)
        chain = tuple(x509.load_pem_x509_certificates(pem))
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("it is no key of an elliptic curve, as wacz-auth asks for")
        if public_der(key.public_key()) != public_der(chain[0].public_key()):
            raise ValueError("its first certificate is of another key")
        check_chain(chain)
        domain_of(chain[0])
    except (*UNREADABLE, DataError) as error:
        raise UsageError(f"key {str(path)!r} of a domain cannot be used: {error}; {_MAKE}") from error
    return Identity(key, chain)


def domain_of(leaf: x509.Certificate) -> str:
    """The domain that a certificate names: its common name, or its first alternative name.

    Raises :class:`~sharc_crawler.errors.DataError`.
    """
    named = [str(one.value) for one in leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    names = alternative_names(leaf)
    if not (named or names):
        raise DataError("its certificate names no domain")
    return (named or names)[0]


def alternative_names(leaf: x509.Certificate) -> list[str]:
    """The host names in a certificate's extension."""
    try:
        found = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return found.value.get_values_for_type(x509.DNSName)


def check_chain(chain: Sequence[x509.Certificate]) -> None:
    """Raise :class:`~sharc_crawler.errors.DataError` if a certificate was not issued by the next one."""
    for one, issuer in pairwise(chain):
        try:
            one.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature) as error:
            raise DataError(f"{one.subject.rfc4514_string()} is not issued by the certificate after it") from error


def to_pem(chain: Sequence[x509.Certificate]) -> str:
    """Certificates as text, separated by blank lines, as viewers expect."""
    return "\n".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in chain)


def key_of(leaf: x509.Certificate) -> str:
    """The fingerprint of a certificate's key."""
    return fingerprint(public_der(leaf.public_key()))
