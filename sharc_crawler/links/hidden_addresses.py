"""Addresses that lead on from a page and stand in no link: in its headers, its scripts, its menus.

Of a script only what it opens by an address written out: a text that is put together is none.

Source: RFC 8288 (``Link``); ``Refresh`` as browsers read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

MOST = 1_000  #: of one page: more are data, not ways on
# Compiled by the first page that needs them: a process that reads starts as often as there are captures.
_LINK = r"<([^<>]*)>((?:\s*;[^;,\"]*(?:\"[^\"]*\")?)*)"
_RELATION = r"(?i);\s*rel\s*=\s*\"?([^\";]*)"
_TYPE = r"(?i);\s*type\s*=\s*\"?([^\";]*)"
_WRITTEN = rb"\s*(?:\"([^\"'<>\\\s]{1,2000})\"|'([^\"'<>\\\s]{1,2000})'|&quot;([^\"'<>\\&\s]{1,2000})&quot;)(?!\s*\+)"
#: Each begins with a fixed text, which is searched for by itself in a tenth of the time.
_OPENED = (
    re.compile(rb"window\.open\s*\(" + _WRITTEN),
    re.compile(rb"location(?:(?:\.href)?\s*=|\.(?:replace|assign)\s*\()" + _WRITTEN),
)
_IN_NAME = re.compile(rb"[\w$]")
_ADDRESS = re.compile(
    r"https?://\S+|\.{0,2}/[^\s/]\S*|[^\s:?#]+\.(?:[sx]?html?|php\d?|aspx?|jsp|cgi|pdf)(?:[?#]\S*)?", re.I
)


def is_address(text: str) -> bool:
    """Does a value of a menu, or a text of a script, say where it leads?

    >>> is_address("/news/"), is_address("page2.htm"), is_address("de"), is_address("1/2 pound")
    (True, True, False, False)
    """
    return _ADDRESS.fullmatch(text.strip()) is not None


def by_scripts(data: bytes) -> list[str]:
    """What scripts and handlers open or go to, where its address is written out.

    >>> by_scripts(b"<a onclick=window.open('map.htm')>m</a><script>location = '/a/' + name</script>")
    ['map.htm']
    """
    found = chain.from_iterable(pattern.finditer(data) for pattern in _OPENED)
    own = (match for match in found if not _IN_NAME.match(data[match.start() - 1 : match.start()]))
    texts = (next(filter(None, match.groups())).decode(errors="replace").replace("&amp;", "&") for match in own)
    return list(islice(filter(is_address, texts), MOST))


def linked(headers: Iterable[bytes]) -> Iterator[tuple[str, set[str], str]]:
    """The addresses in ``Link`` headers, with their relations and media type.

    >>> list(linked([b'</a.css>; rel=stylesheet, <?page=2>; rel="next"; type="text/html"']))
    [('/a.css', {'stylesheet'}, ''), ('?page=2', {'next'}, 'text/html')]
    """
    for header in headers:
        for address, said in islice(re.findall(_LINK, header.decode("latin-1")), MOST):
            relation, kind = re.search(_RELATION, said), re.search(_TYPE, said)
            yield address.strip(), set(relation[1].lower().split()) if relation else set(), kind[1] if kind else ""
