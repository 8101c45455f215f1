"""Decode robots.txt."""

from __future__ import annotations

from collections.abc import Sequence

from w3lib.encoding import read_bom

from sharc_crawler.bodies.coding import USED, unpack, unpacked

MAX_BYTES = 500 * 1024  #: bytes of rules that are obeyed, the minimum of RFC 9309, 2.5
DOWNLOADED = 1 << 20  #: most bytes that are downloaded; the rest is read for sitemaps only


def robots_text(body: bytes, codings: Sequence[bytes] = ()) -> tuple[str, str | None]:
    r"""The text of a robots.txt, and why it cannot be read (else None).

    If it is longer than 500 KiB, the whole lines before that, a line that says so, and the sitemaps in the rest.

    It is UTF-8 unless a byte order mark says otherwise; some servers send only part of the mark. Null bytes (UTF-16
    without mark, for example) are removed.

    >>> robots_text(b"\xef\xbb\xbfUser-agent: *\n")
    ('User-agent: *\n', None)
    >>> robots_text(b"\xff\xfe" + "Disallow: /".encode("utf-16-le"))[0]
    'Disallow: /'
    """
    data, problem = unpacked(body, codings, DOWNLOADED)
    if problem and len(data) < MAX_BYTES:
        return "", problem.removesuffix(f": {USED}")
    data, more = unpack(data, DOWNLOADED)  # may be a packed file without Content-Encoding
    if not problem and not more and len(data) <= MAX_BYTES:
        return _decoded(data), None
    from sharc_crawler.links.robots_rules import cut  # rarely needed

    return cut(_whole_lines(_decoded(data[:MAX_BYTES])), _decoded(data), ended=len(data) < DOWNLOADED), None


def _decoded(data: bytes) -> str:
    encoding, mark = read_bom(data)
    return data[len(mark or _part_of_mark(data)) :].decode(encoding or "utf-8", "replace").replace("\0", "")


def _whole_lines(text: str) -> str:
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _part_of_mark(data: bytes) -> bytes:
    """An incomplete UTF-8 byte order mark at the beginning; else empty."""
    return next((part for part in (b"\xef\xbb", b"\xef") if data.startswith(part)), b"")
