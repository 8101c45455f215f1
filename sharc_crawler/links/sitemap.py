"""Read sitemaps of any kind: XML (URL list or index), text, RSS and Atom; packed or not, well-formed or not.

Whatever can be read is used, the rest is reported. No entity is expanded. Of the protocol's extensions, alternates in
other languages and the publication date of news are used, which is not a lastmod. Images and videos are ignored, as
they are captured with their pages. In feeds, ``pubDate`` (RSS) or ``updated`` (Atom) is the lastmod, as the protocol
says; ``pubDate`` and ``published`` are the publication date.

Source: https://www.sitemaps.org/protocol.html
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from lxml import etree
from w3lib.encoding import read_bom

from sharc_crawler.bodies.coding import unpack
from sharc_crawler.bodies.text import is_text
from sharc_crawler.links.dates import mail_date, w3c_date
from sharc_crawler.links.entries import Entries, Entry, SitemapKind, is_address

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Entry", "Sitemap", "SitemapKind", "read"]

MOST_ENTRIES = 50_000  #: most entries of a file, as in the protocol
MOST_BYTES = 50 * 2**20  #: most bytes of a file, unpacked

_NO_LIST = "neither XML nor a list of addresses"
_LINE = re.compile(r"\S[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The content of a sitemap."""

    kind: SitemapKind
    entries: tuple[Entry, ...]  #: pages; in an index: further sitemaps
    problems: tuple[str, ...]  #: what was left out, and why


def read(body: bytes, url: str, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> Sitemap:
    """Read a sitemap found at ``url``. Never raises.

    Anything else (such as an HTML page) is of kind ``unreadable``, and ``problems`` says what it is.

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
    """Read a list with one URL per line; at least half of the lines must be URLs."""
    if not data.strip():
        return SitemapKind.UNREADABLE, ["empty"]
    lines = [line[0] for line in _LINE.finditer(data.decode("utf-8", "replace"))] if is_text(data) else []
    if 2 * sum(map(is_address, lines)) < max(len(lines), 1):
        return SitemapKind.UNREADABLE, [_NO_LIST]
    for line in lines:
        if not entries.add(line, None):
            break
    return (SitemapKind.TEXT, []) if entries.all() else (SitemapKind.UNREADABLE, [_NO_LIST])


# -- XML as a stream: URL lists, indexes, RSS and Atom, in any namespace or none ---------------------------------------


#: Most bytes without an entry: more may be a bomb, as elements are kept in memory until an entry ends.
_MOST_BYTES_WITHOUT_ENTRY = 2**20
_HTML_PAGE = "an HTML page, not a sitemap"
_ALTERNATE = "{http://www.w3.org/1999/xhtml}link"
_DUBLIN_CORE_DATE = "{http://purl.org/dc/elements/1.1/}date"

_ROOTS = {
    "urlset": (SitemapKind.URLSET, "url"),
    "sitemapindex": (SitemapKind.INDEX, "sitemap"),
    "rss": (SitemapKind.RSS, "item"),
    "RDF": (SitemapKind.RSS, "item"),
    "feed": (SitemapKind.ATOM, "entry"),
}
_TAGS = [f"{{*}}{name}" for name in ("html", "HTML", *_ROOTS, *(entry for _, entry in _ROOTS.values()))]


def read_xml(data: bytes, entries: Entries) -> tuple[SitemapKind, list[str]]:
    """Read XML into ``entries``; returns the kind, and problems of the document as a whole."""
    whole, problems = mended(data)
    source = _Source(whole)
    stream = etree.iterparse(
        source,
        events=("start", "end"),
        tag=_TAGS,  # the parser skips all others
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        kind, problem = _walk(stream, source, entries)
    except etree.XMLSyntaxError:
        kind, problem = SitemapKind.UNREADABLE, "not XML"
    if kind is SitemapKind.UNREADABLE and is_html(data):
        problem = _HTML_PAGE
    broken = [error.line for error in stream.error_log if error.level_name == "FATAL"]
    if broken and kind is not SitemapKind.UNREADABLE:
        problems.append(f"broken XML at line {broken[0]}: what could be read is used")
    return kind, [*problems, problem] if problem else problems


class _Source:
    """The document for the parser; it ends early if too many bytes have no entry."""

    def __init__(self, data: bytes) -> None:
        self._stream = BytesIO(data)
        self._last_entry = 0
        self.exhausted = False

    def read(self, size: int) -> bytes:
        """The next bytes; empty after too many bytes without an entry."""
        self.exhausted = self._stream.tell() - self._last_entry > _MOST_BYTES_WITHOUT_ENTRY
        return b"" if self.exhausted else self._stream.read(size)

    def entry_seen(self) -> None:
        """Note that an entry was read."""
        self._last_entry = self._stream.tell()


def _walk(stream: Any, source: _Source, entries: Entries) -> tuple[SitemapKind, str | None]:
    """Read entry by entry, freeing each; returns the kind, and why reading stopped early."""
    kind, name = SitemapKind.UNREADABLE, ""
    for event, element in stream:
        tag = _local(element.tag)
        if event == "start":
            if tag in {"html", "HTML"} and not name:
                return kind, _HTML_PAGE
            if tag in _ROOTS and not name:
                kind, name = _ROOTS[tag]
        elif tag == name:
            if not _READERS[kind](element, entries):
                break
            element.clear()
            source.entry_seen()
    if not name:
        return kind, "XML, but neither a sitemap nor a feed"
    if source.exhausted:
        return kind, f"no entry in {_MOST_BYTES_WITHOUT_ENTRY:,} bytes: the rest is left out"
    return kind, None


@lru_cache(maxsize=64)
def _local(tag: str) -> str:
    """A tag's name without its namespace."""
    return tag.rpartition("}")[2]


def _texts(element: Any, entries: Entries) -> dict[str, str]:
    """The texts of the children by name (local in the element's namespace, else the full tag), the first of each.

    Children with an entity or markup are left out.
    """
    prefix = element.tag[: element.tag.rfind("}") + 1]
    texts: dict[str, str] = {}
    for child in element:
        name = child.tag
        if not isinstance(name, str):
            continue  # an entity between the children
        name = name[len(prefix) :] if name.startswith(prefix) else name
        if len(child):
            if name in {"loc", "link"}:
                entries.left_out("address", "with an entity or markup in it")
        elif name not in texts:
            texts[name] = child.text or ""
    return texts


def _read_address(element: Any, entries: Entries) -> bool:
    """Read ``url`` of a URL list, or ``sitemap`` of an index."""
    texts = _texts(element, entries)
    if "loc" not in texts:
        if element.find("{*}loc") is None:  # else it was counted already
            entries.left_out("entry", "without <loc>")
        return True
    lastmod = entries.date(texts.get("lastmod", ""))
    published = w3c_date(element.findtext("{*}news/{*}publication_date") or "")
    if not entries.add(texts["loc"], lastmod, texts.get("changefreq", ""), texts.get("priority", ""), published):
        return False
    if _ALTERNATE in texts:
        for link in element.iterchildren(_ALTERNATE):
            entries.add_alternate(link.get("href", ""))
    return True


def _read_item(element: Any, entries: Entries) -> bool:
    """Read ``item`` of RSS: its link, or a guid that is one; ``pubDate``, or Dublin Core's date."""
    texts = _texts(element, entries)
    address = texts.get("link", "").strip() or texts.get("guid", "")
    stated = texts.get("pubDate", "")
    published = mail_date(stated) or entries.date(texts.get(_DUBLIN_CORE_DATE, stated))
    return entries.add(address, published, published=published)


def _read_entry(element: Any, entries: Entries) -> bool:
    """Read ``entry`` of Atom: its alternate link, and ``updated``."""
    links = element.iterchildren("{*}link")
    address = next((link.get("href", "") for link in links if link.get("rel", "alternate") == "alternate"), "")
    texts = _texts(element, entries)
    published = w3c_date(texts.get("published", ""))
    return entries.add(address, entries.date(texts.get("updated", "")), published=published)


_READERS: dict[SitemapKind, Callable[[Any, Entries], bool]] = {
    SitemapKind.URLSET: _read_address,
    SitemapKind.INDEX: _read_address,
    SitemapKind.RSS: _read_item,
    SitemapKind.ATOM: _read_entry,
}

# -- common errors in XML, mended before parsing -----------------------------------------------------------------------


_HEAD = 4_096  #: bytes in which the type of a document is recognised
_START = re.compile(rb"<\?xml\b|<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|RDF)\b")
#: After comments and instructions; without backtracking, so that long pages take linear time.
_HTML = re.compile(rb"\s*+(?>(?:<!--.*?-->|<\?.*?\?>)\s*+)*+<(?:!doctype\s++)?html\b", re.IGNORECASE | re.DOTALL)
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
#: An ``&`` that begins no reference. CDATA, where it is allowed, is matched so that it is skipped; without an end it
#: extends to the end of the document, which keeps the search linear.
_BARE_AMPERSAND = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:[A-Za-z]\w{0,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});)", re.DOTALL
)


