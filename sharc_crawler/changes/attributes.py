"""Attributes that matter to readers (URLs of links and images, words), without the noise in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from sharc_crawler.changes.noise import plain_text

#: parameters that change with each request; if the name alone does not tell, the value must look like it
_VOLATILE = re.compile(
    r"(?:(?<=\?)|[&;])(?:(?:\w{0,64}?(?:csrf|xsrf|nonce)\w{0,64}+|\w{0,64}?(?:token|sess(?:ion)?id)|cachebuster|cb|x-(?:amz|goog)-[\w-]+|signature)=[^&;#?]*"
    r"|\w{0,64}?session_id=[^&;#?]{8,}|\w{0,64}?sid=(?=[a-z]*\d)[0-9a-z]{26,64}|_=\d+|(?:t|ts|time|timestamp|expires)=\d{9,})",
    re.IGNORECASE,
)
#: a fragment that changes with each request: a long number, perhaps hexadecimal, or alternating letters and digits
MADE_UP = re.compile(
    r"(?=[a-f]{0,8}\d)[0-9a-f]{8,}|[a-z]\d{1,4}[a-z]{1,4}\d{1,4}[a-z]|\d{1,4}[a-z]{1,4}\d{1,4}[a-z]{1,4}\d",
    re.IGNORECASE,
)
#: files whose query is only a version or size; otherwise it may identify the image (image.php?id=5)
_MEDIA = re.compile(r"\.(?:avif|bmp|gif|ico|jpe?g|m4a|mp[34]|ogg|png|svg|webm|webp)$", re.IGNORECASE)
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
#: a possible session id in a path: long, hexadecimal, and not at its end (which names a document)
_SESSION = re.compile(r"(?<=/)(?:[0-9a-f]{24,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=/)", re.IGNORECASE)
_VALUES = re.compile(r"=([^&;]+)")
_LONG_ENOUGH = 25  #: least characters of a URL with one
_SESSION_LINKS = 3  #: least links with the same id


def plain_link(link: str) -> str:
    """A URL without parameters, or a fragment, that change from request to request.

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
    """The URL of an embedded image or file, without versions and sizes.

    >>> plain_source("/a.png?v=7"), plain_source("/image.php?id=5")
    ('/a.png', '/image.php?id=5')
    """
    path = address.partition("?")[0]
    return path if _MEDIA.search(path) else plain_link(address)


def plain_sources(candidates: str) -> str:
    """The URLs in a ``srcset``.

    >>> plain_sources("/a-1.jpg?v=2 1x, /a-2.jpg 2x")
    '/a-1.jpg /a-2.jpg'
    """
    return " ".join(plain_source(each.split()[0]) for each in re.split(r",\s+", candidates) if each.split())


def plain_style(style: str) -> str:
    """The images in a ``style`` attribute.

    >>> plain_style("color: red; background: url('/a.jpg')")
    '/a.jpg'
    """
    return " ".join(map(plain_source, _CSS_URL.findall(style)))


def plain_words(text: str) -> str:
    """The words in an attribute, without noise; none if it looks generated.

    >>> plain_words("12 users online, one writes"), plain_words("uid-9f3Kx02Lm41Qz77a")
    (', one writes', '')
    """
    if looks_made_up(text):
        return ""
    return _remembered(text) if len(text) <= _SHORT else plain_text(text)


_SHORT = 100  #: most characters of a label that is cached: a page repeats them
_remembered = lru_cache(maxsize=2_000)(plain_text)

_SOURCES = (
    "src data poster data-src data-original data-lazy data-lazy-src data-poster data-bg data-background"
    " data-background-image"
)
_WORDS = "alt title aria-label placeholder label value start"
#: attributes that count → a function for the part of their values that does
PLAIN: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("href", "xlink:href"), plain_link),
    **dict.fromkeys(_SOURCES.split(), plain_source),
    **dict.fromkeys(("srcset", "data-srcset", "data-lazy-srcset"), plain_sources),
    "style": plain_style,
    **dict.fromkeys(_WORDS.split(), plain_words),
}
ADDRESSES = PLAIN.keys() - set(_WORDS.split())
#: attributes that count only for these elements
_OF = {"data": {"object"}, "start": {"ol"}, "value": {"input", "li", "meter", "progress"}}


