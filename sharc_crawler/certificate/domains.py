"""Check signatures made with the key of a domain's certificate: whose they are, when they were made, who vouches."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import verification

from sharc_crawler.certificate.identities import alternative_names, check_chain, domain_of, key_of, to_pem
from sharc_crawler.certificate.signatures import UNREADABLE
from sharc_crawler.certificate.timestamps import APART, check_stamp, signers
from sharc_crawler.errors import DataError
from sharc_crawler.instants import unix
from sharc_crawler.model import Instant

#: fields of such a signature
FIELDS = frozenset(
    "hash created software version signature domain domainCert timeSignature timestampCert".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class DomainSeal:
    """A checked signature by a domain."""

    domain: str
    key: str  #: its fingerprint
    instant: str  #: when it was made, by its time stamp
    authority: str  #: who gave the time stamp
    doubt: str = ""  #: why domain or instant are not vouched for; empty: both are


def check_domain(
    data: Mapping[str, Any], digest: str, roots: Sequence[x509.Certificate], authorities: Sequence[x509.Certificate]
) -> DomainSeal:
    """Check such a signature of a digest.

    Parameters
    ----------
    data: with :data:`FIELDS`, as text
    roots: trusted certificates for domains
    authorities: trusted certificates for time stamp authorities

    Raises :class:`~sharc_crawler.errors.DataError` if it is wrong, no matter whom one trusts.

    """
    try:
        chain = x509.load_pem_x509_certificates(data["domainCert"].encode())
        leaf, domain = chain[0], str(data["domain"])
        _signed(data, digest, leaf)
        check_chain(chain)
        if domain not in {domain_of(leaf), *alternative_names(leaf)} or data["domainCert"] != to_pem(chain):
            raise DataError(f"its certificate is not one of {domain!r}, or not written as sharc writes it")
        answer = b64decode(data["timeSignature"], validate=True)
        stamped = check_stamp(answer, data["signature"], authorities, 0.0, named=False)  # its instant: see below
        if data["timestampCert"] != to_pem(signers(answer)):
            raise DataError("its timestampCert is not the certificate that its time stamp was signed with")
        created = datetime.strptime(data["created"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except UNREADABLE as error:
        raise DataError(f"the signature of a domain cannot be read: {error}") from error
    instant = unix(stamped.instant)
    if abs(created - instant) > APART:
        raise DataError(f"it is said to be of {data['created']}, and was stamped at {stamped.instant}")
    doubt = _doubt(chain, domain, instant, roots)
    if not (doubt or stamped.checked):
        doubt = f"nobody here vouches for {stamped.authority}, which says when"
    return DomainSeal(domain, key_of(leaf), stamped.instant, stamped.authority, doubt)


def _signed(data: Mapping[str, Any], digest: str, leaf: x509.Certificate) -> None:
    key = leaf.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise DataError("its certificate is of no key of an elliptic curve")
    try:
        key.verify(b64decode(data["signature"], validate=True), digest.encode(), ec.ECDSA(SHA256()))
    except InvalidSignature as error:
        raise DataError("the signature is not of its digest by the key of its domain") from error
    if data["hash"] != digest:
        raise DataError(f"it signs {data['hash']}, not {digest}")


def _doubt(chain: Sequence[x509.Certificate], domain: str, instant: Instant, roots: Sequence[x509.Certificate]) -> str:
    """Why its certificate does not lead to a trusted root at the time of the signature; empty: it does."""
    leaf = chain[0]
    when = datetime.fromtimestamp(instant, UTC)
    if not leaf.not_valid_before_utc <= when <= leaf.not_valid_after_utc:
        raise DataError(f"its certificate was not valid at {when:%Y-%m-%dT%H:%M:%SZ}, when it signed")
    nobody = f"nobody here vouches for the certificate of {domain}"
    if not roots:
        return nobody
    try:
        known = verification.PolicyBuilder().store(verification.Store(list(roots))).time(when)
        known.build_server_verifier(x509.DNSName(domain)).verify(leaf, list(chain[1:]))
    except (verification.VerificationError, ValueError) as error:
        return f"{nobody}: {error}"
    return ""
