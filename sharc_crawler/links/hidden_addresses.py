"""Find URLs that a page leads to without a link element: in headers, scripts and menus.

In scripts, only whole string literals count, not concatenated ones.

Source: RFC 8288 (``Link``); ``Refresh`` as browsers read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

MOST = 1_000  #: most URLs of a page: more are data, not links
# Compiled when first needed, as each capture starts a process for reading.
_LINK = r"<([^<>]*)>((?:\s*;[^;,\"]*(?:\"[^\"]*\")?)*)"
_RELATION = r"(?i);\s*rel\s*=\s*\"?([^\";]*)"
_TYPE = r"(?i);\s*type\s*=\s*\"?([^\";]*)"
_WRITTEN = rb"\s*(?:\"([^\"'<>\\\s]{1,2000})\"|'([^\"'<>\\\s]{1,2000})'|&quot;([^\"'<>\\&\s]{1,2000})&quot;)(?!\s*\+)"
#: Each begins with a fixed text, which makes the search ten times faster.
_OPENED = (
    re.compile(rb"window\.open\s*\(" + _WRITTEN),
    re.compile(rb"location(?:(?:\.href)?\s*=|\.(?:replace|assign)\s*\()" + _WRITTEN),
)
_IN_NAME = re.compile(rb"[\w$]")
_ADDRESS = re.compile(
    r"https?://\S+|\.{0,2}/[^\s/]\S*|[^\s:?#]+\.(?:[sx]?html?|php\d?|aspx?|jsp|cgi|pdf)(?:[?#]\S*)?", re.I
)


def is_address(text: str) -> bool:
    """Is a menu's value, or a string in a script, a URL?

    >>> is_address("/news/"), is_address("page2.htm"), is_address("de"), is_address("1/2 pound")
    (True, True, False, False)
    """
    return _ADDRESS.fullmatch(text.strip()) is not None


def by_scripts(data: bytes) -> list[str]:
    """URLs that scripts and handlers open or navigate to.

    >>> by_scripts(b"<a onclick=window.open('map.htm')>m</a><script>location = '/a/' + name</script>")
    ['map.htm']
    """
    found = chain.from_iterable(pattern.finditer(data) for pattern in _OPENED)
    own = (match for match in found if not _IN_NAME.match(data[match.start() - 1 : match.start()]))
    texts = (next(filter(None, match.groups())).decode(errors="replace").replace("&amp;", "&") for match in own)
    return list(islice(filter(is_address, texts), MOST))


def linked(headers: Iterable[bytes]) -> Iterator[tuple[str, set[str], str]]:
    """The URLs in ``Link`` headers, with their relations and media type.

    >>> list(linked([b'</a.css>; rel=stylesheet, <?page=2>; rel="next"; type="text/html"']))
    [('/a.css', {'stylesheet'}, ''), ('?page=2', {'next'}, 'text/html')]
    """
    for header in headers:
        for address, said in islice(re.findall(_LINK, header.decode("latin-1")), MOST):
            relation, kind = re.search(_RELATION, said), re.search(_TYPE, said)
            yield address.strip(), set(relation[1].lower().split()) if relation else set(), kind[1] if kind else ""
