"""What the answers show to requests for addresses that nobody names, and for pages once more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import (
    is_nobodys,
    is_unlikely,
    look_closely_at,
    looked_at,
    made_up_name,
    sayings_in,
    without_sayings,
)
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.model import HowMade, Kind, Result, Sighting
from sharc_crawler.state.lifecycle import State
from sharc_crawler.traps.addresses import first_folder, shape
from sharc_crawler.traps.common import content_of, without_address
from sharc_crawler.traps.fleeting import FleetingLinks, named_alone
from sharc_crawler.traps.renamed import renaming
from sharc_crawler.traps.suspicion import Suspicion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.addresses.known_urls import SeenUrls
    from sharc_crawler.model import Outcome, PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.rules import Traps

NEAR = 5  #: characters of a name, or of a number
SUGGESTED = "suggested by "  #: before an address that nobody names: what is kept of it
AGAIN = "asked again "  #: before an address: what it named, and said
WATCHED = "pages are watched that each answer may name by other words"  #: and series
LEADING = "led on by "  #: before what was asked for and named new pages
ABSENT = {Result.GONE, Result.REDIRECTED}
_SHOWS = "it shows this folder's error page, of status 200"


def note(probe: str, outcome: Outcome) -> HowMade:
    """What a reader must know of what was asked for."""
    cannot = f"a page that cannot exist ({probe})"
    if outcome.result is Result.GONE:
        return HowMade(f"the site answers {outcome.status} to {cannot}, so pages that look alike count as pages")
    shown = outcome.result is Result.OK
    what = _SHOWS if shown else f"the answer ({outcome.error or outcome.result}) does not show an error page"
    return HowMade(f"{cannot} was asked for, since pages beside it look alike: {what}")


def shown_by(notes: Iterable[str]) -> bool:
    """Do the notes of a capture tell of an error page?"""
    return any(one.endswith(_SHOWS) for one in notes)


def is_look(url: str) -> bool:
    """Is it asked for to see which links of a page stay?"""
    return is_unlikely(url) and bool(looked_at(url))


def shows_errors(url: str) -> bool:
    """Is it asked for to see a folder's error page?"""
    return not is_look(url) and not is_nobodys(url)


def feeds(
    page: PageId,
    linked: Sequence[PageId],
    pages: PageTable,
    seen: SeenUrls | None = None,
    links: Sequence[Sighting] = (),
) -> bool:
    """Does a page name mostly new pages of its shape? ``linked``: those of the capture that it names.

    What of its ``links`` was left, and so was not ``seen``, is new, too.
    """
    known, new = ([pages.urls[one] for one in linked if (pages.parents[one] == page) is own] for own in (False, True))
    named = [link.key or link.url for link in links if link.kind is Kind.PAGE]
    left = [one for one in named if seen is not None and one not in seen]
    return names_new(pages.urls[page], known, [*new, *left])


def names_new(url: str, known: Iterable[str], new: Iterable[str]) -> bool:
    """Is most of what a page names of its own shape new?

    >>> names_new("http://h/a", ["http://h/b", "http://h/x/1"], ["http://h/c", "http://h/d"])
    True
    """
    host, own = url.split("/")[2], shape(url)
    counts = [sum(one.split("/")[2:3] == [host] and shape(one) == own for one in some) for some in (known, new)]
    return counts[1] > counts[0]


def take(traps: Traps, url: str, outcome: Outcome, named: Sequence[PageId], seen: SeenUrls, pages: PageTable) -> None:
    """What an answer shows."""
    shown = without_sayings(content_of(outcome)) if outcome.result is Result.OK else None
    if traps.own and not is_look(url):
        traps.own.answered(url, shown)
    content = shown and traps.counted(shown, looked_at(url) or url)
    if is_look(url):
        page = page_looked_at(url, seen)
        redirects = page != UNSEEN and pages.states[page] == State.LOST  # and names nothing
        if outcome.result in ABSENT and "#" not in url and not redirects:
            traps.wanted.append(look_closely_at(url))
        else:
            _take_look(traps, url, content, named, page, pages, there=outcome.result is Result.OK)
    elif is_nobodys(url):
        absent = outcome.result in ABSENT
        if outcome.result is Result.OK and traps.fleeting:
            leads = _suggests(url, content, traps.fleeting)
            if (
                leads
                and content
                and not (traps.own and traps.own.tells_nothing(url))
                and _is_of_copies(content, traps, pages)
            ):
                traps.errors.shown.setdefault(content, url)
        if traps.suspicion:
            traps.suspicion.answered(url, content, absent=absent)
    else:
        traps.errors.answered(url, without_address(shown) or None)
        if traps.fleeting and shown is not None:
            traps.fleeting.shown(traps.counted(shown, url))
        _learn(traps, pages)
    if traps.suspicion:
        traps.suspicion.weigh(looks_of(traps))


