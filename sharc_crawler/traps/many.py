"""Tells the rules of many captured pages at once: those that a crawl had visited before it was cut off.

The result is that of :meth:`Traps.showed` for each page in turn. It is possible where each page showed something new
and no address has a year, as no rule counts anything then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.traps.common import YEAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.traps.rules import Traps


def tell(traps: Traps, shown: Sequence[PageId], urls: Sequence[str], contents: Sequence[str]) -> bool:
    """Pages were captured, with these contents. ``False``: nothing is done, they have to be told one by one."""
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
