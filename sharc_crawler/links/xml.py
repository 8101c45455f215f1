"""What an XML document needs to be shown: style sheets (``<?xml-stylesheet?>``), and what an XSL sheet includes."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from sharc_crawler.links.found import Found, Resolver
from sharc_crawler.text import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_STYLE = re.compile(r"<\?xml-stylesheet\s([^<>]{1,2000})>")
_XSL = "http://www.w3.org/1999/XSL/Transform"
_INCLUDED = re.compile(r"<(?:[\w.-]{1,64}:)?(?:include|import)\s([^<>]{1,2000})>")
_HREF = re.compile(r"(?<![\w:.-])href\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:
    """Its style sheets, all of them resources. Reads anything, never raises.

    >>> extract(b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="a.xsl?b&amp;c"?><d/>', "http://h/x/").resources
    ('http://h/x/a.xsl?b&c',)
    """
    text = as_text(body, content_type)[1]
    resources, left_out = Resolver(url).all(references(text))
    return Found((), resources, url, left_out)


def references(text: str) -> Iterator[str]:
    """The references of a document, as written."""
    for pattern in (_STYLE, _INCLUDED) if _XSL in text else (_STYLE,):
        for match in pattern.finditer(text):
            if href := _HREF.search(match[1]):
                yield unescape(href[1] or href[2] or "")
