"""| What changed on a site between two captures, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sharc_crawler.changes.masks import same_content
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts
from sharc_crawler.model import Kind
from sharc_crawler.report.difference import paired
from sharc_crawler.report.left_out import bound_that_left, left_urls
from sharc_crawler.report.opened import open_facts

_NOT_MODIFIED = 304


class PageContent(NamedTuple):
    """What identifies the content of a page."""

    digest: str | None
    fingerprint: str | None
    data: Mapping[str, PageContent] = MappingProxyType({})  #: fetched by its scripts, by URL
    stated: bool = False  #: on the server's word: a former copy, as it answered 304 or was not asked


PageContents = Mapping[str, PageContent]  #: by URL


class Captured(NamedTuple):
    """The pages of a capture, and how to tell whether a missing page is gone."""

    pages: PageContents
    lost: Set[str] = frozenset()  #: known, but not captured, for other reasons than the budget
    left: int = 0  #: known, but beyond the budget
    bounded: bool = False  #: by a budget, ``limit`` or ``hops`` that left pages or links out


def contents(folder: Path) -> Captured:
    """The content of a folder's pages, and what its bounds left out; raises what `open_facts` does."""
    with open_facts(folder) as captures:
        found: dict[str, PageContent] = {}
        data: dict[str, PageContent] = {}
        lost, left = set[str](), 0
        for page in _pages(captures):
            if page.kind is Kind.DATA and page.visit and page.visit.status is not None:
                data[page.url] = _content(page) if page.verdict else _answer(page.visit.status, page.target)
            if page.kind is not Kind.PAGE:
                continue
            if page.verdict is not None:
                found[page.url] = _content(page)
            elif bound_that_left(page.reason):
                left += 1
            else:
                lost.add(page.url)
        for page in _pages(captures) if data else ():  # rarely, unless browsers showed pages
            if page.kind is Kind.PAGE and page.url in found:
                own: PageContents = {url: data[url] for url in page.embeds if url in data}
                found[page.url] = found[page.url]._replace(data=own)
        bounded = left > 0 or any(dict(left_urls(facts)) for facts in captures)
        return Captured(found, lost, left, bounded)


def _pages(captures: Iterable[CaptureFacts]) -> Iterator[PageFacts]:
    return (page for facts in captures for page in facts.pages)


class PagesApart(NamedTuple):
    """The pages of two captures by what became of them: sorted URLs."""

    new: list[str]
    gone: list[str]  #: captured formerly and not now, for whatever reason but a bound
    changed: list[str]
    same: list[str]
    unknown: list[str]  #: other bytes under other masks, or scripts that asked for other data
    left: list[str]  #: by the budget, ``limit`` or ``hops`` of one of the two: neither new nor gone
    by_data: list[str]  #: changed pages of which only the data changed
    stated: list[str]  #: equal pages with a copy that rests on the server's word


#: kinds of pages that are counted (:class:`PagesApart`), and the number of changed ones that are named
COUNTED, NAMED = ("new", "gone", "changed", "same", "unknown", "left"), 3


def compared(former: Captured, latter: Captured) -> dict[str, Any]:
    """The numbers of pages by what became of them from one capture to a later one; some changed ones are ``named``.

    >>> one, other, masked = PageContent("d1", "f1"), PageContent("d2", "f2"), PageContent("d2", "f3+01")
    >>> whole = Captured({"a": one, "b": one, "c": one, "e": one})
    >>> compared(whole, Captured({"a": one, "b": other, "d": one, "e": masked}))
    {'new': 1, 'gone': 1, 'changed': 1, 'same': 1, 'unknown': 1, 'left': 0, 'named': ('b',)}
    >>> compared(whole, Captured({"a": one}, lost={"c"}, left=1, bounded=True))
    {'new': 0, 'gone': 1, 'changed': 0, 'same': 1, 'unknown': 0, 'left': 2, 'named': ()}
    """
    found = apart(former, latter)
    return {**{name: len(getattr(found, name)) for name in COUNTED}, "named": tuple(found.changed[:NAMED])}


def apart(former: Captured, latter: Captured) -> PagesApart:
    """Which pages changed from one capture to a later one."""
    old, now = former.pages, latter.pages
    both = old.keys() & now.keys()
    new, left_then = _lacking(now.keys() - both, former)
    gone, left_now = _lacking(old.keys() - both, latter)
    found = PagesApart(new, gone, [], [], [], sorted(left_then + left_now), [], [])
    by_sameness = {False: found.changed, True: found.same, None: found.unknown}
    for url in sorted(both):
        document, data = _same(old[url], now[url]), _same_data(old[url].data, now[url].data)
        by_sameness[_both(document, data)].append(url)
        if data is False and document is not False:
            found.by_data.append(url)
    found.stated.extend(url for url in found.same if old[url].stated or now[url].stated)
    return found


def _lacking(urls: Set[str], capture: Captured) -> tuple[list[str], list[str]]:
    """Pages that a capture lacks: those not due to a bound, and those that its bounds may have left out."""
    lacking = sorted(urls)
    if not capture.bounded:
        return lacking, []
    return [url for url in lacking if url in capture.lost], [url for url in lacking if url not in capture.lost]


def _both(one: bool | None, other: bool | None) -> bool | None:
    if False in (one, other):
        return False
    return None if None in (one, other) else True


def _same_data(former: PageContents, latter: PageContents) -> bool | None:
    if not former and not latter:
        return True
    pairs = paired(former, latter)
    same: bool | None = True if len(pairs) == len(former) == len(latter) else None
    for then, now in pairs.items():
        same = _both(same, _same(former[then], latter[now]))
    return same


def _same(one: PageContent, other: PageContent) -> bool | None:
    if one.digest != other.digest and one.fingerprint and other.fingerprint:
        return same_content(one.fingerprint, other.fingerprint)
    return one.digest == other.digest


def _content(page: PageFacts) -> PageContent:
    if not (visit := page.visit):
        return PageContent(None, None)
    return PageContent(visit.digest, visit.fingerprint, stated=visit.status == _NOT_MODIFIED or not visit.attempts)


def _answer(status: int, target: str | None) -> PageContent:
    """The content of data that was not captured: the server's answer."""
    return PageContent(f"{status} {target}", None)
