"""What is known of an address by the words that it shares with others: what stands in one alone may be made up.

A site may make up several parts of each address (``/x7Gk2p/story-7/kqzv``, ``?a=wmdk&b=qjxe``). Then nearly all pages
are echoes (:mod:`sharc_crawler.frontier.traps.echoes`), and what is left as their like holds true pages, too. A word in
addresses that two pages named was not made up for one answer; nor is a parameter's value where half of its values are
such words. An address whose shared words no page has shown together is *fresh*: it is visited, and no rule for echoes
leaves it. Where fresh ones show again and again what was shown, the words themselves are made up of few, and that ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import PageId

MOST = 50_000  #: words, and addresses by their shared words, that are known
MISSES = 20  #: fresh pages in a row that showed what was shown, from which on none is taken for fresh
LEAST = 4  #: or as many as a quarter of what the site has shown, but so many
LEAST_SHARED = 2  #: values of a parameter that are shared
_WORD = re.compile(r"[A-Za-z0-9]+")
_NAME = re.compile(r"(?:^|&)[^=&]*=")
_RUN = re.compile(r"\*(?:[-_]\*)*")
_NAMED = re.compile(r"[^*?]*/\*(?:\.\w+)?")  # shares its folder's words alone
_SHARED = (UNSEEN, UNSEEN)


class CommonWords:
    """Words of addresses, and by how many pages those were named: by one, or more."""

    def __init__(self, pages: PageTable, copies: Container[PageId]) -> None:
        """``copies``: of what was visited, those that showed what others had, or were shown again."""
        self._pages = pages
        self._only: dict[str, tuple[PageId, PageId]] = {}  # word → who named it, and what has it; or that it is shared
        self._known = 0  # pages whose words are
        self._shown: dict[str, int] = {}  # addresses by their shared words → pages in a row that showed something new
        self._misses = 0
        self._values: dict[str, tuple[int, int]] = {}  # of parameters: shared ones, and all
        self._steps: set[int] = set()  # that were counted at their place
        self._learn()
        self._shown = {bare: 1 for bare in self._shown if _NAMED.fullmatch(bare)}  # one page leaves its folder fresh
        for page in range(len(pages)):
            if pages.kinds[page] is Kind.PAGE and self._was_visited(page):
                self._count(page, new=page not in copies)

    def named(self, url: str, parent: PageId, page: PageId = UNSEEN) -> None:
        """An address is known; ``page``: its number, where it has one."""
        for word in set(_WORD.findall(_path(url))):
            other = self._only.get(word)
            if other is None:
                if len(self._only) < MOST:
                    self._only[word] = (parent, page)
            elif other is not _SHARED and other[0] != parent:
                self._only[word] = _SHARED
                if other[1] != UNSEEN and self._was_visited(other[1]):
                    self._shown.setdefault(self._bare(self._pages.urls[other[1]]), 1)

    def alone(self, value: str) -> bool:
        """Has a folder, or a query, no word that others have, too?"""
        return all(self._only.get(word) is not _SHARED for word in _WORD.findall(_NAME.sub(" ", value)))

    def saw(self, page: PageId, *, new: bool, contents: int) -> None:
        """A page was captured; ``new``: no other had shown the same; ``contents``: of the site."""
        self._learn()
        if self._count(page, new=new) and self._help(contents):
            self._misses += 1
        self._misses *= not new

    def fresh(self, url: str, contents: int) -> bool:
        """Has nobody shown the words that it shares?"""
        self._learn()
        return self._help(contents) and self._is_fresh(self._bare(url))

    def shown(self, url: str) -> int:
        """How likely it is that its page was shown: 0 by the words that it shares, 1 where its name shares none, 2."""
        bare = self._bare(url)
        return 0 if self._is_fresh(bare) else 1 + (_WORD.search(bare.rpartition("/")[2]) is not None)

    def _help(self, contents: int) -> bool:
        """Do they tell pages apart?"""
        return self._misses < min(MISSES, max(LEAST, contents // 4))

    def _bare(self, url: str) -> str:
        """An address without the words that it has alone."""
        path, mark, query = _path(url).partition("?")
        parts = [part if self._tells(part.partition("=")[0]) else self._starred(part) for part in query.split("&")]
        return _RUN.sub("*", f"{self._bare_path(path)}{mark}{'&'.join(parts)}")

    def _bare_path(self, path: str) -> str:
        """Of a made-up step's neighbours, those stay that stand where most are shared."""
        steps = path.split("/")
        starred = [self._starred(step) for step in steps]
        if sum("*" in one for one in starred) > 1:
            places = _places(steps)
            starred = [
                step if self._tells(place) else one for step, place, one in zip(steps, places, starred, strict=True)
            ]
        return "/".join(starred)

    def _starred(self, text: str) -> str:
        only = self._only
        return _WORD.sub(lambda word: word[0] if only.get(word[0]) is _SHARED else "*", text)

    def _tells(self, place: str) -> bool:
        """Are half of the values in a parameter, or of the steps at one place of a path, shared?"""
        shared, values = self._values.get(place, (0, 0))
        return 2 * shared >= max(values, 2 * LEAST_SHARED)

    def _learn_values(self, url: str) -> None:
        path, _, query = _path(url).partition("?")
        steps = path.split("/")
        parts = (part.partition("=") for part in query.split("&"))
        values = [(name, value) for name, sign, value in parts if sign]
        new = [(place, step) for place, step in zip(_places(steps), steps, strict=True) if self._is_new(place, step)]
        for place, value in (*new, *values):
            if value and (place in self._values or len(self._values) < MOST):
                shared, all_ = self._values.get(place, (0, 0))
                known = self._starred(value) == value
                self._values[place] = (shared + known, all_ + (known or not self._tells(place)))

    def _is_new(self, place: str, step: str) -> bool:
        """A folder of many pages tells none of them apart: it counts once."""
        key, known = hash((place, step)), len(self._steps)
        if known < MOST:
            self._steps.add(key)
        return len(self._steps) > known

    def _count(self, page: PageId, *, new: bool) -> bool:
        """A page was visited: was it fresh?"""
        fresh = self._is_fresh(bare := self._bare(self._pages.urls[page]))
        self._learn_values(self._pages.urls[page])
        if bare in self._shown or len(self._shown) < MOST:
            self._shown[bare] = (self._shown.get(bare, 0) + 1) * new
        return fresh

    def _is_fresh(self, bare: str) -> bool:
        """Where many show something new under the same shared words, it is the others that tell them apart."""
        return self._shown.get(bare, 2) > 1 and _WORD.search(bare) is not None

    def _learn(self) -> None:
        pages = self._pages
        for page in range(self._known, len(pages)):
            if pages.kinds[page] is Kind.PAGE:
                self.named(pages.urls[page], pages.parents[page], page)
        self._known = len(pages)

    def _was_visited(self, page: PageId) -> bool:
        return self._pages.states[page] in {State.VISITED, State.JUDGED}


def _places(steps: Sequence[str]) -> list[str]:
    return [f"/{len(steps)}/{at}" for at in range(len(steps))]


def _path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]
