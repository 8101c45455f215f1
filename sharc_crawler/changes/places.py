"""Make XPath expressions that find an element also on other pages of its site.

Ids and classes with a number may be specific to a page (``post-1234``): only the part before the number is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

#: an id that other pages will not have (post-1234), or that XPath cannot quote
_OF_ONE_PAGE = re.compile(r"\d\d|'")
_DIGIT = re.compile(r"\d")
_STEM = re.compile(r"[A-Za-z][A-Za-z_-]+(?=\d)")
#: names of elements that XPath can express
_SPELLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UP = 4  #: most steps up to an ancestor with a telling class
_OF_ALL = ("html", "body", "main")  #: elements whose classes describe the page


class Places:
    """Makes paths of elements in two trees; the children of an element are counted only once."""

    def __init__(self) -> None:
        self._beside: dict[Any, _Children] = {}
        self._alone: dict[str, bool] = {}  # path → does it select a single element in both trees?

    def paths(self, old: Any, new: Any) -> list[str]:
        """The paths of an element, best first: below an id, below a class, below an id's stem, from the root."""
        found = [*self._below_id(old, new), *self._below_class(old, new), *self._below_stem(old, new)]
        found += [self._from_root(old, new, named=named) for named in (True, False)]
        return list(dict.fromkeys(found))

    def _upwards(self, old: Any, new: Any, *, named: bool = True) -> Iterator[tuple[Any, Any, list[str]]]:
        """An element and its ancestors in both trees, each with the steps from the element up to it."""
        steps: list[str] = []
        while old is not None and new is not None:
            yield old, new, steps
            steps.append(self._step(old, new, named=named))
            old, new = old.getparent(), new.getparent()

    def _below_id(self, old: Any, new: Any) -> Iterator[str]:
        """The path below the nearest element with an unchanged id."""
        for one, other, steps in self._upwards(old, new):
            name = _spelt(one.get("id"))
            if name and name == other.get("id") and one.tag != "body" and not _OF_ONE_PAGE.search(name):
                yield "/".join([f"//*[@id='{name}']", *reversed(steps)])
                return

    def _below_class(self, old: Any, new: Any) -> Iterator[str]:
        """The path below the nearest element whose class (without numbers) is unique on its page."""
        for one, other, steps in islice(self._upwards(old, new), _UP):
            if one.tag in _OF_ALL:
                return
            name = _spelt(one.get("class"))
            told = name and name == other.get("class") and _SPELLABLE.fullmatch(one.tag)
            for test in _classes(name) if told else ():
                path = f"//{one.tag}[{test}]"
                if path not in self._alone:
                    trees = (one.getroottree(), other.getroottree())
                    self._alone[path] = all(len(_select(tree, path)) == 1 for tree in trees)
                if self._alone[path]:
                    yield "/".join([path, *reversed(steps)])
                    return

    def _below_stem(self, old: Any, new: Any) -> Iterator[str]:
        """The path below the nearest element whose id is a word and a number, such as ``comment-17``."""
        for one, other, steps in self._upwards(old, new):
            name = _spelt(one.get("id"))
            stem = _STEM.match(name)
            if stem and name == other.get("id") and one.tag != "body" and _SPELLABLE.fullmatch(one.tag):
                yield "/".join([f"//{one.tag}[starts-with(@id, '{stem[0]}')]", *reversed(steps)])
                return

    def _from_root(self, old: Any, new: Any, *, named: bool) -> str:
        *_, (_, _, steps) = self._upwards(old, new, named=named)  # the list is complete once all are seen
        return "/" + "/".join(reversed(steps))

    def _step(self, old: Any, new: Any, *, named: bool) -> str:
        """One step of a path; for a name that XPath cannot express (``<im=>``) only the position."""
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
    """Counts of an element's children."""

    def __init__(self, parent: Any) -> None:
        self.before: dict[Any, int] = {}  #: element → number of nodes before it
        self._alike_before: dict[Any, int] = {}  # element → number of elements with its name before it
        self._alike: Counter[Any] = Counter()
        self._classes: Counter[tuple[Any, str | None]] = Counter()
        for place, child in enumerate(parent):
            self.before[child], self._alike_before[child] = place, self._alike[child.tag]
            self._alike[child.tag] += 1
            self._classes[child.tag, child.get("class")] += 1

    def place(self, old: Any, new: Any, *, named: bool) -> str:
        """The predicate of an element among its siblings: a unique class, else its position from the nearer end."""
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
    """XPath tests for a class: for all of it if it has no number, then for each word without a number."""
    if not _DIGIT.search(name) and "'" not in name:
        yield f"@class='{name}'"
    for word in name.split():
        if not _DIGIT.search(word) and "'" not in word:
            yield f"contains(concat(' ', normalize-space(@class), ' '), ' {word} ')"


def _spelt(name: str | None) -> str:
    """An id or class, or empty if an expression cannot contain it."""
    return name if name and name.isprintable() else ""


def _select(tree: Any, path: str) -> Any:
    return etree.XPath(path)(tree)
