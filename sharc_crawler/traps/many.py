"""Tells the rules of all pages that a crawl had visited before it was cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.state.lifecycle import State
from sharc_crawler.traps.common import YEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.state.rows import LinksRow
    from sharc_crawler.traps.rules import Traps


def tell(traps: Traps, shown: Sequence[PageId], urls: Sequence[str], contents: Sequence[str]) -> bool:
    """Pages were captured, with these contents. ``False``: nothing is done, they have to be told one by one.

    The result is that of :meth:`Traps.showed` for each page in turn. It is possible where each page showed something
    new and no address has a year, as no rule counts anything then.
    """
    bare = {content.rpartition("\n")[2]: page for page, content in zip(shown, contents, strict=True) if "\n" in content}
    new = len(bare) == sum("\n" in content for content in contents)
    contents = [content.partition("\n")[0] for content in contents]
    if not (new and _is_quiet(traps) and _all_new(traps, contents) and not YEAR.search("\n".join(urls))):
        return False
    if max(traps.addressed.find([*bare]), default=UNSEEN) != UNSEEN:
        return False
    traps.addressed.add_all([*bare], [*bare.values()])
    traps.firsts.add_all(contents, shown)
    traps.unlike.extend(shown)
    return True


def _is_quiet(traps: Traps) -> bool:
    """Has none of the rules come upon anything?"""
    found = traps.calendars, traps.copies, traps.idle, traps.fleeting, traps.suspicion
    return all(one is None for one in found)


def _all_new(traps: Traps, contents: Sequence[str]) -> bool:
    return len(set(contents)) == len(contents) and max(traps.firsts.find(contents)) == UNSEEN


def told(links: Iterable[LinksRow], traps: Traps, pages: PageTable) -> Iterator[LinksRow]:
    """Yield ``links`` in the order of downloads, and tell the trap rules of all pages, also those without links."""
    rest = sorted(pages.pages_in(State.VISITED), key=lambda page: (pages.started[page], page), reverse=True)
    left = set(rest)

    def tell(page: PageId, targets: Sequence[PageId] = ()) -> None:
        if page in left:  # a page visited again before T has two rows
            left.remove(page)
            traps.named(page, targets, pages)
            if traps.renamed:
                traps.wanted += traps.renamed.saw(page, targets)

    for row in links:
        while rest and (pages.started[rest[-1]], rest[-1]) < (row.time, row.page):
            tell(rest.pop())
        tell(row.page, row.targets)
        yield row
    for page in reversed(rest):
        tell(page)
