"""Payload digests in the form of WARC files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sharc_crawler.bodies.spool import Octets, pieces

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [one + other for one in _DIGITS for other in _DIGITS]  #: base 32 (RFC 4648) of ten bits, twice as fast
_PLACES = range(150, -1, -10)  #: positions of the pairs, in bits


def labelled_digest(data: Octets | memoryview, start: int = 0) -> str:
    """The SHA-1 of the data from ``start`` on, with a label.

    >>> labelled_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return digest_of(pieces(data, start))


def digest_of(data: Iterable[bytes | memoryview]) -> str:
    """The digest of data in pieces."""
    digest = hashlib.sha1(usedforsecurity=False)
    for piece in data:
        digest.update(piece)
    number = int.from_bytes(digest.digest())
    return "sha1:" + "".join([_PAIRS[number >> at & 1023] for at in _PLACES])
