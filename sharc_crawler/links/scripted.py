"""Tell whether an HTML page is empty before its scripts have run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

SILENT = 20  #: most characters of an empty page's text, such as "Loading…"
NOTICED = 200  #: the same if it says that it needs JavaScript
NOTICES = 100  #: most links and ``noscript`` elements that are examined
_UNSHOWN = {"head", "title", "script", "style", "template", "noscript"}
_SHOWN = ("img", "picture", "video", "audio", "iframe", "frame", "object", "embed", "form", "input", "table", "applet")


def by_script(root: Any) -> bool:
    """Has a page scripts, but no links and hardly any text, and nothing else to show or a notice on JavaScript?

    In case of doubt the answer is no.

    >>> from lxml.html import document_fromstring as page
    >>> by_script(page("<script src=a.js></script><div id=app></div>"))
    True
    >>> by_script(page("<script src=a.js></script><p>This page is under construction."))
    False
    """
    if next(root.iter("script"), None) is None or any(map(_leads_on, islice(root.iter("a", "area"), NOTICES))):
        return False
    shown = list(_shown(root))
    length = sum(len(" ".join(text.split())) for text in _texts(shown))
    if length > NOTICED:
        return False
    if any("javascript" in "".join(one.itertext()).lower() for one in islice(root.iter("noscript"), NOTICES)):
        return True
    return length <= SILENT and not any(element.tag in _SHOWN for element in shown)


def _leads_on(link: Any) -> bool:
    """Does a browser show the link?"""
    return bool(link.get("href")) and next(link.iterancestors("noscript"), None) is None


def _shown(element: Any) -> Iterator[Any]:
    """The elements that a browser shows."""
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag not in _UNSHOWN:
            yield one
            waiting.extend(one)


def _texts(shown: list[Any]) -> Iterator[str]:
    """The own text of elements, with the tails of their children."""
    for element in shown:
        yield element.text or ""
        yield from (child.tail or "" for child in element)
