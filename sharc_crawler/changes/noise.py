"""What changes at every download and is nobody's edit, on any site: rendering times, counters, ad slots.

What is noise on one site alone is learned (:mod:`sharc_crawler.changes.learning`). Narrow on purpose: an edit that is
taken for noise is worse than noise that is taken for an edit.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from sharc_crawler.changes.special import Special
from sharc_crawler.changes.zones import in_utc, plain_days

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

#: elements that show nothing to a reader
NO_CONTENT = ("script", "style", "link", "meta")
#: nor do templates (unless they are shadow trees) and hidden fields
_TEMPLATES: Any = etree.XPath("//template[not(@shadowrootmode)]", smart_strings=False)
_HIDDEN: Any = etree.XPath("//input[@type='hidden']", smart_strings=False)
#: what a reader filled in, or a shop counted
_FIELDS: Any = etree.XPath(
    "//input[@value and not(@type='submit' or @type='button' or @type='reset')]", smart_strings=False
)
_MARKED: Any = etree.XPath("//*[@id or @class]", smart_strings=False)
_IDS: Any = etree.XPath("//@id", smart_strings=False)  # libxml2 unites sets in quadratic time: each is asked for alone
_CLASSES: Any = etree.XPath("//@class", smart_strings=False)
#: a class or id of an ad slot: "ad" and where it is shown, nothing else (``category-ads`` and ``ad-hoc`` are content)
_AD_NAME = (
    r"(?:ads?|adverts?|advertis(?:ements?|ing)|adsense|adsbygoogle|ad(?:slot|unit|box|banner|container|wrapper)s?"
    r"|sponsored|dfp)"
)
_AD_PLACE = (
    r"(?:\d+(?:x\d+)?|slot|item|unit|box|banner|top|bottom|left|right|middle|mid|center|inner|outer|sidebar|side|header|head"
    r"|footer|foot|main|content|inline|in|wrapper|wrap|container|holder|mobile|desktop|leaderboard|skyscraper|billboard"
    r"|rectangle|mpu|google|div|gpt|placement|placeholder|zone|space|area|block|frame|iframe|rail|sticky|label|native"
    r"|video|text|image|links?|responsive|size|widget|promo|article|page|site|home|list|row|region|section|module)"
)
_AD = re.compile(
    rf"(?:^|\s)(?:{_AD_PLACE}[_-]+)*{_AD_NAME}(?:[_-]+(?:{_AD_PLACE}|{_AD_NAME}))*(?:\s|$)|google_ads_|div-gpt-ad|(?:^|\s)(?:taboola|outbrain)-",
    re.IGNORECASE,
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: never an ad slot as a whole, whatever they are called; headings, and sections, are called after their words
_ROOMS = {"html", "body", "main", "article", *_HEADINGS}
_AD_SHARE = 0.2  #: of a page's text: a site whose "ads" are more than that lives on them (classified ads)

_ZONE = r"(?: ?[ap]\.?m\.?)?(?: ?(?:UTC|GMT|Z|[+-]\d{2}:?\d{2}))?"
_CLOCK = rf"\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?(?:[.,]\d+)?{_ZONE}"
_SECONDS = rf"\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?{_ZONE}"
_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\d[\d./-]*)"
_DATE = rf"(?:{_DAY}[,.]? ){{1,5}}(?:at )?"
_END = r"(?!(?-i: (?!now)[a-z]))"  #: a counter ends with its number: "Visits: 3 per week" is none
_TOOK = r" in:? (?:[\d.,]+ ?(?:ms|msecs?|milliseconds?)|\d*[.,]\d+ ?(?:s|secs?|seconds?))\b"
_TIME_TAKEN = re.compile(_TOOK, re.IGNORECASE)
_CLOCK_SIGN = re.compile(r":\d\d")  #: an instant that names its zone has one


class _MadeUp(NamedTuple):
    """Words that the server makes up when it is asked."""

    hints: tuple[str, ...]  #: a text with such words has one of them, in small letters
    words: set[str]  #: the longest word of each
    pattern: re.Pattern[str]  #: takes a hundred times as long to look for as a hint
    timed: bool  #: it ends with the time that something took


def _longest_words(hints: tuple[str, ...]) -> set[str]:
    return {max(hint.split(), key=len) for hint in hints}


_MADE_UP = tuple(
    _MadeUp(hints, _longest_words(hints), re.compile(pattern, re.IGNORECASE), pattern.endswith(_TOOK))
    for hints, pattern in (
        (
            ("generated", "rendered", "served", "processed", "executed"),
            rf"\b(?:generated|rendered|served|processed|executed)(?: \w+){{0,3}}?{_TOOK}",
        ),
        (
            ("page ",),
            r"\bpage (?:was )?(?:made|built|created|loaded|delivered|produced|prepared|computed|parsed)" + _TOOK,
        ),
        (
            ("queries",),
            r"\b\d+ (?:(?:sql|db|mysql|database) )?queries(?: in|\.|,)? \d*[.,]\d+ ?(?:s|secs?|seconds?)\b"
            r"|\b(?:sql|db|mysql|database) queries ?: ?\d+" + _END,
        ),
        (
            ("generated", "rendered", "cached", "fetched"),
            rf"\b(?:generated|rendered|cached|fetched)(?: on| at|:)* (?:{_DATE}{_CLOCK}|{_DAY}T{_CLOCK}|{_SECONDS})",
        ),
        (
            ("current time", "server time"),
            rf"\b(?:current|server) time(?: is|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
        ),
        (("just now",), r"\bjust now\b"),
        ((" ago",), r"\b(?:\d+|an?|one|a few) (?:second|sec|minute|min|hour|hr)s? ago\b"),
        (("visitor ",), r"\bvisitor (?:no\.?|number|#) ?[\d.,]+"),
        (
            ("online",),
            r"\b\d[\d.,]* (?:users?|visitors?|guests?|people|readers?|members?) (?:are |is )?(?:currently )?online\b"
            + _END,
        ),
        (
            ("views:", "views :", "hits:", "hits :", "visitors:", "visitors :", "visits:", "visits :"),
            r"\b(?:page ?views|page hits|hits|visitors|visits|views) ?: ?[\d.,]++" + _END,
        ),
        (
            ("request id", "request-id", "ray id", "ray-id", "trace id", "trace-id"),
            r"\b(?:request|ray|trace)[ -]id ?:? ?(?=[\w-]*\d)[\w-]{6,}",
        ),
    )
)


def without_noise(root: Any) -> None:
    """Take out of a parsed page, in place, what is no content on any site."""
    etree.strip_elements(root, *NO_CONTENT, with_tail=False)
    for element in (*_TEMPLATES(root), *_HIDDEN(root), *_ad_slots(root)):
        blank(element)
    plain_days(root)
    for field in _FIELDS(root):
        del field.attrib["value"]


def _ad_slots(root: Any) -> list[Any]:
    if not any(map(_AD.search, {*_IDS(root), *_CLASSES(root)})):  # most pages: without a look at each element
        return []
    slots = [element for element in _MARKED(root) if _is_ad(element)]
    return slots if sum(map(size, slots)) <= _AD_SHARE * size(root) else []


def _is_ad(element: Any) -> bool:
    if element.tag in _ROOMS or not any(_AD.search(element.get(name, "")) for name in ("class", "id")):
        return False
    named = _slug(element.get("id", ""))
    return all(_slug(" ".join(heading.itertext())) != named for heading in element.iter(*_HEADINGS))


def _slug(text: str) -> str:
    """A heading as the id of its section: "Google Ads" as google-ads."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def size(element: Any) -> int:
    """Characters of an element's text, white space left out: not all scripts have words that could be counted."""
    return sum(map(len, " ".join(element.itertext()).split()))


