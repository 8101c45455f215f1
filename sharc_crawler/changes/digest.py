"""Digests as WARC writes them."""

from __future__ import annotations

import hashlib
from base64 import b32encode


def labelled_digest(data: bytes | memoryview) -> str:
    """SHA-1 of the data, and its name.

    >>> labelled_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
