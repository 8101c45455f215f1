"""Attributes that a reader sees something of: addresses of links and images, words; and what of each is noise."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sharc_crawler.changes.noise import plain_text
from sharc_crawler.changes.tokens import looks_made_up, without_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: parameters that are made anew for each request; those whose names say less, where their values look so
_VOLATILE = re.compile(
    r"(?:(?<=\?)|[&;])(?:(?:\w{0,64}?(?:csrf|xsrf|nonce)\w{0,64}+|\w{0,64}?(?:token|sess(?:ion)?id)|cachebuster|cb|x-(?:amz|goog)-[\w-]+|signature)=[^&;#?]*"
    r"|\w{0,64}?session_id=[^&;#?]{8,}|\w{0,64}?sid=(?=[a-z]*\d)[0-9a-z]{26,64}|_=\d+|(?:t|ts|time|timestamp|expires)=\d{9,})",
    re.IGNORECASE,
)
#: a fragment that is made anew for each request: a long number, hexadecimal or not, or letters and digits by turns
MADE_UP = re.compile(
    r"(?=[a-f]{0,8}\d)[0-9a-f]{8,}|[a-z]\d{1,4}[a-z]{1,4}\d{1,4}[a-z]|\d{1,4}[a-z]{1,4}\d{1,4}[a-z]{1,4}\d",
    re.IGNORECASE,
)
#: files whose query is a version or a size; of any other address it may say which image it is (image.php?id=5)
_MEDIA = re.compile(r"\.(?:avif|bmp|gif|ico|jpe?g|m4a|mp[34]|ogg|png|svg|webm|webp)$", re.IGNORECASE)
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
#: perhaps a session id within a path: long, hexadecimal, and not the end of it (which names a document)
_SESSION = re.compile(r"(?<=/)(?:[0-9a-f]{24,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=/)", re.IGNORECASE)
_VALUES = re.compile(r"=([^&;]+)")
_LONG_ENOUGH = 25  #: characters of an address that may hold one
_SESSION_LINKS = 3  #: at least


def plain_link(link: str) -> str:
    """An address without the parameters, or the fragment, that change from request to request.

    >>> plain_link("/next?page=2&csrf_token=abc#top"), plain_link("/next#edit-4f2a9c0b")
    ('/next?page=2#top', '/next')
    """
    address, _, fragment = link.partition("#")
    if "?" in address or ";" in address:
        path, mark, query = _VOLATILE.sub("", address).partition("?")
        query = without_tokens(query)
        address = f"{path}{mark}{query}" if query else path
    return f"{address}#{fragment}" if fragment and not MADE_UP.search(fragment) else address


def plain_source(address: str) -> str:
    """Where an image or what else is embedded is, without versions and sizes.

    >>> plain_source("/a.png?v=7"), plain_source("/image.php?id=5")
    ('/a.png', '/image.php?id=5')
    """
    path = address.partition("?")[0]
    return path if _MEDIA.search(path) else plain_link(address)


def plain_sources(candidates: str) -> str:
    """The addresses in a ``srcset``.

    >>> plain_sources("/a-1.jpg?v=2 1x, /a-2.jpg 2x")
    '/a-1.jpg /a-2.jpg'
    """
    return " ".join(plain_source(each.split()[0]) for each in re.split(r",\s+", candidates) if each.split())


def plain_style(style: str) -> str:
    """The images of a ``style`` attribute.

    >>> plain_style("color: red; background: url('/a.jpg')")
    '/a.jpg'
    """
    return " ".join(map(plain_source, _CSS_URL.findall(style)))


def plain_words(text: str) -> str:
    """The words of an attribute: of a label that a program made for itself, none.

    >>> plain_words("12 users online, one writes"), plain_words("uid-9f3Kx02Lm41Qz77a")
    (', one writes', '')
    """
    if looks_made_up(text):
        return ""
    return _remembered(text) if len(text) <= _SHORT else plain_text(text)


_SHORT = 100  #: characters of a label: a page has the same ones again and again
_remembered = lru_cache(maxsize=2_000)(plain_text)

_SOURCES = (
    "src data poster data-src data-original data-lazy data-lazy-src data-poster data-bg data-background"
    " data-background-image"
)
_WORDS = "alt title aria-label placeholder label value start"
#: attributes that count, and what of their values does
PLAIN: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("href", "xlink:href"), plain_link),
    **dict.fromkeys(_SOURCES.split(), plain_source),
    **dict.fromkeys(("srcset", "data-srcset", "data-lazy-srcset"), plain_sources),
    "style": plain_style,
    **dict.fromkeys(_WORDS.split(), plain_words),
}
ADDRESSES = PLAIN.keys() - set(_WORDS.split())
#: elements of which an attribute counts, unless of any
_OF = {"data": {"object"}, "start": {"ol"}, "value": {"input", "li", "meter", "progress"}}


def values(root: Any) -> Iterator[str]:
    """All that counts in the attributes of a cleaned page, in its order."""
    found = [
        (name, value)
        for element in root.iter()
        for name, value in element.items()
        if name in PLAIN and (name not in _OF or element.tag in _OF[name])
    ]
    sessions = _sessions([value for name, value in found if name == "href"])
    for name, value in found:
        for session in sessions:
            value = value.replace(session, "")
        if plain := PLAIN[name](value):
            yield plain


def _ids(link: str) -> set[str]:
    """What may be the id of a session in an address."""
    found = _VALUES.findall(link.partition("#")[0].partition("?")[2])
    return {*_SESSION.findall(link), *filter(looks_made_up, found)}


def _sessions(links: Sequence[str]) -> list[str]:
    """Ids in the paths, or queries, of most links of a page: that of a session; a document's is in its own."""
    ids = Counter(name for link in links if len(link) > _LONG_ENOUGH for name in _ids(link))
    return [name for name, count in ids.items() if count >= max(_SESSION_LINKS, len(links) / 2)]
