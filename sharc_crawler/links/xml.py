"""Extract the references of XML: style sheets (``<?xml-stylesheet?>``), includes of XSL sheets, a feed's other pages.

From descriptions of works by libraries and archives, facsimiles and files on the document's own host are taken.

Source: RFC 5005 (feeds in pages, and their archives), TEI P5 (``att.media``), METS (``FLocat``), EAD (``dao``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from sharc_crawler.bodies.text import as_text
from sharc_crawler.links.files import of_host
from sharc_crawler.links.found import Found, Resolver

_STYLE = re.compile(r"<\?xml-stylesheet\s([^<>]{1,2000})>")
_XSL = "http://www.w3.org/1999/XSL/Transform"
_INCLUDED = re.compile(r"<(?:[\w.-]{1,64}:)?(?:include|import)\s([^<>]{1,2000})>")
_HREF = re.compile(r"(?<![\w:.-])href\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DESCRIBES = re.compile(
    r"www\.tei-c\.org/ns/|www\.loc\.gov/METS/|urn:isbn:1-931666-22-9|ead3\.archivists\.org/schema|<TEI|<ead"
)
_WORK = re.compile(r"<(?:[\w.-]{1,64}:)?(?:graphic|media|FLocat|dao)\s([^<>]{1,2000})>")
_FILE = re.compile(r"(?<![\w:.-])(?:url|(?:[\w.-]{1,64}:)?href)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LINK = re.compile(r"<(?:[\w.-]{1,64}:)?link\s([^<>]{1,2000})>")
_PAGED = re.compile(r"(?<![\w:.-])rel\s*=\s*[\"']\s*(?:next|prev-archive|next-archive)\s*[\"']")


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:
    """The style sheets and files of a document as resources, and a feed's other pages on its host. Never raises.

    >>> extract(b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="a.xsl?b&amp;c"?><d/>', "http://h/x/").resources
    ('http://h/x/a.xsl?b&c',)
    """
    text = as_text(body, content_type)[1]
    resolver = Resolver(url)
    resources, left_out = resolver.all((*references(text), *of_host(files_of_work(text), resolver, url)))
    return Found(tuple(of_host(paged(text), resolver, url)), resources, url, left_out)


def paged(text: str) -> Iterator[str]:
    """The next pages of a feed, mostly with older entries, as written.

    >>> list(paged('<rss><atom:link rel="next" href="/rss?p=2&amp;q"/><atom:link rel="self" href="/rss"/></rss>'))
    ['/rss?p=2&q']
    """
    for match in _LINK.finditer(text):
        if _PAGED.search(match[1]) and (href := _HREF.search(match[1])):
            yield unescape(href[1] or href[2] or "")


def files_of_work(text: str) -> Iterator[str]:
    """The files of a work that a document describes, as written.

    >>> list(files_of_work('<TEI xmlns="http://www.tei-c.org/ns/1.0"><graphic url="f1.jpg"/></TEI>'))
    ['f1.jpg']
    """
    for match in _WORK.finditer(text) if _DESCRIBES.search(text) else ():
        if address := _FILE.search(match[1]):
            yield unescape(address[1] or address[2] or "")


def references(text: str) -> Iterator[str]:
    """The references of a document, as written."""
    for pattern in (_STYLE, _INCLUDED) if _XSL in text else (_STYLE,):
        for match in pattern.finditer(text):
            if href := _HREF.search(match[1]):
                yield unescape(href[1] or href[2] or "")
