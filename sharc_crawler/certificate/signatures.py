"""Signatures with a bare key, as in webrecorder's wacz-auth 0.1.0: ECDSA (P-384, SHA-256) of a digest as text.

See https://specs.webrecorder.net/wacz-auth/0.1.0/. The key's fingerprint tells its owner. The form with a domain's
certificate is in :mod:`~sharc_crawler.certificate.identities`.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from sharc_crawler.errors import UsageError

CURVE = "secp384r1"  #: the only curve that ReplayWeb.page verifies
_DOMAIN = re.compile(r"(?!.*\.pem$)[a-z0-9_-]+(\.[a-z0-9_-]+)+", re.IGNORECASE)
_HALF = 48  #: bytes of each of a signature's two numbers
_MAKE = f"make one with: openssl ecparam -name {CURVE} -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out KEY.pem"
#: what reading an invalid key or signature raises
UNREADABLE = (ValueError, TypeError, KeyError, UnsupportedAlgorithm)


def read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """The private key in a PEM file, without a passphrase.

    Raises :class:`~sharc_crawler.errors.UsageError`, which says how to make one.
    """
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UsageError(f"key {str(path)!r} cannot be read: {error.strerror or error}; {_MAKE}") from error
    except UNREADABLE as error:
        raise UsageError(f"key {str(path)!r} is no private key without a passphrase, in PEM; {_MAKE}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != CURVE:
        raise UsageError(f"key {str(path)!r} is not one of the curve {CURVE}, which wacz-auth asks for; {_MAKE}")
    return key


def read_signer(text: str, path: Path) -> str:
    """The signer that a user named: a fingerprint ``sha256:…`` (also of the key in a file), or a domain.

    A file holds a public key, a private one, or a certificate. A domain is in lower case.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if text.startswith("sha256:"):
        return text
    if _DOMAIN.fullmatch(text) and not path.exists():
        return text.lower()
    try:
        pem = path.read_bytes()
        if b"BEGIN CERTIFICATE" in pem:
            return fingerprint(public_der(x509.load_pem_x509_certificate(pem).public_key()))
        if is_private(path):
            return fingerprint(public_der(read_key(path).public_key()))
        public = serialization.load_pem_public_key(pem)
    except (OSError, *UNREADABLE) as error:
        why = f"key {text!r} is neither sha256:…, nor a domain, nor a PEM file of a public key: {error}"
        raise UsageError(why) from error
    return fingerprint(public_der(public))


def is_private(path: Path) -> bool:
    """Does a PEM file hold a private key?"""
    return b"PRIVATE KEY" in path.read_bytes()


def fingerprint(public: bytes) -> str:
    """The digest of a public key (DER), by which its owner is known."""
    return f"sha256:{hashlib.sha256(public).hexdigest()}"


def signed(key: ec.EllipticCurvePrivateKey, digest: str) -> dict[str, str]:
    """``hash``, ``signature`` and ``publicKey`` of a digest, all as text."""
    r, s = decode_dss_signature(key.sign(digest.encode(), ec.ECDSA(SHA256())))
    raw = r.to_bytes(_HALF) + s.to_bytes(_HALF)
    return {
        "hash": digest,
        "signature": b64encode(raw).decode(),
        "publicKey": b64encode(public_der(key.public_key())).decode(),
    }


def check_signature(data: Mapping[str, Any], digest: str) -> tuple[str, str | None]:
    """Check the signature of a digest: (fingerprint of the signer, what is wrong)."""
    try:
        public = b64decode(data["publicKey"], validate=True)
        raw = b64decode(data["signature"], validate=True)
        key = serialization.load_der_public_key(public)
        if not isinstance(key, ec.EllipticCurvePublicKey) or len(raw) != 2 * _HALF or public_der(key) != public:
            raise ValueError(f"not of the curve {CURVE}")
        pair = int.from_bytes(raw[:_HALF]), int.from_bytes(raw[_HALF:])
        key.verify(encode_dss_signature(*pair), digest.encode(), ec.ECDSA(SHA256()))
    except InvalidSignature:
        return fingerprint(public), "the signature is not of its digest by this key"
    except UNREADABLE as error:
        return "", f"the signature cannot be read: {error}"
    return fingerprint(public), None if data.get("hash") == digest else f"it signs {data.get('hash')}, not {digest}"


def public_der(key: Any) -> bytes:
    """A public key in DER, the form whose digest is its fingerprint."""
    made: bytes = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return made
