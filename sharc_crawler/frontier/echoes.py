"""Endless sites whose addresses tell nothing: pages show what others showed, and name ever new ones of their like.

Such a page is an *echo*: its text was seen at another address, no single place of the two addresses explains it (those
are :mod:`sharc_crawler.frontier.idle_places`), and most of what it names of its own shape nobody had named before.
Copies on honest sites name what is known: menus, the same neighbours. Pages are counted by the shape of their address;
those that an echo named first are counted together, whatever their shape.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.frontier.idle_places import forms
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import UNSEEN, SeenUrls
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import PageId

ROW = 20  #: echoes with no new content between them, from which on a group is left
LEAST = 8  #: of those that echoes named, where contents are few: as many as half of the site's, at least so many
SHARE = 1.5  #: echoes for each content that the group has brought
MOST = 20_000  #: echoes that are remembered
FEEDS = 3  #: copies of one content that named new pages of their like, from which on all of its copies count
SHAPES = 500  #: that are watched
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"[^/#]+")
_NAMED_BY_ECHOES = ""


def shape(url: str) -> str:
    """What addresses have in common that differ in names and numbers alone.

    >>> shape("http://h/s/kqzv/7?page=2&sort=up"), shape("http://h/")
    ('/*/*/#?2', '/')
    """
    path, _, query = url.partition("://")[2].partition("?")
    steps = "/".join("#" if _NUMBER.fullmatch(step) else step.replace("#", "*") for step in path.split("/")[1:])
    return f"/{_WORD.sub('*', steps)}" + (f"?{query.count('&') + 1}" if query else "")


class _EchoGroup:
    """Pages that are counted together."""

    def __init__(self) -> None:
        self.contents = 0  # that were new
        self.echoes = 0
        self.row = 0  # echoes since the last new one
        self.closed = ""  # why; it stays so

    def new(self) -> None:
        self.contents += 1
        self.row = 0

    def echo(self, what: str, row: int, *, proven: bool) -> None:
        """``row``: echoes that make a trap; ``proven``: there is one on this site."""
        self.echoes += 1
        self.row += 1
        if self.row >= row and (proven or self.echoes >= SHARE * self.contents) and not self.closed:
            self.closed = (
                f"{self.row} pages in a row{what} showed what others had shown, and named new ones of their like"
            )


class Echoes:
    """Which pages are echoes, and what is left as it is named by them, or looks like them."""

    def __init__(self) -> None:
        self._first = SeenUrls()  # content → the page that showed it first
        self._fed: Counter[int] = Counter()  # contents that copies of named ever new pages, and how often
        self._echoes: set[PageId] = set()
        self._groups: dict[str, _EchoGroup] = {}
        self._closed = False

    def copied(self, url: str, content: str, pages: PageTable) -> bool:
        """Was a content shown at another address, and at none that one place tells from this?"""
        first = self._first.get(content)
        return first != UNSEEN and _unlike(url, pages.urls[first])

    def saw(self, page: PageId, content: str, pages: PageTable, feeds: Callable[[], bool]) -> None:
        """A page was captured; ``feeds``: does it name new pages of its like? Asked for where that counts."""
        if self._first.get(content) == UNSEEN:
            self._first.add(content, page)
            if group := self._group(page, pages):
                group.new()
        elif self.copied(pages.urls[page], content, pages) and self._fed_by(content, feeds):
            group = self._group(page, pages)
            if group is not None:
                own = pages.parents[page] not in self._echoes
                group.echo(
                    f" of the shape {shape(pages.urls[page])}" if own else " that only such pages named",
                    ROW if own else min(ROW, max(LEAST, len(self._first) // 2)),
                    proven=self._closed,
                )
                self._closed = self._closed or bool(group.closed)
            if len(self._echoes) < MOST:
                self._echoes.add(page)

    def _fed_by(self, content: str, feeds: Callable[[], bool]) -> bool:
        """Once that is known of a content, it need not be asked: what such pages name may be left already."""
        known = hash(content)
        if self._fed[known] < FEEDS and feeds():
            self._fed[known] += 1
            return True
        return self._fed[known] >= FEEDS

    def why_not(self, url: str, parent: PageId, pages: PageTable) -> str | None:
        """Why a page that was not visited yet is left; ``None``: it is not. ``parent``: what named it first.

        What seeds and sitemaps name never is.
        """
        if not self._closed or parent == NO_PARENT or not pages.depths[parent] or pages.kinds[parent] is not Kind.PAGE:
            return None
        group = self._groups.get(_NAMED_BY_ECHOES) if parent in self._echoes else None
        if (group is None or not group.closed) and (alike := self._groups.get(shape(url))):
            group = alike
        return group.closed or None if group else None

    def _group(self, page: PageId, pages: PageTable) -> _EchoGroup | None:
        key = _NAMED_BY_ECHOES if pages.parents[page] in self._echoes else shape(pages.urls[page])
        group = self._groups.get(key)
        if group is None and (len(self._groups) < SHAPES or key == _NAMED_BY_ECHOES):
            group = self._groups[key] = _EchoGroup()
        return group


def _unlike(url: str, first: str) -> bool:
    """Do two addresses differ in more than one folder or parameter?"""
    others = {form.rest for form in forms(first)}
    return all(form.rest not in others for form in forms(url))


def names_new(url: str, known: Iterable[str], new: Iterable[str]) -> bool:
    """Is most of what a page names of its own shape new?

    >>> names_new("http://h/a", ["http://h/b", "http://h/x/1"], ["http://h/c", "http://h/d"])
    True
    """
    host, own = url.split("/")[2], shape(url)
    counts = [sum(one.split("/")[2:3] == [host] and shape(one) == own for one in some) for some in (known, new)]
    return counts[1] > counts[0]
