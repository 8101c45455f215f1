"""Read TimeMaps: lists of a page's mementos (captures) in link format (RFC 7089, section 5) or JSON.

They say when a page was captured, but have no digests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler.links.document import extract

if TYPE_CHECKING:
    from sharc_crawler.archive.histories.gathering import Gathering

#: possessive quantifiers, so that a line of a million blanks takes linear time
_LINK = re.compile(
    r"<([^<>]*+)>((?:\s*+;\s*+[\w*-]++(?:\s*+=\s*+(?:\"[^\"]*+\"|[^\s;,\"<>]++))?+)*+)\s*+(?:,|;?\s*+\Z)"
)
_BETWEEN = re.compile(r"[\s,]*")
_NEXT = re.compile(r"\n[^\S\n]*+<")
_ATTRIBUTE = re.compile(r";\s*([\w*-]+)\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"<>]+))")


@dataclass(slots=True)
class _TimeMap:
    """The content of a document."""

    original: str | None = None
    mementos: list[tuple[int, str, str | None]] = field(default_factory=list)  #: line, address, date
    self: str | None = None
    pages: set[str] = field(default_factory=set)


def read_link_format(text: bytes, file: str, gathering: Gathering) -> None:
    """Append the mementos of a TimeMap in link format, and note its further pages."""
    found = _TimeMap()
    for line, target, attributes in _links(text.decode("utf-8", "replace"), file, gathering):
        relations = attributes.get("rel", "").lower().split()
        if "original" in relations:
            found.original = target
        if "memento" in relations:
            found.mementos.append((line, target, attributes.get("datetime")))
        if "self" in relations:
            found.self = target
        elif "timemap" in relations:
            found.pages.add(target)
    _append(found, parsedate_to_datetime, file, gathering)


def read_json(document: dict[str, Any], file: str, gathering: Gathering) -> None:
    """Append the mementos of a TimeMap in JSON: ``{"original_uri", "mementos": {"list": [{"datetime", "uri"}]}}``."""
    mementos = document.get("mementos")
    items = mementos.get("list") if isinstance(mementos, dict) else mementos
    found = _TimeMap(str(document.get("original_uri") or document.get("original") or "") or None)
    for number, entry in enumerate(_objects(items), 1):
        found.mementos.append((number, str(entry.get("uri", "")), entry.get("datetime")))
    found.pages.update(str(page["uri"]) for page in _objects(document.get("timemap_index")) if "uri" in page)
    _append(found, datetime.fromisoformat, file, gathering)


def is_timemap(text: bytes) -> dict[str, Any] | None:
    """The document, if the text is a TimeMap in JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and {"mementos", "timemap_index"} & document.keys() else None


def _objects(items: Any) -> list[dict[str, Any]]:
    """The objects of a list; other items become empty objects."""
    return [item if isinstance(item, dict) else {} for item in items] if isinstance(items, list) else []


def _links(text: str, file: str, gathering: Gathering) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Links with their lines; anything else is a problem, and skipped up to the next link that starts a line."""
    at, line = 0, 1
    while (start := _after(_BETWEEN, text, at)) < len(text):
        line += text.count("\n", at, start)
        if match := _LINK.match(text, start):
            attributes = {name.lower(): quoted or bare for name, quoted, bare in _ATTRIBUTE.findall(match[2])}
            yield line, match[1], attributes
            end = match.end()
        else:
            gathering.problems.add(file, line, "not a link")
            following = _NEXT.search(text, start)
            end = following.start() if following else len(text)
        line += text.count("\n", start, end)
        at = end


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _append(found: _TimeMap, date: Any, file: str, gathering: Gathering) -> None:
    for line, address, text in found.mementos:
        url = found.original or original_of(address)
        try:
            time = date(text)
            instant = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError):
            gathering.problems.add(file, line, f"impossible date {text!r}")
            continue
        if not url:
            gathering.problems.add(file, line, "no original URL")
            continue
        page = url.encode("utf-8", "replace")
        try:
            gathering.append(page, page, instant, b"-")
        except ValueError as error:
            gathering.problems.add(file, line, str(error))
    if found.original:
        gathering.originals.add(found.original)
    if found.self:
        gathering.pages_read.add(found.self)
    gathering.pages.update(found.pages)


# -- links of a memento without the archive's banner and URLs ----------------------------------------------------------


_BANNER = b"<!-- BEGIN WAYBACK TOOLBAR INSERT -->", b"<!-- END WAYBACK TOOLBAR INSERT -->"
_ARCHIVED = re.compile(r"/\d{4,14}(?:[a-z]{2}_)?/(https?:/{1,2}.*)", re.IGNORECASE | re.DOTALL)
_STAMPED = re.compile(r"/\d{14}(?:[a-z]{2}_)?/(https?:/{1,2}.*)", re.IGNORECASE | re.DOTALL)
_ONE_SLASH = re.compile(r"(https?:)/+", re.IGNORECASE)


def memento_links(body: bytes, original: str, memento: str, content_type: str | None = None) -> frozenset[str]:
    """The links in a replayed document, relative to the original URL, without the archive's own.

    >>> page = b'<a href="/web/20200101000000/http://a.org/b">b</a><a href="c">c</a><a href="http://x.net/help">?</a>'
    >>> sorted(memento_links(page, "http://a.org/", "http://x.net/web/20200101000000/http://a.org/"))
    ['http://a.org/b', 'http://a.org/c']
    """
    archive = urlsplit(memento).netloc
    links = extract(_without_banner(body), original, content_type).links
    plain = (_unwrapped(url) for url in links)
    return frozenset(url for url in plain if urlsplit(url).netloc != archive)


def _without_banner(body: bytes) -> bytes:
    """The body without its first banner; only one, so that a body with many beginnings takes linear time."""
    before, begin, rest = body.partition(_BANNER[0])
    _, end, after = rest.partition(_BANNER[1])
    return before + after if begin and end else body


def original_of(memento: str) -> str | None:
    """The original URL in a memento's URL, if it has one with a timestamp.

    >>> original_of("https://x.net/web/20200101000000id_/http://a.org/b"), original_of("http://a.org/")
    ('http://a.org/b', None)
    """
    match = _STAMPED.search(memento)
    return _ONE_SLASH.sub(r"\1//", match[1], count=1) if match else None


def _unwrapped(url: str) -> str:
    match = _ARCHIVED.search(url)
    return _ONE_SLASH.sub(r"\1//", match[1], count=1) if match else url
