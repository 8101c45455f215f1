"""What a robots.txt says: bytes as they came, as text that rules can be read from."""

from __future__ import annotations

from collections.abc import Sequence

from w3lib.encoding import read_bom

from sharc_crawler.bodies.coding import USED, unpack, unpacked

MAX_BYTES = 500 * 1024  #: RFC 9309, 2.5: parse at least this much
DOWNLOADED = 1 << 20  #: bytes, at most; behind its rules it is read for sitemaps


def robots_text(body: bytes, codings: Sequence[bytes] = ()) -> tuple[str, str | None]:
    r"""What a robots.txt says, whole lines of its first 500 KiB; and why it cannot be read, where it cannot.

    Of what comes behind these the sitemaps that it names, and a line that says so.

    UTF-8, or what a byte order mark says; of the mark some servers send a part. Null bytes (UTF-16 without mark, for
    one) are left out.

    >>> robots_text(b"\xef\xbb\xbfUser-agent: *\n")
    ('User-agent: *\n', None)
    >>> robots_text(b"\xff\xfe" + "Disallow: /".encode("utf-16-le"))[0]
    'Disallow: /'
    """
    data, problem = unpacked(body, codings, DOWNLOADED)
    if problem and len(data) < MAX_BYTES:
        return "", problem.removesuffix(f": {USED}")
    data, more = unpack(data, DOWNLOADED)  # a packed file, said to be none
    if not problem and not more and len(data) <= MAX_BYTES:
        return _decoded(data), None
    from sharc_crawler.links.robots_rules import cut  # hardly ever

    return cut(_whole_lines(_decoded(data[:MAX_BYTES])), _decoded(data), ended=len(data) < DOWNLOADED), None


def _decoded(data: bytes) -> str:
    encoding, mark = read_bom(data)
    return data[len(mark or _part_of_mark(data)) :].decode(encoding or "utf-8", "replace").replace("\0", "")


def _whole_lines(text: str) -> str:
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _part_of_mark(data: bytes) -> bytes:
    """The first bytes of UTF-8's byte order mark, where its end is missing."""
    return next((part for part in (b"\xef\xbb", b"\xef") if data.startswith(part)), b"")
