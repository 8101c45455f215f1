"""The payload digest: what two captures of one page are compared by, and what a WARC record carries."""

from __future__ import annotations

import hashlib
from base64 import b32encode

from sharc_crawler.changes.http import parse_response


def labelled_digest(data: bytes | memoryview) -> str:
    """SHA-1 of the data as WARC writes it.

    >>> labelled_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def payload_digest(response: bytes) -> str | None:
    r"""Digest of the entity body of a raw response; ``None`` where there is no complete head.

    The entity body is transfer-decoded and still content-encoded: two transfers of one body that differ in their
    chunks have one digest (WARC/1.1, 5.9 and 6.3.2).

    >>> plain = b"HTTP/1.1 200 OK\r\n\r\nhello"
    >>> chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    >>> payload_digest(plain) == payload_digest(chunked)
    True
    """
    message = parse_response(response)
    return None if message is None else labelled_digest(message.payload)
