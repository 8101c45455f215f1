"""Time stamps (RFC 3161): an authority attests that a digest existed at an instant.

The digest is stamped as text, like it is signed, so ``openssl ts -verify`` can check the file (docs/certificate.md).
"""

from __future__ import annotations

import hashlib
import re
import ssl
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.utils import CryptographyDeprecationWarning
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.instants import iso, second
from sharc_crawler.model import Instant, Seconds

_GRANTED = 0
_SHA256 = "2.16.840.1.101.3.4.2.1"
_VERIFY_ERROR = re.compile(r'data: "Verify error: ([^"]+)"')
#: tolerance between correct clocks; also wacz-auth 0.1.0's limit between a signature and its time stamp
APART: Seconds = 600.0


class Stamp(NamedTuple):
    """A checked time stamp."""

    instant: str
    authority: str  #: the name in its certificate
    checked: bool  #: does the authority's certificate lead to a trusted root?


def stamp(digest: str, ask: Callable[[bytes], bytes], since: Instant) -> bytes:
    """Get a time stamp of a digest, in DER. ``ask`` sends a query; ``since``: no time stamp can be older.

    Raises :class:`~sharc_crawler.errors.DataError` if the answer is no time stamp of it, or is to another query.
    """
    query = TimestampRequestBuilder().data(digest.encode()).hash_algorithm(HashAlgorithm.SHA256).build()
    answer = ask(query.as_bytes())
    token = _decoded(answer)
    if token.tst_info.nonce != query.nonce:
        raise DataError("the answer is to another query")
    _of(token, _imprint(digest))
    _can_be(token, since)
    return answer


def check_stamp(answer: bytes, digest: str, roots: Sequence[x509.Certificate], since: Instant, *, named: bool) -> Stamp:
    """Check a stored time stamp of a digest (``sha256:…``).

    Parameters
    ----------
    since: when the stamped data was complete: no time stamp can be older
    named: the user named the roots, so an authority that none of them vouches for is an error

    Raises :class:`~sharc_crawler.errors.DataError` if it is of another digest, altered, or of an impossible instant.

    """
    token = _decoded(answer)
    imprint = _imprint(digest)
    _of(token, imprint)
    _can_be(token, since)
    builder = VerifierBuilder(roots=list(roots))
    try:
        known = bool(roots) and builder.build().verify(token, imprint)
    except VerificationError as error:
        if named:
            raise DataError(f"no authority that was named vouches for it: {_plain(str(error))}") from error
        known = False
    return Stamp(iso(token.tst_info.gen_time.timestamp()), _authority(token), known)


def signers(answer: bytes) -> list[x509.Certificate]:
    """The certificates in an answer: the authority's own, then its issuers as far as they are included."""
    return _signers(_decoded(answer))


def _signers(token: TimeStampResponse) -> list[x509.Certificate]:
    found = [x509.load_der_x509_certificate(one) for one in token.signed_data.certificates]
    infos = {(one.issuer, one.serial_number) for one in token.signed_data.signer_infos}
    chain = [one for one in found if (one.issuer, one.serial_number) in infos][:1]
    while chain and (issuer := next((one for one in found if one.subject == chain[-1].issuer), None)):
        if issuer in chain:
            break
        chain.append(issuer)
    return chain


def read_roots(path: Path) -> list[x509.Certificate]:
    """The certificates of authorities, in PEM. Raises :class:`~sharc_crawler.errors.UsageError`."""
    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"authority {str(path)!r} is no file of certificates in PEM: {error}") from error


@cache  # reading them takes 50 ms
def roots_of_system() -> list[x509.Certificate]:
    """The root certificates that this machine trusts for https."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)  # about the machine's roots, not ours
        for one in ssl.create_default_context().get_ca_certs(binary_form=True):
            with suppress(ValueError):  # too old for the library
                found.append(x509.load_der_x509_certificate(one))
    return found


def is_stamp(answer: bytes, digest: str, since: Instant) -> bool:
    """Is a stored answer a valid time stamp of a digest, by whatever authority?"""
    try:
        check_stamp(answer, digest, (), since, named=False)
    except DataError:
        return False
    return True


def _plain(error: str) -> str:
    """OpenSSL's error message without its codes.

    >>> _plain('ErrorStack([Error { code: 276824181, data: "Verify error: certificate has expired" }])')
    'certificate has expired'
    >>> _plain("The EKU extension is not critical.")
    'The EKU extension is not critical.'
    """
    found = _VERIFY_ERROR.search(error)
    return found[1] if found else error.partition(": ErrorStack(")[0]


def _imprint(digest: str) -> bytes:
    return hashlib.sha256(digest.encode()).digest()


def _decoded(answer: bytes) -> TimeStampResponse:
    try:
        token = decode_timestamp_response(answer)
        status, said = token.status, "; ".join(token.status_string)
        if status == _GRANTED:
            token.tst_info.message_imprint  # noqa: B018 - where the token cannot be read, it raises
    except ValueError as error:
        raise DataError("no answer of a time stamp authority as RFC 3161 has it, in DER") from error
    if status != _GRANTED:
        raise DataError(f"refused by the authority (status {status}{': ' + said if said else ''})")
    return token


def _of(token: TimeStampResponse, imprint: bytes) -> None:
    stamped = token.tst_info.message_imprint
    if stamped.message != imprint or stamped.hash_algorithm.dotted_string != _SHA256:
        raise DataError(f"it is of {stamped.message.hex()}, not of {imprint.hex()}")


def _can_be(token: TimeStampResponse, since: Instant) -> None:
    """Raise if it cannot have been made at the stated instant."""
    instant, now = token.tst_info.gen_time.timestamp(), time.time()
    wrong = "one of the two clocks is wrong"
    if instant < since - APART:
        raise DataError(
            f"the authority says {second(instant)}, and what it stamped was made by {second(since)}: {wrong}"
        )
    if instant > now + APART:
        raise DataError(f"the authority says {second(instant)}, and here it is {second(now)}: {wrong}")
    for one in _signers(token)[:1]:
        begins, ends = one.not_valid_before_utc.timestamp(), one.not_valid_after_utc.timestamp()
        if not begins <= instant <= ends:
            of = f"the certificate of {_authority(token)} is valid from {second(begins)} to {second(ends)}"
            raise DataError(f"the authority says {second(instant)}, and {of}")


def _authority(token: TimeStampResponse) -> str:
    found = _signers(token)
    return found[0].subject.rfc4514_string() if found else "an authority without a certificate"