def values(root: Any) -> Iterator[str]:
    """The parts that count of all attributes of a cleaned page, in order."""
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
    """Possible session ids in a URL."""
    found = _VALUES.findall(link.partition("#")[0].partition("?")[2])
    return {*_SESSION.findall(link), *filter(looks_made_up, found)}


def _sessions(links: Sequence[str]) -> list[str]:
    """Session ids: ids that occur in most links of a page, while a document's id is only in its own."""
    ids = Counter(name for link in links if len(link) > _LONG_ENOUGH for name in _ids(link))
    return [name for name, count in ids.items() if count >= max(_SESSION_LINKS, len(links) / 2)]


# -- parts of URLs that look as if they change with each request: signatures, click ids, times -------------------------

# A random-looking value may identify the document (``?v=``, ``?id=``), so it counts by default. It does not beside
# a whole URL that the link redirects to, or if its name is typical of signatures or click ids.

_LONG = 16  #: least characters of a random-looking value
_MIXED = 0.25  #: least share of its characters that follow one of another kind (upper case, lower case, digit)
_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_ALPHABET = re.compile(r"[\w.~%+/=-]+", re.ASCII)
_LEADS_ON = re.compile(r"(?:https?:)?//[\w.-]+\.", re.IGNORECASE)
#: click ids of advertisers, which identify the person, not the document
_CLICK = re.compile(
    r"(?:fb|g|d|y|w|tt|li_|msclk|igsh|mc_e)(?:cl|fat_|)id|gclsrc|_ga|_gl|__\w+__(?:\[\d*\])?", re.IGNORECASE
)
_SIGNATURE = re.compile(r"sig|hmac|mac", re.IGNORECASE)
_TIME = re.compile(r"1\d{9}(?:\d{3})?")  #: unix seconds or milliseconds, without a name
_APART = re.compile(r"([&;])")


def looks_made_up(value: str) -> bool:
    """Is a value a random-looking mix of letters and digits, rather than a word, number or slug?

    >>> [looks_made_up(text) for text in ("AT0kq7Zx91mPq2sLw8", "the-river-and-the-bridge-2024", "20261120103107")]
    [True, False, False]
    """
    if len(value) < _LONG or not _ALPHABET.fullmatch(value):
        return False
    kinds = [kind for part in re.split(r"[\W_]+", value) for kind in _KINDS.findall(part)]
    letters, digits = (any(one[0].isdigit() is number for one in kinds) for number in (False, True))
    return letters and digits and len(kinds) - 1 >= _MIXED * len(value)


def without_tokens(query: str) -> str:
    """A query without parameters that look like tokens.

    >>> without_tokens("u=https%3A%2F%2Fexample.org%2Fa&h=AT0kq7Zx91mPq2sLw8"), without_tokens("v=AT0kq7Zx91mPq2sLw8")
    ('u=https%3A%2F%2Fexample.org%2Fa', 'v=AT0kq7Zx91mPq2sLw8')
    """
    parts = _APART.split(query)
    pairs = [pair.partition("=") for pair in parts[::2]]
    leads_on = any(_LEADS_ON.match(unquote(value)) for _, _, value in pairs)
    kept = [pair for pair, one in zip(parts[::2], pairs, strict=True) if not _is_token(*one, leads_on=leads_on)]
    return query if len(kept) == len(pairs) else "&".join(kept)


def _is_token(name: str, equals: str, value: str, *, leads_on: bool) -> bool:
    if not equals:
        return bool(_TIME.fullmatch(name))
    if _CLICK.fullmatch(unquote(name)):
        return True
    plain = unquote(value)
    signs = leads_on and not _LEADS_ON.match(plain)
    return (signs or bool(_SIGNATURE.fullmatch(name))) and looks_made_up(plain)
