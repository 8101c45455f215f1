"""Where an element is, as XPath expressions that find it on other pages of its site, too.

Ids and classes that hold a number are of one page (``post-1234``, ``postid-8``): of these only what stands before the
number counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lxml import etree

#: one that other pages will not have (or that XPath cannot quote): post-1234
_OF_ONE_PAGE = re.compile(r"\d\d|'")
_DIGIT = re.compile(r"\d")
_STEM = re.compile(r"[A-Za-z][A-Za-z_-]+(?=\d)")
#: names of elements that stand in an XPath expression as they are
_SPELLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UP = 4  #: steps up to an ancestor that a class tells
_OF_ALL = ("html", "body", "main")  #: their classes say which page it is, not where


class Places:
    """Expressions for elements of two trees; what stands beside an element is counted once for all that stand there."""

    def __init__(self) -> None:
        self._beside: dict[Any, _Children] = {}
        self._alone: dict[str, bool] = {}  # paths: whether each tree has one element there

    def paths(self, old: Any, new: Any) -> list[str]:
        """The paths of an element, most telling first: below an id, a class, an id's stem; by place."""
        found = [*self._below_id(old, new), *self._below_class(old, new), *self._below_stem(old, new)]
        found += [self._from_root(old, new, named=named) for named in (True, False)]
        return list(dict.fromkeys(found))

    def _below_id(self, old: Any, new: Any) -> Iterator[str]:
        """Below the nearest element with an id that stays."""
        steps: list[str] = []
        while old is not None and new is not None:
            name = _spelt(old.get("id"))
            if name and name == new.get("id") and old.tag != "body" and not _OF_ONE_PAGE.search(name):
                yield "/".join([f"//*[@id='{name}']", *reversed(steps)])
                return
            steps.append(self._step(old, new, named=True))
            old, new = old.getparent(), new.getparent()

    def _below_class(self, old: Any, new: Any) -> Iterator[str]:
        """Below the nearest element that its class, of words alone, tells from all others of its page."""
        steps: list[str] = []
        for _ in range(_UP):
            if old is None or new is None or old.tag in _OF_ALL:
                return
            name = _spelt(old.get("class"))
            if name and name == new.get("class") and _SPELLABLE.fullmatch(old.tag):
                for test in _classes(name):
                    path = f"//{old.tag}[{test}]"
                    if path not in self._alone:
                        trees = (old.getroottree(), new.getroottree())
                        self._alone[path] = all(len(_select(tree, path)) == 1 for tree in trees)
                    if self._alone[path]:
                        yield "/".join([path, *reversed(steps)])
                        return
            steps.append(self._step(old, new, named=True))
            old, new = old.getparent(), new.getparent()

    def _below_stem(self, old: Any, new: Any) -> Iterator[str]:
        """Below the nearest element whose id is a word and a number: ``comment-17``."""
        steps: list[str] = []
        while old is not None and new is not None:
            name = _spelt(old.get("id"))
            stem = _STEM.match(name)
            if stem and name == new.get("id") and old.tag != "body" and _SPELLABLE.fullmatch(old.tag):
                yield "/".join([f"//{old.tag}[starts-with(@id, '{stem[0]}')]", *reversed(steps)])
                return
            steps.append(self._step(old, new, named=True))
            old, new = old.getparent(), new.getparent()

    def _from_root(self, old: Any, new: Any, *, named: bool) -> str:
        steps: list[str] = []
        while old is not None and new is not None:
            steps.append(self._step(old, new, named=named))
            old, new = old.getparent(), new.getparent()
        return "/" + "/".join(reversed(steps))

    def _step(self, old: Any, new: Any, *, named: bool) -> str:
        """One step of a path; an element whose name XPath cannot spell (``<im=>``) is told by its place alone."""
        parent = old.getparent()
        if parent is None:
            return f"{old.tag}[1]"
        if parent not in self._beside:
            self._beside[parent] = _Children(parent)
        beside = self._beside[parent]
        if _SPELLABLE.fullmatch(old.tag):
            return f"{old.tag}[{beside.place(old, new, named=named)}]"
        return f"*[{1 + beside.before[old]}]"


class _Children:
    """The children of an element, counted."""

    def __init__(self, parent: Any) -> None:
        self.before: dict[Any, int] = {}  #: all nodes before an element
        self._alike_before: dict[Any, int] = {}  # of its name
        self._alike: Counter[Any] = Counter()
        self._classes: Counter[tuple[Any, str | None]] = Counter()
        for place, child in enumerate(parent):
            self.before[child], self._alike_before[child] = place, self._alike[child.tag]
            self._alike[child.tag] += 1
            self._classes[child.tag, child.get("class")] += 1

    def place(self, old: Any, new: Any, *, named: bool) -> str:
        """What tells an element from its siblings on other pages too: its class, else its place from the nearer end."""
        name = _spelt(old.get("class")) if named and old.tag not in _OF_ALL else ""
        telling = name and name == new.get("class") and not _DIGIT.search(name) and "'" not in name
        if telling and self._classes[old.tag, name] == 1:
            return f"@class='{name}'"
        before = self._alike_before[old]
        after = self._alike[old.tag] - before - 1
        if after < before:
            return f"last()-{after}" if after else "last()"
        return str(before + 1)


def _classes(name: str) -> Iterator[str]:
    """Tests for a class: all of it, where no word has a number; else one of its words."""
    if not _DIGIT.search(name) and "'" not in name:
        yield f"@class='{name}'"
    for word in name.split():
        if not _DIGIT.search(word) and "'" not in word:
            yield f"contains(concat(' ', normalize-space(@class), ' '), ' {word} ')"


def _spelt(name: str | None) -> str:
    """An id or a class, where an expression can hold it."""
    return name if name and name.isprintable() else ""


def _select(tree: Any, path: str) -> Any:
    return etree.XPath(path)(tree)
