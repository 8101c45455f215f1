"""Files that a page names beside its links: in its metadata, its handlers, its scripts and the data of its elements.

Of scripts only whole texts: an absolute address, or one from the root of the host, that ends as files for people do and
is not put together with others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from lxml import etree

from sharc_crawler.links.found import Resolver

MOST = 1_000  #: of one document: more are data, not ways on
#: Elements ``meta`` by which journals and repositories name a work's files (Google Scholar, bepress, EPrints).
_CITED = (
    r"(?i)(?:\w+_)?citation_(?:(?:abstract|fulltext|full)_)?(?:pdf|html|epub|xml)_url|citation_public_url"
    r"|eprints\.document_url"
)
#: Media types of alternates that are a file of the page's, and no second form of it for programs.
_TYPE = (
    r"(?i)\s*(?:(?:audio|video)/.+|application/(?:pdf|epub\+zip|zip|rtf|postscript|msword|vnd\.(?:ms-|oasis\.|openxml).*)"
    r"|text/csv|image/vnd\.djvu)\s*"
)
ENDING = (
    r"(?:pdf|do[ct][xm]?|xls[xmb]?|pp[ts][xm]?|od[tspg]|rtf|epub|mobi|azw3|djvu?|zip|7z|rar|tgz|tar(?:\.\w{2,3})?"
    r"|mp[34]|m4[abv]|ogg|og[av]|opus|flac|wav|wma|mpe?g|mov|avi|wmv|webm|mkv|flv|csv|tsv|kmz)"
)
_FETCHED = "(?:json|xml)"  #: what scripts read, and people do not: the page needs it, as what searches its index
SLASH = r"(?:/|\\/|\\u002[Ff])"
#: A text by itself, each character of which is looked at once. Loaded by the first page that needs it, as those below:
#: a process that reads starts as often as there are captures.
QUOTED = r"[\"'](?<!\+.)(?<!\+\s.)(?:(?<=\")([^\"'\s<>]{4,1500})\"|(?<=')([^\"'\s<>]{4,1500})')(?!\s*[+.])"
FILE = r"(?i)((?:https?:/)?/[^\\{}()*$|`?#]+\.%s(?:\?[^\\{}()*$|`#]+)?)(?:\#.*)?"

#: What elements tell scripts, in small letters; what of a value may be an address, or hide another attribute.
_TOLD = rb"data-[^\s=>]*+(?:\s*+=\s*+(?:\"[^\"]*+|'[^']*+|[^\s>]*+))?+"
_TELLS = rb"\.\w|&[#p]|[<>=]|data-"
BACKGROUNDS = ("data-bg", "data-background", "data-background-image")  #: of which any value may be an address
_DATA: Any = etree.XPath("//*[@*[starts-with(name(), 'data-')]]", smart_strings=False)
_HANDLERS: Any = etree.XPath("//@onclick", smart_strings=False)


def is_cited(name: str) -> bool:
    """Does an element ``meta`` of this name hold the address of a work, or of a file of it?

    >>> is_cited("citation_pdf_url"), is_cited("bepress_citation_pdf_url"), is_cited("citation_title")
    (True, True, False)
    """
    return re.fullmatch(_CITED, name.strip()) is not None


def is_type(media_type: str) -> bool:
    """Is an alternate of this type a file for people?

    >>> is_type("application/pdf"), is_type("audio/mpeg"), is_type("text/calendar"), is_type("application/json+oembed")
    (True, True, False, False)
    """
    return re.fullmatch(_TYPE, media_type) is not None


_MAYBE = rf"\.(?:{ENDING}|{_FETCHED})".encode() + rb"(?:\?[^\"'\s<>?#]*)?(?:\#[^\"'\s<>?#]*)?[\"'&]"


def maybe(lower: bytes) -> bool:
    """Does a text of a document, in small letters, end as an address of a file does? Most pages name none."""
    return re.search(_MAYBE, lower) is not None


def written(script: str, ending: str = ENDING) -> Iterator[str]:
    r"""Files in the texts of a script, with such an ending.

    >>> list(written('{"a": "https:\\/\\/h\\/a.pdf", "b": "/b.zip?c", "c": "/d/" + e + "/f.pdf", "g": "g.pdf"}'))
    ['https://h/a.pdf', '/b.zip?c']
    """
    for match in re.finditer(QUOTED, script):
        if named := re.fullmatch(FILE % ending, re.sub(SLASH, "/", match[1] or match[2])):
            yield named[1]


def fetched(script: str) -> Iterator[str]:
    """Data that a script reads, by whole addresses from the root of a host.

    >>> list(fetched('fetch("/search/index.json"); go("/a.pdf"); get("b.xml"); get("/c/" + d + ".json")'))
    ['/search/index.json']
    """
    return written(script, _FETCHED)


def fetched_by_elements(scripts: Iterable[Any]) -> Iterator[str]:
    """Data that a page's own scripts read; scripts that are data themselves tell of nothing."""
    for script in scripts:
        if "json" not in script.get("type", ""):
            yield from fetched(script.text)


def told(root: Any, lower: bytes) -> list[tuple[str, str]]:
    """The ``data-`` attributes of a page, whose text in small letters mostly says that none names a file."""
    said = (one[0].partition(b"=") for one in re.finditer(_TOLD, lower)) if b"data-" in lower else ()
    tells = (value and (name.startswith(b"data-b") or re.search(_TELLS, value)) for name, _, value in said)
    elements = _DATA(root) if any(tells) else ()
    return [one for element in elements for one in element.items() if one[0].startswith("data-")]


def of_elements(root: Any, scripts: Iterable[Any], data: Iterable[tuple[str, str]], lower: bytes) -> Iterator[str]:
    """Files in the scripts, the handlers and the data of a page, whose text in small letters spares a search."""
    for script in scripts:
        yield from written(script.text)
    for handler in _HANDLERS(root) if b"onclick" in lower else ():
        yield from written(handler)
    for _, value in data:
        yield from written(f'"{value}"')


def of_host(references: Iterable[str], resolver: Resolver, url: str) -> list[str]:
    """Those on the host of the document itself, which is at ``url``; absolute."""
    host = _host(url)
    found = filter(None, map(resolver.one, islice(dict.fromkeys(references), MOST)))
    return [one for one in found if _host(one) == host]


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()
