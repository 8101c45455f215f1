"""What changes at every download and is nobody's edit, on any site: rendering times, counters, ad slots, tokens.

What is noise on one site alone is learned (:mod:`sharc_crawler.changes.learning`). Narrow on purpose: an edit that is
taken for noise is worse than noise that is taken for an edit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

#: elements that show nothing to a reader
NO_CONTENT = ("script", "style", "link", "meta", "template")
_FIELDS: Any = etree.XPath(
    "//input[not(@type='submit' or @type='button' or @type='reset')] | //iframe[not(@src)]", smart_strings=False
)
_MARKED: Any = etree.XPath("//*[@id or @class]", smart_strings=False)
_MARKS: Any = etree.XPath("//@id | //@class", smart_strings=False)
_AD = re.compile(
    r"(?:^|[\s_-])(?:ads?|adverts?|advertisements?|adsense|adsbygoogle|ad(?:slot|unit|box|banner)s?|sponsored|dfp|gpt)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_ROOMS = {"html", "body", "main", "article"}  #: never an ad slot as a whole, whatever they are called
_AD_SHARE = 0.2  #: of a page's words: a site whose "ads" are more than that lives on them (classified ads)

_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d+)?(?: ?[ap]\.?m\.?)?(?: ?(?:UTC|GMT|Z|[+-]\d{2}:?\d{2}))?"
#: words that the server makes up when it is asked: what such a text holds at least, and the whole
_WORDS = tuple(
    (hints, re.compile(pattern, re.IGNORECASE))
    for hints, pattern in (
        (
            (" in ", " in:"),
            r"\b(?:generated|rendered|served|processed|executed)(?: \w+){0,3}? in:? [\d.,]+"
            r" ?(?:ms|msecs?|s|secs?|seconds?|milliseconds?)\b",
        ),
        (
            ("generated", "rendered", "served", "cached", "retrieved", "fetched"),
            rf"\b(?:generated|rendered|served|cached|retrieved|fetched)(?: on| at|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
        ),
        (
            ("current time", "local time", "server time"),
            rf"\b(?:current|local|server) time(?: is|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
        ),
        (("just now",), r"\bjust now\b"),
        ((" ago",), r"\b(?:\d+|an?|one|a few) (?:second|sec|minute|min|hour|hr)s? ago\b"),
        (("visitor ",), r"\bvisitor (?:no\.?|number|#) ?[\d.,]+"),
        (
            ("online",),
            r"\b\d[\d.,]* (?:users?|visitors?|guests?|people|readers?|members?) (?:are |is )?(?:currently )?online\b",
        ),
        (
            ("views:", "views :", "hits:", "hits :", "visitors:", "visitors :", "visits:", "visits :"),
            r"\b(?:page ?views|page hits|hits|visitors|visits|views) ?: ?[\d.,]+",
        ),
        (
            ("request id", "request-id", "ray id", "ray-id", "trace id", "trace-id"),
            r"\b(?:request|ray|trace)[ -]id ?:? ?(?=[\w-]*\d)[\w-]{6,}",
        ),
    )
)
_VOLATILE = re.compile(
    r"(?:(?<=\?)|[&;])(?:\w*(?:csrf|xsrf|nonce|token|sess(?:ion)?_?id)\w*|ts|timestamp|_|cachebuster|cb)=[^&;#?]*",
    re.IGNORECASE,
)
#: a session id within a path: long, hexadecimal, and not the end of it (which names a document)
_SESSION = re.compile(r"(?<=/)(?:[0-9a-f]{24,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=/)", re.IGNORECASE)
_LONG_ENOUGH = 25  #: characters of an address that may hold one


def without_noise(root: Any) -> None:
    """Take out of a parsed page, in place, what is no content on any site."""
    etree.strip_elements(root, *NO_CONTENT, with_tail=False)
    for element in (*_FIELDS(root), *_ad_slots(root)):
        blank(element)


def _ad_slots(root: Any) -> list[Any]:
    if not any(map(_AD.search, set(_MARKS(root)))):  # most pages: without a look at each element
        return []
    slots = [element for element in _MARKED(root) if _is_ad(element)]
    words = sum(len(_words(element)) for element in slots)
    return slots if words <= _AD_SHARE * max(len(_words(root)), 1) else []


def _is_ad(element: Any) -> bool:
    return element.tag not in _ROOMS and any(_AD.search(element.get(name, "")) for name in ("class", "id"))


def _words(element: Any) -> list[str]:
    return " ".join(element.itertext()).split()


def blank(element: Any) -> None:
    """Empty an element; its tail, which is its parent's text, stays."""
    element.clear(keep_tail=True)


def plain_text(text: str) -> str:
    """Text with white space folded, without the words that a server makes up when it is asked.

    >>> plain_text("Three pages.  Generated in 0.02 s")
    'Three pages.'
    """
    words = " ".join(text.split())
    lower = words.lower()
    for hints, pattern in _WORDS:
        if any(hint in lower for hint in hints):
            words = pattern.sub(" ", words)
    return " ".join(words.split())


def plain_link(link: str) -> str:
    """An address without its fragment and without what changes from request to request: parameters, session ids.

    >>> plain_link("/next?page=2&csrf_token=abc#top"), plain_link("/s/0123456789abcdef01234567/cart")
    ('/next?page=2', '/s//cart')
    """
    address = link.partition("#")[0]
    if len(address) > _LONG_ENOUGH:
        address = _SESSION.sub("", address)
    return _VOLATILE.sub("", address).rstrip("?") if "?" in address or ";" in address else address


def plain_image(address: str) -> str:
    """An image's address without its query: versions and sizes."""
    return address.partition("?")[0]


def texts(element: Any) -> Iterator[tuple[Any, str, str]]:
    """An element's own text, piece by piece: (element that holds it, ``text`` or ``tail``, the piece)."""
    if element.text:
        yield element, "text", element.text
    for child in element:
        if child.tail:
            yield child, "tail", child.tail
