"""The usual faults of XML in the wild that would cost addresses, mended before the parser sees them."""

from __future__ import annotations

import re

from w3lib.encoding import read_bom

_HEAD = 4_096  #: bytes in which a document says what it is
_START = re.compile(rb"<\?xml\b|<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|RDF)\b")
#: After comments and instructions; what was matched is not tried otherwise, so that a long page costs one pass.
_HTML = re.compile(rb"\s*+(?>(?:<!--.*?-->|<\?.*?\?>)\s*+)*+<(?:!doctype\s++)?html\b", re.IGNORECASE | re.DOTALL)
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
#: An ``&`` that begins no reference. CDATA, where it may stand, is matched to be passed over; where it has no end, all
#: the rest is: a search from each of many beginnings would take a pass for each.
_BARE_AMPERSAND = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:[A-Za-z]\w{0,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});)", re.DOTALL
)


def without_mark(data: bytes) -> bytes:
    """The document without byte order mark, in UTF-8 where it had one; an XML declaration that says else is dropped."""
    encoding, mark = read_bom(data)
    if encoding is None or mark is None:
        return data
    text = data[len(mark) :].decode(encoding, "replace")
    return (text if encoding == "utf-8" else _DECLARATION.sub("", text, count=1)).encode()


def is_xml(data: bytes) -> bool:
    """Whether to read this as XML: it begins with a tag, or a sitemap's root or declaration stands in its head."""
    head = data[:_HEAD].replace(b"\0", b"")  # UTF-16 without byte order mark
    return head.lstrip().startswith(b"<") or _START.search(head) is not None


def is_html(data: bytes) -> bool:
    """Whether this says that it is a web page, by its document type or its first tag.

    >>> is_html(b"<!-- a --> <!DocType HTML><title>x"), is_html(b"<urlset><!-- <html> -->")
    (True, False)
    """
    return _HTML.match(data) is not None


def mended(data: bytes) -> tuple[bytes, list[str]]:
    """The document with its usual faults mended, and their names.

    >>> mended(b"x <?xml version='1.0'?><loc>http://h/?a=1&b=2</loc><loc>http://h/cut-of")[0]
    b"<?xml version='1.0'?><loc>http://h/?a=1&amp;b=2</loc><loc>"
    """
    problems = []
    data = data.lstrip()
    start = _START.search(data, 0, _HEAD)
    if start and start.start() and (start[0] == b"<?xml" or not data.startswith(b"<")):
        problems.append("text before the XML")
        data = data[start.start() :]
    data = data[: data.rfind(b">") + 1]  # after the last tag there is white space, or an address cut short
    escaped = _BARE_AMPERSAND.sub(_escaped, data) if b"&" in data else data
    if escaped != data:
        problems.append("ampersands that are not escaped: read as themselves")
    return escaped, problems


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"&amp;" if match[0] == b"&" else match[0]
