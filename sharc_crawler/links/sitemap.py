"""Sitemaps of any kind: XML (address list or index), text, RSS and Atom; packed or not, well-formed or not.

What can be read is used, the rest is reported. Nothing is fetched and no entity is expanded. Of the protocol's
extensions pages in other languages and one date are taken: when a news item was published, which does not say when the
page last changed. Pictures and films are found on their pages, and captured with these. A feed's ``pubDate`` (RSS) or
``updated`` (Atom) is its lastmod, as the protocol has it; ``pubDate`` and ``published`` are when the page came to be.

Source: https://www.sitemaps.org/protocol.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sharc_crawler.coding import unpack
from sharc_crawler.links.entries import Entries, Entry, SitemapKind, is_address
from sharc_crawler.links.mend import is_xml, without_mark
from sharc_crawler.links.sitemap_xml import read_xml
from sharc_crawler.text import is_text

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Entry", "Sitemap", "SitemapKind", "read"]

MOST_ENTRIES = 50_000  #: of one file, as the protocol allows
MOST_BYTES = 50 * 2**20  #: of one file, unpacked

_NO_LIST = "neither XML nor a list of addresses"
_LINE = re.compile(r"\S[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What one sitemap file says."""

    kind: SitemapKind
    entries: tuple[Entry, ...]  #: pages; of an index: further sitemaps
    problems: tuple[str, ...]  #: what was left out, and why; () where all was read


def read(body: bytes, url: str, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> Sitemap:
    """Read the body of a sitemap found at ``url``. Reads anything, never raises.

    What is no sitemap (an HTML page, say) is of kind ``unreadable``, and ``problems`` says what it is.

    >>> found = read(b"<urlset><url><loc>http://h/a</loc><lastmod>1970-01-02</lastmod></url></urlset>", "http://h/s.xml")
    >>> found.kind.value, found.entries[0].loc, found.entries[0].hints.lastmod
    ('urlset', 'http://h/a', 86400.0)
    """
    packed, packing = unpack(body, most_bytes)
    data = without_mark(packed)
    entries = Entries(url, most_entries)
    reader = read_xml if is_xml(data) else _read_text
    kind, problems = reader(data, entries)
    stated = [packing] if packing else []
    return Sitemap(kind, entries.all(), (*stated, *problems, *entries.problems()))


def _read_text(data: bytes, entries: Entries) -> tuple[SitemapKind, list[str]]:
    """One address a line: of a list, at least half are."""
    if not data.strip():
        return SitemapKind.UNREADABLE, ["empty"]
    lines = [line[0] for line in _LINE.finditer(data.decode("utf-8", "replace"))] if is_text(data) else []
    if 2 * sum(map(is_address, lines)) < max(len(lines), 1):
        return SitemapKind.UNREADABLE, [_NO_LIST]
    for line in lines:
        if not entries.add(line, None):
            break
    return (SitemapKind.TEXT, []) if entries.all() else (SitemapKind.UNREADABLE, [_NO_LIST])
