"""Remove noise that is found on any site and changes with every download: rendering times, counters, ad slots.

Noise of a single site is learned (:mod:`sharc_crawler.changes.learning`). The rules are narrow on purpose: missing an
edit is worse than reporting noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from lxml import etree

from sharc_crawler.changes.zones import in_utc, plain_day

#: elements without content for readers
NO_CONTENT = ("script", "style", "link", "meta")
#: elements that may be noise; found in one walk over the tree, which is what takes time
_SOMETIMES = ("template", "input", "span", "time")
_KEPT = {"submit", "button", "reset"}  #: types of fields whose values are labels
_MARKED: Any = etree.XPath("//*[@id or @class]", smart_strings=False)
_INSTANT = r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
_AGE = r"\s*\d+ ?(?:s|secs?\.?|seconds?|m|mins?\.?|minutes?|h|hrs?\.?|hours?)\s*"
_IDS: Any = etree.XPath("//@id", smart_strings=False)  # not joined with classes: libxml2 joins in quadratic time
_CLASSES: Any = etree.XPath("//@class", smart_strings=False)
#: a class or id of an ad slot: "ad" and words for its place (``category-ads`` and ``ad-hoc`` are content)
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
_AD = (
    rf"(?:^|\s)(?:{_AD_PLACE}[_-]+)*{_AD_NAME}(?:[_-]+(?:{_AD_PLACE}|{_AD_NAME}))*(?:\s|$)"
    r"|google_ads_|div-gpt-ad|(?:^|\s)(?:taboola|outbrain)-"
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: never ad slots, whatever their class or id; headings and sections are named after their text
_ROOMS = {"html", "body", "main", "article", *_HEADINGS}
_AD_SHARE = 0.2  #: most of a page's text that may be ads; sites with more have classified ads

_ZONE = r"(?: ?[ap]\.?m\.?)?(?: ?(?:UTC|GMT|Z|[+-]\d{2}:?\d{2}))?"
_CLOCK = rf"\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?(?:[.,]\d+)?{_ZONE}"
_SECONDS = rf"\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?{_ZONE}"
_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\d[\d./-]*)"
_DATE = rf"(?:{_DAY}[,.]? ){{1,5}}(?:at )?"
_END = r"(?!(?-i: (?!now)[a-z]))"  #: nothing may follow a counter's number: "Visits: 3 per week" is content
_TOOK = r" in:? (?:about )?(?:[\d.,]+ ?(?:ms|msecs?|milliseconds?)|\d*[.,]\d+ ?(?:s|secs?|seconds?))\b"
_CLOCK_SIGN = re.compile(r":\d\d")  #: occurs in every instant with a time zone


class _MadeUp(NamedTuple):
    """A kind of phrase that the server generates for each request."""

    signs: tuple[re.Pattern[bytes], ...]  #: fast expressions, one of which matches any text with such a phrase
    words: str  #: the exact expression, a hundred times slower, and 2 ms to compile

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression, which ``re`` caches."""
        return re.compile(self.words, re.IGNORECASE)

    def may_be_in(self, small: bytes) -> bool:
        """May a text, as made by :func:`_small`, contain such a phrase?"""
        return any(sign.search(small) for sign in self.signs)


_SPACE = r"[^!-\x7e]"  #: white space in UTF-8, which may consist of any non-ASCII bytes


def _sign(words: str) -> re.Pattern[bytes]:
    """An expression for a small text, where a blank means white space, and ``~`` optional white space."""
    return re.compile(words.replace(" ", _SPACE + "++").replace("~", _SPACE + "*+").encode())


def _signs(first: str, then: str = "") -> tuple[re.Pattern[bytes], ...]:
    return tuple(_sign(f"{word}{then}") for word in first.split())


_BY_SIGN = r"(?: by [^:]{1,60}? at|)"
_DAY_SIGN = r"(?: on| at|:)*+ (?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|t?[-./:,])"

_MADE_UP = tuple(
    _MadeUp(signs, words)
    for signs, words in (
        (
            _signs("in", r":? (?:about |)(?:[.,]*+~(?:ms|msecs?|milliseconds?)|[.,]++~(?:s|secs?|seconds?))\b"),
            rf"\b(?:generated|rendered|served|processed|executed)(?: \w+){{0,3}}?{_TOOK}",
        ),
        (
            _signs("page", " (?:was |)(?:made|built|created|loaded|delivered|produced|prepared|computed|parsed) in"),
            r"\bpage (?:was )?(?:made|built|created|loaded|delivered|produced|prepared|computed|parsed)" + _TOOK,
        ),
        (
            _signs("queries"),
            r"\d(?<!\w.)\d* (?:(?:sql|db|mysql|database) )?queries(?: in|\.|,)? \d*[.,]\d+ ?(?:s|secs?|seconds?)\b"
            r"|\bqueries took (?:[\d.,]+ ?ms|\d*[.,]\d+ ?(?:s|secs?|seconds?))\b"
            r"|\b(?:sql|db|mysql|database) queries ?: ?\d+" + _END,
        ),
        (
            _signs("generated rendered cached fetched", _BY_SIGN + _DAY_SIGN),
            rf"\b(?:generated|rendered|cached|fetched)(?: by [^:]{{1,60}}? at)?(?: on| at|:)*"
            rf" (?:{_DATE}{_CLOCK}|{_DAY}T{_CLOCK}|{_SECONDS})",
        ),
        (
            _signs("current server", " time"),
            rf"\b(?:current|server) time(?: is|:)* [^.!?]{{0,30}}?\b{_CLOCK}",
        ),
        (_signs("just", " now"), r"\bjust now\b"),
        (_signs("ago", r"\b"), r"\b(?:\d+|an?|one|a few) (?:second|sec|minute|min|hour|hr)s?\.? ago\b"),
        (_signs("visitor", " (?:no|number|#)"), r"\bvisitor (?:no\.?|number|#) ?[\d.,]+"),
        (
            _signs("online"),
            r"[\d.,](?<![\d.,].)(?:(?<=\d)(?<!\w.)|(?<=[.,])[.,]*+\d)[\d.,]*+"
            rf" (?:users?|visitors?|guests?|people|readers?|members?) (?:are |is )?(?:currently )?online\b{_END}",
        ),
        (
            _signs("views hits visitors visits", "~:"),
            r"\b(?:page ?views|page hits|hits|visitors|visits|views) ?: ?[\d.,]++" + _END,
        ),
        (
            _signs("request ray trace", "(?:-| )id"),
            r"\b(?:request|ray|trace)[ -]id ?:? ?(?=[\w-]{0,99}\d)[\w-]{6,}",
        ),
    )
)