def blank(element: Any) -> None:
    """Empty an element; its tail, which is its parent's text, stays."""
    element.clear(keep_tail=True)


@lru_cache(maxsize=1)  # a page's text is asked for twice: for its fingerprint, and to tell traps
def plain_text(text: str) -> str:
    """Text with white space folded, without the words that a server makes up when it is asked.

    >>> plain_text("Three pages.  Generated in 0.02 s")
    'Three pages.'
    """
    return _without_made_up(in_utc(" ".join(text.split())), _vocabulary(text))


def spaced_text(text: str) -> str:
    """The same with white space as it comes, where nothing is made up: most texts are not touched.

    >>> spaced_text("Three  trees."), spaced_text("Three  trees, 5 minutes ago.")
    ('Three  trees.', 'Three trees, .')
    """
    return plain_text(text) if _CLOCK_SIGN.search(text) or _vocabulary(text) else text


def _vocabulary(text: str) -> bytes:
    """Those of its lines, without their digits, that may be of what a server made up; pages of a site share most."""
    lines = text.encode(errors="replace").translate(_SMALL, b"0123456789").split(b"\n")
    return b" ".join(_hinting.among(set(lines)))


def _hints(lines: Set[bytes]) -> Set[bytes]:
    together = b"\n".join(lines)
    found = [hint for hint in _HINTS if hint in together]
    return {line for line in lines if any(map(line.__contains__, found))} if found else set()


_SMALL = bytes(range(256)).lower()
_HINTS = {word.encode() for one in _MADE_UP for word in one.words}
_hinting = Special(_hints)


def _without_made_up(text: str, vocabulary: bytes) -> str:
    """``vocabulary``: in small letters, what may hint at what is made up."""
    perhaps = [one for one in _MADE_UP if any(word.encode() in vocabulary for word in one.words)]
    if not perhaps:
        return text
    lower, took = text.lower(), _TIME_TAKEN.search(text)
    for one in perhaps:
        if any(hint in lower for hint in one.hints) and (took or not one.timed):
            text = " ".join(one.pattern.sub(" ", text).split())
    return text


def texts(element: Any) -> Iterator[tuple[Any, str, str]]:
    """An element's own text, piece by piece: (element that holds it, ``text`` or ``tail``, the piece)."""
    if element.text:
        yield element, "text", element.text
    for child in element:
        if child.tail:
            yield child, "tail", child.tail
