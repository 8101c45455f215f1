"""An HTML page, decoded and parsed once for whoever reads it: its links, its text, what of it counts as content."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from sharc_crawler.markup import bounded, parse
from sharc_crawler.text import as_text

#: the parser stops at the first of these; browsers read on, and many servers write on
ENDS = re.compile(rb"</(?:html|body)\s*>", re.IGNORECASE)


class HtmlPage(NamedTuple):
    """A page as a tree. Whoever changes the tree is the last to use it."""

    root: Any  #: ``None``: there is nothing in it
    data: bytes  #: what was parsed, in UTF-8
    encoding: str  #: that the page came in
    left_out: tuple[str, ...]  #: what of it was not looked at, as it would cost too much
    whole: bool  #: read to its end, each byte for what it is: two of them can be compared


def parsed(body: bytes, content_type: str | None) -> HtmlPage:
    """A page; reads anything, never raises.

    The encoding is told, in this order, by byte order mark, header, ``meta``, else it is UTF-8.

    >>> page = parsed(b"<p>a</body><p>b", "text/html")
    >>> page.root.xpath("//p/text()"), page.whole
    (['a', 'b'], True)
    """
    encoding, text = as_text(body, content_type)
    data, left_out = bounded(ENDS.sub(b"", text.encode("utf-8", "replace")))
    root, ended = parse(data)
    return HtmlPage(root, data, encoding, left_out, ended and not left_out and "\ufffd" not in text)