def without_noise(root: Any) -> None:
    """Remove noise from a parsed page, in place."""
    etree.strip_elements(root, *NO_CONTENT, with_tail=False)
    found = list(root.iter(*_SOMETIMES))
    for element in (*filter(_shows_nothing, found), *_ad_slots(root)):
        blank(element)
    for element in found:
        if element.tag == "time":
            plain_day(element)
        if element.tag == "input":
            if element.get("type") not in _KEPT:
                element.attrib.pop("value", None)
        elif element.tag != "template" and _is_age(element):
            element.text = None


def _shows_nothing(element: Any) -> bool:
    """Is it a hidden field, or a template that is no shadow tree?"""
    if element.tag == "input":
        return bool(element.get("type") == "hidden")
    return bool(element.tag == "template" and element.get("shadowrootmode") is None)


def _is_age(element: Any) -> bool:
    """Is it an age ("3 hours") whose title has the instant, which counts?"""
    if (title := element.get("title")) is None or len(element) or not re.match(_INSTANT, title):
        return False
    named = f" {element.get('class', '')} ".replace("-", " ")
    return " age " in named and re.fullmatch(_AGE, element.text or "", re.IGNORECASE) is not None


@cache
def _ad() -> re.Pattern[str]:
    """The expression for ad slots, compiled when first needed."""
    return re.compile(_AD, re.IGNORECASE)


def _ad_slots(root: Any) -> list[Any]:
    if not any(map(_ad().search, {*_IDS(root), *_CLASSES(root)})):  # true for most pages, and fast
        return []
    slots = [element for element in _MARKED(root) if _is_ad(element)]
    return slots if sum(map(size, slots)) <= _AD_SHARE * size(root) else []


def _is_ad(element: Any) -> bool:
    if element.tag in _ROOMS or not any(_ad().search(element.get(name, "")) for name in ("class", "id")):
        return False
    named = _slug(element.get("id", ""))
    return all(_slug(" ".join(heading.itertext())) != named for heading in element.iter(*_HEADINGS))


def _slug(text: str) -> str:
    """A heading in the form of an id: "Google Ads" becomes google-ads."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def size(element: Any) -> int:
    """Characters of an element's text without white space."""
    return sum(map(len, " ".join(element.itertext()).split()))


def blank(element: Any) -> None:
    """Empty an element, but keep its tail, which is its parent's text."""
    element.clear(keep_tail=True)


@lru_cache(maxsize=1)  # used twice for a page: for its fingerprint, and to detect traps
def plain_text(text: str) -> str:
    """Text with white space folded, without phrases that the server generates for each request.

    >>> plain_text("Three pages.  Generated in 0.02 s")
    'Three pages.'
    """
    text = in_utc(" ".join(text.split()))
    small = _small(text)
    for one in _MADE_UP:
        if one.may_be_in(small):
            text, found = one.pattern.subn(" ", text)
            if found:
                text = " ".join(text.split())
                small = _small(text)
    return text


def spaced_text(text: str) -> str:
    """Like :func:`plain_text`, but a text without such phrases is returned unchanged.

    >>> spaced_text("Three  trees."), spaced_text("Three  trees, 5 minutes ago.")
    ('Three  trees.', 'Three trees, .')
    """
    small = _small(text)
    if any(one.may_be_in(small) for one in _MADE_UP):
        return plain_text(text)
    return in_utc(" ".join(text.split())) if _CLOCK_SIGN.search(text) else text


def _small(text: str) -> bytes:
    """A text as bytes in lower case, without digits."""
    return text.encode(errors="replace").translate(_SMALL, b"0123456789")


_SMALL = bytes(range(256)).lower()


def texts(element: Any) -> Iterator[tuple[Any, str, str]]:
    """The pieces of an element's own text: (element that holds it, ``text`` or ``tail``, piece)."""
    if element.text:
        yield element, "text", element.text
    for child in element:
        if child.tail:
            yield child, "tail", child.tail
