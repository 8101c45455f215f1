"""Draw the pages that are downloaded in full at T, to test the 304s of the others."""

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
    from sharc_crawler.state.pages import PageTable

SHARED = 3  #: contents with the same ETag that make it count as weak: it may be that of a build
TEACHERS = 4  #: last visited pages, revisited in full to learn masks from what differs so soon


def draw(conditionals: Conditionals, capture: SiteCapture, pages: PageTable, kinds: Mapping[PageId, Kind]) -> None:
    """Draw a sample of these pages, given with their kinds, and add the last visited ones to learn masks."""
    data = {page for page, kind in kinds.items() if kind is Kind.DATA}
    faint = _faint(pages, kinds)
    drawn = conditionals.draw({page: pages.urls[page] for page in kinds}, seed_of(capture), data, faint)
    others = (page for page in kinds if page not in data)
    latest = nlargest(TEACHERS * (capture.spec.audit > 0), others, key=pages.started.__getitem__)
    for page in latest if all(pages.remembered(late).status == 200 for late in latest) else ():
        if page not in drawn:
            pages.ask_in_full(page)


def _faint(pages: PageTable, kinds: Iterable[PageId]) -> set[PageId]:
    """Return pages with weak validators; an ETag that several contents share is weak, too."""
    found: set[PageId] = set()
    borne: dict[PageId, int] = {}
    met, contents = set[int](), Counter[int]()  # by the ETag's hash: the texts of a million pages are large
    for page in kinds:
        visit = pages.remembered(page)
        if weak(visit):
            found.add(page)
        elif visit.validators.etag:
            borne[page] = etag = hash(visit.validators.etag)
            contents[etag] += (content := hash((etag, visit.digest))) not in met
            met.add(content)
    return found | {page for page, etag in borne.items() if contents[etag] >= SHARED}


def seed_of(capture: SiteCapture) -> str:
    """Return the seed of the draw: the same for all owners of a site, and when its state is rebuilt.

    A server must not guess it, or it would know which of its claims are never tested. A fleet's ``run`` is no secret.
    """
    settings = capture.spec.settings
    lots = settings.get("lots") or settings.get("run") or round(capture.started)
    return f"{capture.spec.site} {lots}"