def _learn(traps: Traps, pages: PageTable) -> None:
    """Pages that show what an error page shows count without their addresses; the pages they named are suspected."""
    if traps.own and traps.errors.shown:
        traps.own.made_up |= traps.errors.shown.keys()
        traps.suspicion = traps.suspicion or Suspicion(traps, pages)


def _take_look(
    traps: Traps,
    url: str,
    content: str | None,
    named: Sequence[PageId],
    page: PageId,
    pages: PageTable,
    *,
    there: bool,
) -> None:
    """What a page shows and names that was asked for once more."""
    looks = looks_of(traps)
    if there:
        again = traps.renamed.again & named_alone(page, pages) if traps.renamed else ()
        looks.named(page, [*named, *again], pages)
        if traps.own:
            traps.own.looked(page, gone=page in looks.gone)
        looks.suggested_again(looked_at(url), url)
    if not (traps.renamed and traps.renamed.has_asked(url)) or looks.was_asked(page):
        looks.answered(page, content, named, pages)


def look_again(traps: Traps, url: str, told: Sequence[Any], page: PageId, pages: PageTable) -> None:
    """``told``: what a page named, said and showed that was asked for once more."""
    named, said, same = told
    renaming(traps, pages).looked(page, url, named, None if said is None else frozenset(said), same=same)


def says(outcome: Outcome) -> list[int] | None:
    """The words that were shown to whoever asked for a page once more, as numbers."""
    if outcome.result is not Result.OK:
        return None
    return sayings_in(outcome.document and outcome.document.words)


def page_looked_at(url: str, seen: SeenUrls) -> PageId:
    """The page that was asked for once more at this address."""
    asked = looked_at(url)
    return seen.get(asked if asked in seen else canonical(asked) or "")


def _is_of_copies(content: str, traps: Traps, pages: PageTable) -> bool:
    """Do copies of each other show it, none of them a seed?"""
    first = traps.firsts.get(content)
    return first in traps.echoes.copies and pages.depths[first] > 0


def _suggests(url: str, content: str | None, looks: FleetingLinks) -> bool:
    """Does what nobody names name new pages of its like, which no other such does?

    What has its name, or a number beside its own, is none: a form to write that page, the next of a list. But where all
    lies within it, addresses may grow.
    """
    new = looks.suggested.get(url, [])
    found = like(url, new)
    others = {one for other, named in looks.suggested.items() if looked_at(other) != url != other for one in named}
    leads = bool(found) and others.isdisjoint(found)
    if leads:
        looks.leading[url] = content
    if new and all(one.startswith(f"{url.rstrip('/')}/") for one in new):
        looks.growing.add(url)
    return leads


def like(url: str, new: Iterable[str]) -> list[str]:
    """Those among them that are of the shape, or in the first folder, of what nobody names, and have no name of its."""
    own, name, site, folder = shape(url), made_up_name(url)[:NEAR], url.split("/")[2], first_folder(url)
    alike = [one for one in new if shape(one) == own or site != folder == first_folder(one)]
    return [one for one in alike if name not in one and one.split("/")[2] == site]


def recall(traps: Traps, kept: Mapping[str, str], seen: SeenUrls, pages: PageTable) -> None:
    """What was suggested to a former process."""
    if WATCHED in kept:
        renaming(traps, pages)
    for name, text in kept.items():
        if name.startswith(SUGGESTED):
            looks_of(traps).suggested[name.removeprefix(SUGGESTED)] = json.loads(text)
        elif name.startswith(LEADING):
            traps.errors.leading.add(name.removeprefix(LEADING))
        elif name.startswith(AGAIN):
            url = name.removeprefix(AGAIN)
            renaming(traps, pages).asked_before(page := page_looked_at(url, seen), url)
            look_again(traps, url, json.loads(text), page, pages)


def looks_of(traps: Traps) -> FleetingLinks:
    """The rule that counts which links stay; it is made with the first such request."""
    traps.fleeting = traps.fleeting or FleetingLinks(traps.echoes, traps.errors)
    return traps.fleeting
