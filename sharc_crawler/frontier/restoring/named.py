"""What pages named, told again to the rules against traps: some count pages in a row by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.rows import LinksRow
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.model import PageId


def told(links: Iterable[LinksRow], traps: Traps, pages: PageTable) -> Iterator[LinksRow]:
    """``links``, in the order of their downloads, are passed on; a page that named nothing has no row among them."""
    rest = sorted(pages.pages_in(State.VISITED), key=lambda page: (pages.started[page], page), reverse=True)
    left = set(rest)

    def tell(page: PageId, targets: Sequence[PageId] = ()) -> None:
        if page in left:  # one that was visited again before T has two rows
            left.remove(page)
            traps.named(page, targets, pages)

    for row in links:
        while rest and (pages.started[rest[-1]], rest[-1]) < (row.time, row.page):
            tell(rest.pop())
        tell(row.page, row.targets)
        yield row
    for page in reversed(rest):
        tell(page)
