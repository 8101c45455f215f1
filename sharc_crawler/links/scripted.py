"""Whether an HTML page has anything to show before its scripts have run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

SILENT = 20  #: characters of text that a page may have and still say nothing: "Loading…"
NOTICED = 200  #: the same, where it says itself that it needs JavaScript
NOTICES = 100  #: links, and texts for browsers without JavaScript, that are looked at: each may hold all the others
_UNSHOWN = {"head", "title", "script", "style", "template", "noscript"}
_SHOWN = ("img", "picture", "video", "audio", "iframe", "frame", "object", "embed", "form", "input", "table", "applet")


def by_script(root: Any) -> bool:
    """Whether a page has scripts, no links and hardly any text: nothing else to show, or a notice that it needs them.

    In doubt it is an ordinary page.

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
    """Whether a browser shows the link."""
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
    """The text of elements, with what follows the elements within them."""
    for element in shown:
        yield element.text or ""
        yield from (child.tail or "" for child in element)