def without_mark(data: bytes) -> bytes:
    """A document with a byte order mark, converted to UTF-8 without mark and without another XML declaration."""
    encoding, mark = read_bom(data)
    if encoding is None or mark is None:
        return data
    text = data[len(mark) :].decode(encoding, "replace")
    return (text if encoding == "utf-8" else _DECLARATION.sub("", text, count=1)).encode()


def is_xml(data: bytes) -> bool:
    """Should it be read as XML? It begins with a tag, or has a sitemap's root or XML declaration near its beginning."""
    head = data[:_HEAD].replace(b"\0", b"")  # UTF-16 without byte order mark
    return head.lstrip().startswith(b"<") or _START.search(head) is not None


def is_html(data: bytes) -> bool:
    """Is it a web page, by its document type or its first tag?

    >>> is_html(b"<!-- a --> <!DocType HTML><title>x"), is_html(b"<urlset><!-- <html> -->")
    (True, False)
    """
    return _HTML.match(data) is not None


def mended(data: bytes) -> tuple[bytes, list[str]]:
    """The document with common errors mended, and a list of these.

    >>> mended(b"x <?xml version='1.0'?><loc>http://h/?a=1&b=2</loc><loc>http://h/cut-of")[0]
    b"<?xml version='1.0'?><loc>http://h/?a=1&amp;b=2</loc><loc>"
    """
    problems = []
    data = data.lstrip()
    start = _START.search(data, 0, _HEAD)
    if start and start.start() and (start[0] == b"<?xml" or not data.startswith(b"<")):
        problems.append("text before the XML")
        data = data[start.start() :]
    data = data[: data.rfind(b">") + 1]  # after the last tag there is white space, or a truncated URL
    escaped = _BARE_AMPERSAND.sub(_escaped, data) if b"&" in data else data
    if escaped != data:
        problems.append("ampersands that are not escaped: read as themselves")
    return escaped, problems


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"&amp;" if match[0] == b"&" else match[0]
