"""Many captured pages told to the rules at once: those that a crawl had visited before it was cut off.

It comes to what :meth:`Traps.saw` and :meth:`Traps.showed` of each in turn come to. It is done where every page showed
something new, and no address has a date or a word that may be made up: then templates alone have something to count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps import rules
from sharc_crawler.frontier.traps.repeats import HONEST
from sharc_crawler.known_urls import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.model import PageId

_DIGIT, _LETTER = 1, 2
_CODES = bytes(_DIGIT * byte.isdigit() + _LETTER * byte.isalpha() for byte in (bytes([code]) for code in range(256)))
_NUMBERS = bytes(ord("0") if code == _DIGIT else byte for byte, code in enumerate(_CODES))  # each digit is a 0
SOME = 2  #: dashes: more may be a uuid's, and the address is looked at by itself


def tell(traps: Traps, shown: Sequence[PageId], urls: Sequence[str], contents: Sequence[str], pages: PageTable) -> bool:
    """Pages were captured, with these contents. ``False``: nothing is done, they have to be told one by one."""
    bare = {content.rpartition("\n")[2]: page for page, content in zip(shown, contents, strict=True) if "\n" in content}
    new = len(bare) == sum("\n" in content for content in contents)
    contents = [content.partition("\n")[0] for content in contents]
    if not (new and _is_quiet(traps) and _all_new(traps, contents) and _all_plain(urls)):
        return False
    if max(traps.addressed.find([*bare]), default=UNSEEN) != UNSEEN:
        return False
    traps.addressed.add_all([*bare], [*bare.values()])
    _count(traps, shown, urls, contents, pages)
    for url, content in zip(urls, contents, strict=True):
        if len(traps.contents) >= rules.MOST_SHOWN:
            break
        traps.contents[hash(content)] = url
    traps.firsts.add_all(contents, shown)
    traps.unlike.extend(shown)
    return True


def _is_quiet(traps: Traps) -> bool:
    """Has none of the other rules come upon anything?"""
    found = traps.calendars, traps.made_up, traps.copies, traps.idle, traps.fleeting, traps.suspicion
    return not any(one is not None for one in (*found, traps.repeating))


def _all_new(traps: Traps, contents: Sequence[str]) -> bool:
    hashes = set(map(hash, contents))
    new = len(hashes) == len(contents) and traps.contents.keys().isdisjoint(hashes)
    return new and max(traps.firsts.find(contents)) == UNSEEN


def _all_plain(urls: Sequence[str]) -> bool:
    """Has none a date, nor a word that may be made up?"""
    text = "\n".join(urls)
    if rules.YEAR.search(text) or _has_odd_word(text):
        return False
    return not any(url.count("-") > SOME and rules.has_odd_word(url) for url in urls)


def _has_odd_word(text: str) -> bool:
    """As that of the rules, of many addresses at once, dashes apart."""
    codes = np.frombuffer(text.encode("utf-8", "surrogatepass").translate(_CODES), np.uint8)
    starts, ends = np.flatnonzero(np.diff(codes != 0, prepend=False, append=False)).reshape(-1, 2).T
    digits = np.cumsum(np.append(np.uint8(0), codes == _DIGIT), dtype=np.int32)
    lengths, numbers = ends - starts, digits[ends] - digits[starts]
    odd = np.where(numbers == 0, lengths > 15, (lengths > 7) | (numbers < lengths))
    return bool((odd & (lengths >= 6)).any())


def _templates(urls: Sequence[str]) -> list[str]:
    """The template of each."""
    paths = ["/" + url.partition("://")[2].partition("/")[2] for url in urls]
    text, before = "\n".join(paths).encode("utf-8", "surrogatepass").translate(_NUMBERS), b""
    while text != before:
        text, before = text.replace(b"00", b"0"), text
    names = text.replace(b"0", b"*").decode("utf-8", "surrogatepass").split("\n")
    if len(names) != len(urls):
        return list(map(rules.template, urls))
    return [rules.template(url) if "?" in url else name for url, name in zip(urls, names, strict=True)]


def _count(
    traps: Traps, shown: Sequence[PageId], urls: Sequence[str], contents: Sequence[str], pages: PageTable
) -> None:
    """The contents of each template, in the order in which they came."""
    parents = [pages.parents[page] for page in shown]
    known = [parent for parent in dict.fromkeys(parents) if parent != NO_PARENT]
    name_of = dict(zip(known, _templates([pages.urls[parent] for parent in known]), strict=True))
    counts, honest = traps.templates, set()
    for page, name, url, content, parent in zip(shown, _templates(urls), urls, contents, parents, strict=True):
        if "*" in name and name not in honest:
            traps.saw_of_template(name, url, content, listed=pages.listed(page))
            row = counts.rows.get(name)
            if row == UNSEEN or counts.contents[row] >= HONEST:  # nothing is counted of it any more
                honest.add(name)
        if parent != NO_PARENT and name_of[parent] != name:
            traps.brought(name_of[parent], name)
        if traps.repeating:
            traps.repeating.showed(page, pages, new=True)
