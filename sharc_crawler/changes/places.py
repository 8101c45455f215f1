"""Where an element is, as XPath expressions that find it on other pages of its site, too.

Ids and classes that hold a number are of one page (``post-1234``, ``postid-8``): of these only what stands before the
number counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

#: one that other pages will not have (or that XPath cannot quote): post-1234
_OF_ONE_PAGE = re.compile(r"\d\d|'")
_DIGIT = re.compile(r"\d")
_STEM = re.compile(r"[A-Za-z][A-Za-z_-]+(?=\d)")
#: names of elements that stand in an XPath expression as they are
_SPELLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UP = 4  #: steps up to an ancestor that a class tells
_OF_ALL = ("html", "body", "main")  #: their classes say which page it is, not where


def paths(old: Any, new: Any) -> list[str]:
    """Expressions for an element of two trees, the most telling first: below an id, a class, an id's stem; by place."""
    found = [*_below_id(old, new), *_below_class(old, new), *_below_stem(old, new), _from_root(old, new, named=True)]
    found.append(_from_root(old, new, named=False))
    return list(dict.fromkeys(found))


def _below_id(old: Any, new: Any) -> Iterator[str]:
    """Below the nearest element with an id that stays."""
    steps: list[str] = []
    while old is not None and new is not None:
        name = _spelt(old.get("id"))
        if name and name == new.get("id") and old.tag != "body" and not _OF_ONE_PAGE.search(name):
            yield "/".join([f"//*[@id='{name}']", *reversed(steps)])
            return
        steps.append(_step(old, new, named=True))
        old, new = old.getparent(), new.getparent()


def _below_class(old: Any, new: Any) -> Iterator[str]:
    """Below the nearest element that its class, of words alone, tells from all others of its page."""
    steps: list[str] = []
    for _ in range(_UP):
        if old is None or new is None or old.tag in _OF_ALL:
            return
        name = _spelt(old.get("class"))
        if name and name == new.get("class") and _SPELLABLE.fullmatch(old.tag):
            for test in _classes(name):
                path = f"//{old.tag}[{test}]"
                if all(len(_select(tree, path)) == 1 for tree in (old.getroottree(), new.getroottree())):
                    yield "/".join([path, *reversed(steps)])
                    return
        steps.append(_step(old, new, named=True))
        old, new = old.getparent(), new.getparent()


def _classes(name: str) -> Iterator[str]:
    """Tests for a class: all of it, where no word has a number; else one of its words."""
    if not _DIGIT.search(name) and "'" not in name:
        yield f"@class='{name}'"
    for word in name.split():
        if not _DIGIT.search(word) and "'" not in word:
            yield f"contains(concat(' ', normalize-space(@class), ' '), ' {word} ')"


def _below_stem(old: Any, new: Any) -> Iterator[str]:
    """Below the nearest element whose id is a word and a number: ``comment-17``."""
    steps: list[str] = []
    while old is not None and new is not None:
        name = _spelt(old.get("id"))
        stem = _STEM.match(name)
        if stem and name == new.get("id") and old.tag != "body" and _SPELLABLE.fullmatch(old.tag):
            yield "/".join([f"//{old.tag}[starts-with(@id, '{stem[0]}')]", *reversed(steps)])
            return
        steps.append(_step(old, new, named=True))
        old, new = old.getparent(), new.getparent()


def _from_root(old: Any, new: Any, *, named: bool) -> str:
    steps: list[str] = []
    while old is not None and new is not None:
        steps.append(_step(old, new, named=named))
        old, new = old.getparent(), new.getparent()
    return "/" + "/".join(reversed(steps))


def _step(old: Any, new: Any, *, named: bool) -> str:
    """One step of a path; an element whose name XPath cannot spell (``<im=>``) is told by its place alone."""
    if _SPELLABLE.fullmatch(old.tag):
        return f"{old.tag}[{_place(old, new, named=named)}]"
    return f"*[{1 + sum(1 for _ in old.itersiblings(preceding=True))}]"


def _place(old: Any, new: Any, *, named: bool) -> str:
    """What tells an element from its siblings on other pages too: its class, else its place from the nearer end."""
    before, after = (list(old.itersiblings(old.tag, preceding=preceding)) for preceding in (True, False))
    name = _spelt(old.get("class")) if named and old.tag not in _OF_ALL else ""
    telling = name and name == new.get("class") and not _DIGIT.search(name) and "'" not in name
    if telling and all(e.get("class") != name for e in before + after):
        return f"@class='{name}'"
    if len(after) < len(before):
        return f"last()-{len(after)}" if after else "last()"
    return str(len(before) + 1)


def _spelt(name: str | None) -> str:
    """An id or a class, where an expression can hold it."""
    return name if name and name.isprintable() else ""


def _select(tree: Any, path: str) -> Any:
    return etree.XPath(path)(tree)
