"""What changed on a site between two of its captures, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.masked import same_content
from sharc_crawler.model import Kind
from sharc_crawler.report.difference import paired
from sharc_crawler.report.load import open_facts

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import PageFacts


class PageContent(NamedTuple):
    """What tells a page's content from another."""

    digest: str | None
    fingerprint: str | None
    data: Mapping[str, PageContent] = MappingProxyType({})  #: what its scripts fetched, by URL


PageContents = Mapping[str, PageContent]  #: by URL

NAMED = 3  #: pages that changed, of which a comparison names the URLs


class CountedChanges(NamedTuple):
    """How many pages are new, gone, changed in content, and the same; some of the changed ones by name."""

    new: int
    gone: int  #: captured formerly and not now, for whatever reason
    changed: int
    same: int
    unknown: int  #: other bytes under other masks, or scripts that asked for other data
    named: tuple[str, ...]


def contents(folder: Path) -> PageContents:
    """The captured pages of a folder, each with what counts as its content.

    Raises what :func:`~sharc_crawler.report.load.open_facts` does where the state cannot be read.
    """
    with open_facts(folder) as captures:
        found: dict[str, PageContent] = {}
        data: dict[str, PageContent] = {}
        for page in (page for facts in captures for page in facts.pages):
            if page.kind is Kind.PAGE and page.verdict is not None:
                found[page.url] = _content(page)
            elif page.kind is Kind.DATA and page.visit and page.visit.status is not None:
                data[page.url] = _content(page) if page.verdict else _answer(page.visit.status, page.target)
        if data:  # hardly ever, but where browsers were shown pages
            for page in (page for facts in captures for page in facts.pages):
                if page.kind is Kind.PAGE and page.url in found:
                    own: PageContents = {url: data[url] for url in page.embeds if url in data}
                    found[page.url] = found[page.url]._replace(data=own)
        return found


class PagesApart(NamedTuple):
    """Two captures' pages by what became of each: URLs, sorted."""

    new: list[str]
    gone: list[str]  #: captured formerly and not now, for whatever reason
    changed: list[str]
    same: list[str]
    unknown: list[str]  #: other bytes under other masks, or scripts that asked for other data
    by_data: list[str]  #: those of the changed that did by what their scripts fetched alone


def compared(former: PageContents, latter: PageContents) -> CountedChanges:
    """What changed from one capture to a later one.

    >>> one, other, masked = PageContent("d1", "f1"), PageContent("d2", "f2"), PageContent("d2", "f3+01")
    >>> compared({"a": one, "b": one, "c": one, "e": one}, {"a": one, "b": other, "d": one, "e": masked})
    CountedChanges(new=1, gone=1, changed=1, same=1, unknown=1, named=('b',))
    """
    found = apart(former, latter)
    new, gone, changed, same, unknown, _ = map(len, found)
    return CountedChanges(new, gone, changed, same, unknown, tuple(found.changed[:NAMED]))


def apart(former: PageContents, latter: PageContents) -> PagesApart:
    """Which pages changed from one capture to a later one."""
    both = former.keys() & latter.keys()
    found = PagesApart(sorted(latter.keys() - both), sorted(former.keys() - both), [], [], [], [])
    by_sameness = {False: found.changed, True: found.same, None: found.unknown}
    for url in sorted(both):
        document, data = _same(former[url], latter[url]), _same_data(former[url].data, latter[url].data)
        by_sameness[_both(document, data)].append(url)
        if data is False and document is not False:
            found.by_data.append(url)
    return found


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
    return PageContent(page.visit.digest, page.visit.fingerprint) if page.visit else PageContent(None, None)


def _answer(status: int, target: str | None) -> PageContent:
    """Of data that was not captured: what the server said instead."""
    return PageContent(f"{status} {target}", None)
