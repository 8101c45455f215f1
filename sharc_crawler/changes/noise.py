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
_AD = re.compile(
    r"(?:^|[\s_-])(?:ads?|adverts?|advertisements?|adsense|adsbygoogle|ad(?:slot|unit|box|banner)s?|sponsored|dfp|gpt)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_ROOMS = {"html", "body", "main", "article"}  #: never an ad slot as a whole, whatever they are called
_AD_SHARE = 0.2  #: of a page's words: a site whose "ads" are more than that lives on them (classified ads)

_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d+)?(?: ?[ap]\.?m\.?)?(?: ?(?:UTC|GMT|Z|[+-]\d{2}:?\d{2}))?"
_MADE = r"(?:generated|rendered|served|processed|executed)"
#: words that the server makes up when it is asked
_WORDS = re.compile(
    "|".join(
        (
            rf"\b{_MADE}(?: \w+){{0,3}}? in:? [\d.,]+ ?(?:ms|msecs?|s|secs?|seconds?|milliseconds?)\b",
            rf"\b(?:generated|rendered|served|cached|retrieved|fetched)(?: on| at|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
            rf"\b(?:current|local|server) time(?: is|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
            r"\b(?:just now|(?:\d+|an?|one|a few) (?:second|sec|minute|min|hour|hr)s? ago)\b",
            r"\bvisitor (?:no\.?|number|#) ?[\d.,]+",
            r"\b\d[\d.,]* (?:users?|visitors?|guests?|people|readers?|members?) (?:are |is )?(?:currently )?online\b",
            r"\b(?:page ?views|page hits|hits|visitors|visits|views) ?: ?[\d.,]+",
            r"\b(?:request|ray|trace)[ -]id ?:? ?(?=[\w-]*\d)[\w-]{6,}",
        )
    ),
    re.IGNORECASE,
)
_VOLATILE = re.compile(
    r"(?:(?<=\?)|[&;])(?:\w*(?:csrf|xsrf|nonce|token|sess(?:ion)?_?id)\w*|ts|timestamp|_|cachebuster|cb)=[^&;#?]*",
    re.IGNORECASE,
)


def without_noise(root: Any) -> None:
    """Take out of a parsed page, in place, what is no content on any site."""
    etree.strip_elements(root, *NO_CONTENT, with_tail=False)
    for element in (*_FIELDS(root), *_ad_slots(root)):
        blank(element)


def _ad_slots(root: Any) -> list[Any]:
    slots = [element for element in _MARKED(root) if _is_ad(element)]
    if not slots:
        return slots
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
    return " ".join(_WORDS.sub(" ", " ".join(text.split())).split())


def plain_link(link: str) -> str:
    """An address without its fragment and without parameters that change from request to request.

    >>> plain_link("/next?page=2&csrf_token=abc#top")
    '/next?page=2'
    """
    return _VOLATILE.sub("", link.partition("#")[0]).rstrip("?")


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
