"""Which pages that a 304 may answer for are downloaded in full at T: what the 304s of the others rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest
from typing import TYPE_CHECKING

from sharc_crawler.evidence.validators import weak
from sharc_crawler.model import Kind, PageId

if TYPE_CHECKING:
    from sharc_crawler.evidence.conditionals import Conditionals
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.pages import PageTable

SHARED = 3  #: contents of one ETag that make it a weak one: it may be of a build
TEACHERS = 4  #: visited last, revisited in full where none was a 304: masks are learned of what differs so soon


def draw(conditionals: Conditionals, capture: SiteCapture, pages: PageTable, kinds: Mapping[PageId, Kind]) -> None:
    """Of these pages, with their kinds, a sample; and those visited last, to learn masks of."""
    data = {page for page, kind in kinds.items() if kind is Kind.DATA}
    faint = _faint(pages, kinds)
    drawn = conditionals.draw({page: pages.urls[page] for page in kinds}, seed_of(capture), data, faint)
    others = (page for page in kinds if page not in data)
    latest = nlargest(TEACHERS * (capture.spec.audit > 0), others, key=pages.started.__getitem__)
    for page in latest if all(pages.remembered(one).status == 200 for one in latest) else ():
        if page not in drawn:
            pages.ask_in_full(page)


def _faint(pages: PageTable, kinds: Iterable[PageId]) -> set[PageId]:
    """Pages with weak validators; so are ETags of several contents, which are not made of a page's bytes."""
    found: set[PageId] = set()
    borne: dict[PageId, int] = {}
    met, contents = set[int](), Counter[int]()  # by hash of the ETag: of a million pages texts are large
    for page in kinds:
        one = pages.remembered(page)
        if weak(one):
            found.add(page)
        elif one.validators.etag:
            borne[page] = etag = hash(one.validators.etag)
            contents[etag] += (content := hash((etag, one.digest))) not in met
            met.add(content)
    return found | {page for page, etag in borne.items() if contents[etag] >= SHARED}


def seed_of(capture: SiteCapture) -> str:
    """What lots are drawn by: the same for all owners of a site, and where its state is made again.

    A server must not guess it: it would know which of its words are never tested. A fleet's ``run`` is no secret.
    """
    settings = capture.spec.settings
    lots = settings.get("lots") or settings.get("run") or round(capture.started)
    return f"{capture.spec.site} {lots}"
