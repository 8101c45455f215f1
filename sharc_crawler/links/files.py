"""Find files that a page refers to outside of links: in metadata, event handlers, scripts and ``data-`` attributes.

In scripts, only whole string literals count: an absolute URL or path with the ending of a file for people, not
concatenated with other strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from lxml import etree

from sharc_crawler.links.found import Resolver

MOST = 1_000  #: most files of a document: more are data, not links
#: Names of ``meta`` elements with a work's files in journals and repositories (Google Scholar, bepress, EPrints).
_CITED = (
    r"(?i)(?:\w+_)?citation_(?:(?:abstract|fulltext|full)_)?(?:pdf|html|epub|xml)_url|citation_public_url"
    r"|eprints\.document_url"
)
#: Media types of alternates that are files for people, rather than another form of the page for programs.
_TYPE = (
    r"(?i)\s*(?:(?:audio|video)/.+|application/(?:pdf|epub\+zip|zip|rtf|postscript|msword|vnd\.(?:ms-|oasis\.|openxml).*)"
    r"|text/csv|image/vnd\.djvu)\s*"
)
ENDING = (
    r"(?:pdf|do[ct][xm]?|xls[xmb]?|pp[ts][xm]?|od[tspg]|rtf|epub|mobi|azw3|djvu?|zip|7z|rar|tgz|tar(?:\.\w{2,3})?"
    r"|mp[34]|m4[abv]|ogg|og[av]|opus|flac|wav|wma|mpe?g|mov|avi|wmv|webm|mkv|flv|csv|tsv|kmz)"
)
_FETCHED = "(?:json|xml)"  #: endings of files that only scripts read, such as a search index, but that the page needs
SLASH = r"(?:/|\\/|\\u002[Ff])"
#: A string literal that is not concatenated; matches in linear time. Compiled when first needed, like those below, as
#: each capture starts a process for reading.
QUOTED = r"[\"'](?<!\+.)(?<!\+\s.)(?:(?<=\")([^\"'\s<>]{4,1500})\"|(?<=')([^\"'\s<>]{4,1500})')(?!\s*[+.])"
FILE = r"(?i)((?:https?:/)?/[^\\{}()*$|`?#]+\.%s(?:\?[^\\{}()*$|`#]+)?)(?:\#.*)?"

#: A ``data-`` attribute in lower case; and what in its value may be a URL, or hide another attribute.
_TOLD = rb"data-[^\s=>]*+(?:\s*+=\s*+(?:\"[^\"]*+|'[^']*+|[^\s>]*+))?+"
_TELLS = rb"\.\w|&[#p]|[<>=]|data-"
BACKGROUNDS = ("data-bg", "data-background", "data-background-image")  #: attributes whose value is always a URL
_DATA: Any = etree.XPath("//*[@*[starts-with(name(), 'data-')]]", smart_strings=False)
_HANDLERS: Any = etree.XPath("//@onclick", smart_strings=False)


def is_cited(name: str) -> bool:
    """Does a ``meta`` element with this name have the URL of a work, or of a file of it?

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
    """May a document, given in lower case, contain the URL of a file? False for most pages."""
    return re.search(_MAYBE, lower) is not None


def written(script: str, ending: str = ENDING) -> Iterator[str]:
    r"""Files with these endings in the string literals of a script.

    >>> list(written('{"a": "https:\\/\\/h\\/a.pdf", "b": "/b.zip?c", "c": "/d/" + e + "/f.pdf", "g": "g.pdf"}'))
    ['https://h/a.pdf', '/b.zip?c']
    """
    for match in re.finditer(QUOTED, script):
        if named := re.fullmatch(FILE % ending, re.sub(SLASH, "/", match[1] or match[2])):
            yield named[1]


def fetched(script: str) -> Iterator[str]:
    """Data files in a script, given by absolute URLs or paths.

    >>> list(fetched('fetch("/search/index.json"); go("/a.pdf"); get("b.xml"); get("/c/" + d + ".json")'))
    ['/search/index.json']
    """
    return written(script, _FETCHED)


def fetched_by_elements(scripts: Iterable[Any]) -> Iterator[str]:
    """Data files in a page's scripts, except scripts that are data themselves."""
    for script in scripts:
        if "json" not in script.get("type", ""):
            yield from fetched(script.text)


def told(root: Any, lower: bytes) -> list[tuple[str, str]]:
    """The ``data-`` attributes of a page; none if its text in lower case shows that none contains a file."""
    said = (one[0].partition(b"=") for one in re.finditer(_TOLD, lower)) if b"data-" in lower else ()
    tells = (value and (name.startswith(b"data-b") or re.search(_TELLS, value)) for name, _, value in said)
    elements = _DATA(root) if any(tells) else ()
    return [one for element in elements for one in element.items() if one[0].startswith("data-")]


def of_elements(root: Any, scripts: Iterable[Any], data: Iterable[tuple[str, str]], lower: bytes) -> Iterator[str]:
    """Files in the scripts, event handlers and ``data-`` attributes of a page; ``lower``: its text in lower case."""
    for script in scripts:
        yield from written(script.text)
    for handler in _HANDLERS(root) if b"onclick" in lower else ():
        yield from written(handler)
    for _, value in data:
        yield from written(f'"{value}"')


def of_host(references: Iterable[str], resolver: Resolver, url: str) -> list[str]:
    """The references to the host of the document itself, which is at ``url``, as absolute URLs."""
    host = _host(url)
    found = filter(None, map(resolver.one, islice(dict.fromkeys(references), MOST)))
    return [one for one in found if _host(one) == host]


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()
