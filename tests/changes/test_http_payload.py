"""What a payload is compared by."""

from __future__ import annotations

import gzip

import pytest

from sharc_crawler.changes.http import parse_response
from sharc_crawler.changes.packed import digest_unpacked

PLAIN, PACKED = b"<p>hello", gzip.compress(b"<p>hello", mtime=0)


def of(body: bytes, *codings: bytes) -> str | None:
    said = b"".join(b"Content-Encoding: %b\r\n" % one for one in codings)
    message = parse_response(b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (said, body))
    assert message is not None
    return digest_unpacked(message) or message.digest


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((PLAIN,), (PLAIN, b"identity"), True),
        ((PLAIN,), (PACKED, b"gzip"), True),
        ((PACKED, b"gzip"), (PACKED, b"x-gzip"), True),
        ((PACKED,), (PACKED, b"gzip"), False),
        ((PLAIN,), (PLAIN, b"gzip"), False),
        ((PLAIN,), (PLAIN, b"unheard-of"), False),
        ((PLAIN, b"unheard-of"), (PLAIN, b"unheard-of"), True),
        ((PLAIN, b"unheard-of"), (PLAIN, b"other"), False),
        ((PLAIN, b"gzip"), (PACKED, b"gzip"), False),
    ],
)
def test_the_same_bytes_under_another_coding_are_another_page(one, other, same) -> None:
    assert (of(*one) == of(*other)) is same
