"""Words of addresses that *last*: two answers named them. A site may have made up any other word for one answer.

A site may make up several parts of an address (``/x7Gk2p/story-7/kqzv``, ``?a=wmdk&b=qjxe``). Pages are *alike* where
their addresses are the same but for words that do not last. An address is *fresh* where no page like it was visited, or
where none of the latest of these was a copy.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from sharc_crawler.model import Kind
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.rules import Traps

MOST = 50_000  #: words that are known
LATEST = 2  #: visited pages that are alike, of which at least one, or two if a word of their name lasts
MOST_CHANGES = 10  #: paths before steps of which none lasts
LASTS = -2  #: who named a word
WORD = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[A-Za-z0-9]+")
EXTENSION = re.compile(r"\.[a-z]{2,5}$")
_NAME = re.compile(r"(?:^|&)[^=&]*=")


class LastingWords:
    """Knows which words last, and which visited pages are alike. Pages are taken in once something is asked."""

    def __init__(self, pages: PageTable, twice: bytearray) -> None:
        """``twice``: by page, did two name it?"""
        self._pages, self._twice = pages, twice
        self._named: dict[str, int] = {}  # word → the answer that named it, or that it lasts
        self._having: dict[str, list[PageId]] = {}  # word that may not last → visited pages
        self._alike: dict[str, list[PageId]] = {}
        self._of: dict[PageId, str] = {}
        self._known = 0  # of the table: pages' words are
        visited = {State.VISITED, State.JUDGED}
        former = (one for one in range(len(pages)) if pages.kinds[one] is Kind.PAGE and pages.states[one] in visited)
        self._visited = array("i", former)  # whose words are not
        self._again = array("i")  # that a second answer named since
        self._changes: list[str] = []  # paths before a step that was another in the next answer: none lasts there
        self.help = True  #: do they tell pages apart?

    @property
    def alike(self) -> dict[str, list[PageId]]:
        """Visited pages, by their lasting words."""
        self.learn()
        return self._alike

    @property
    def of(self) -> dict[PageId, str]:
        """The lasting words of each visited page."""
        self.learn()
        return self._of

    def learn(self) -> None:
        """Takes in what became known since."""
        pages = self._pages
        if self._known < len(pages):
            for page in range(self._known, len(pages)):
                if pages.kinds[page] is Kind.PAGE:
                    parent = pages.parents[page]
                    self._name(pages.urls[page], LASTS if parent == NO_PARENT or self.is_twice(page) else parent)
            self._known = len(pages)
        if self._again:
            again, self._again = self._again, array("i")
            for page in again:
                self._name(pages.urls[page], LASTS)
        if self._visited:
            visited, self._visited = self._visited, array("i")
            for page in visited:
                self._visit(page)

    def name(self, url: str, answer: int) -> None:
        """An answer named an address."""
        self.learn()
        self._name(url, answer)

    def _name(self, url: str, answer: int) -> None:
        for word in words_of(url):
            before = self._named.get(word)
            if before is None:
                if len(self._named) < MOST:
                    self._named[word] = answer
            elif before not in {answer, LASTS}:
                self._named[word] = LASTS
            else:
                continue
            for page in self._having.pop(word, ()) if self._named.get(word) == LASTS else ():
                self._move(page)

    def again(self, pages: Iterable[PageId]) -> None:
        """A second answer named these."""
        self._again.extend(pages)

    def visited(self, page: PageId) -> None:
        """A page was visited."""
        self._visited.append(page)

    def _visit(self, page: PageId) -> None:
        if page not in self._of:
            self._put(page)
            for word in set(words_of(self._pages.urls[page])):
                if self._named.get(word, LASTS) != LASTS:  # an unknown word never lasts
                    self._having.setdefault(word, []).append(page)

    def _put(self, page: PageId) -> None:
        self._of[page] = bare = self._bare(self._pages.urls[page])
        self._alike.setdefault(bare, []).append(page)

    def is_twice(self, page: PageId) -> bool:
        """Did two pages name it?"""
        return 0 <= page < len(self._twice) and bool(self._twice[page])

    def is_known(self, page: PageId) -> bool:
        """The same of one that lies in no folder that changes: a session's pages name each other."""
        return self.is_twice(page) and not _path(self._pages.urls[page]).startswith((*self._changes,))

    def lasts(self, word: str) -> bool:
        """Did two answers name it?"""
        self.learn()
        return self._named.get(word) == LASTS

    def bare(self, url: str) -> str:
        """An address with ``*`` for each word that may be made up."""
        self.learn()
        return self._bare(url)

    def _bare(self, url: str) -> str:
        path, named = _path(url), self._named
        for before in self._changes:
            step, slash, rest = path.removeprefix(before).partition("/") if path.startswith(before) else ("", "", "")
            path = f"{before}{WORD.sub('*', step)}/{rest}" if slash else path
        return WORD.sub(lambda word: word[0] if named.get(word[0]) == LASTS else "*", path)

    def asked_again(self, page: PageId, before: Iterable[str], named: Iterable[str]) -> None:
        """A page that had named ``before`` names these now: a step changes that all other links had otherwise.

        Where an answer's links keep the step that is in its own address, two answers name it, too.
        """
        own = {*_path(self._pages.urls[page]).split("/")}
        first, again = ({_path(url).partition("?")[0] for url in some} for some in (before, named))
        depths = {path.count("/") for path in first}  # of a link without a bound many may be deep
        stayed = {path for path, _, _ in _steps(first & again, own)}
        new = (path for path in again - first if path.count("/") in depths)
        rests = {(path, rest) for path, _, rest in _steps(new, own)}
        for path, _, rest in _steps(sorted(first - again), own):
            if (path, rest) in rests and path not in stayed | {*self._changes} and len(self._changes) < MOST_CHANGES:
                self._changes.append(path)
                for one in [*self._of]:
                    self._move(one)

    def _move(self, page: PageId) -> None:
        self._alike[self._of.pop(page)].remove(page)
        self._put(page)

    def alone(self, value: str) -> bool:
        """Does no word of a folder, or of a query's values, last?"""
        return not any(map(self.lasts, WORD.findall(_NAME.sub(" ", value))))

    def shown(self, url: str, copies: Container[PageId]) -> int:
        """How likely it is that its page was shown: 0 if it is fresh, 1 where no word of its name lasts, else 2.

        ``copies``: pages that showed what others had. Where the latest pages like it are no copies, words that do not
        last tell them apart.
        """
        named = WORD.search(EXTENSION.sub("", (bare := self.bare(url)).rstrip("/")).rpartition("/")[2]) is not None
        latest = self.alike.get(bare, [])[-LATEST:]
        tell = len(latest) > named and not any(page in copies for page in latest)
        return 0 if WORD.search(bare) and (tell or not latest) else 1 + named


def lasting_words(traps: Traps, pages: PageTable) -> LastingWords:
    """The words of a capture; collected from when they are first asked for."""
    traps.words = traps.words or LastingWords(pages, traps.twice)
    return traps.words


def words_of(url: str) -> list[str]:
    """Of its path and query.

    >>> words_of("http://h/s-7/a?b=c")
    ['s', '7', 'a', 'b', 'c']
    """
    return WORD.findall(_path(url))


def _steps(paths: Iterable[str], own: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Each folder of a path, with what stands before and behind it; none that is an address's ``own``."""
    for path in paths:
        steps = path.split("/")
        for at in range(1, len(steps) - 1):
            if steps[at] not in own and steps[at + 1]:
                yield "/".join([*steps[:at], ""]), steps[at], "/".join(steps[at + 1 :])


def _path(url: str) -> str:
    """With its parameters in order, as canonical URLs have them."""
    path, mark, query = url.partition("://")[2].partition("/")[2].partition("?")
    return f"/{path}{mark}{'&'.join(sorted(query.split('&')))}"
