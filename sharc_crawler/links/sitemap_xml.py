"""The XML kinds of sitemaps, read as a stream: address lists, indexes, RSS and Atom, by any namespace or none."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from lxml import etree

from sharc_crawler.links.dates import mail_date, w3c_date
from sharc_crawler.links.entries import Entries, SitemapKind
from sharc_crawler.links.mend import is_html, mended

if TYPE_CHECKING:
    from collections.abc import Callable

#: Read without coming upon an entry: more is no sitemap but a bomb (elements are kept until an entry ends).
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
    """Read XML into ``entries``; the kind, and what was wrong with the document as a whole."""
    whole, problems = mended(data)
    source = _Source(whole)
    stream = etree.iterparse(
        source,
        events=("start", "end"),
        tag=_TAGS,  # the parser passes over all others by itself
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
    """A document for the parser to read, which ends where no entry comes any more."""

    def __init__(self, data: bytes) -> None:
        self._stream = BytesIO(data)
        self._last_entry = 0
        self.exhausted = False

    def read(self, size: int) -> bytes:
        """The next bytes; none where too many have been read without an entry."""
        self.exhausted = self._stream.tell() - self._last_entry > _MOST_BYTES_WITHOUT_ENTRY
        return b"" if self.exhausted else self._stream.read(size)

    def entry_seen(self) -> None:
        """An entry was read."""
        self._last_entry = self._stream.tell()


def _walk(stream: Any, source: _Source, entries: Entries) -> tuple[SitemapKind, str | None]:
    """Read entry by entry, each forgotten once read; the kind, and why reading stopped early."""
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
    """Texts of the children, the first of each name: the local one in the element's namespace, else the full tag.

    One that holds an entity or markup has no text to rely on.
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
    """``url`` of an address list, ``sitemap`` of an index."""
    texts = _texts(element, entries)
    if "loc" not in texts:
        if element.find("{*}loc") is None:  # else it was said what is wrong with it
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
    """``item`` of RSS: its link, or a guid that is one; ``pubDate``, or Dublin Core's date."""
    texts = _texts(element, entries)
    address = texts.get("link", "").strip() or texts.get("guid", "")
    stated = texts.get("pubDate", "")
    published = mail_date(stated) or entries.date(texts.get(_DUBLIN_CORE_DATE, stated))
    return entries.add(address, published, published=published)


def _read_entry(element: Any, entries: Entries) -> bool:
    """``entry`` of Atom: its alternate link, and ``updated``."""
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
