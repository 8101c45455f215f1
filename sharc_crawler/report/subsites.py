"""The parts of a captured site: as they were captured one by one or, where it was captured as a whole, by path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.facts import SubsiteFacts
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind
from sharc_crawler.subsites.dividing import divide, fewest_pages
from sharc_crawler.subsites.path import ByPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.store import Batch, CaptureRow, PageRow
    from sharc_crawler.model import PageId

UNASSIGNED = "in no part yet"  #: pages that wait while a capture is under way


def find_subsites(
    state: Batch, capture: CaptureRow, rows: Sequence[PageRow]
) -> tuple[tuple[SubsiteFacts, ...], dict[PageId, str]]:
    """The parts of a capture whose URLs are ``rows``, and the part of each page and resource."""
    pages = [row for row in rows if row.kind is Kind.PAGE]
    captured = sorted(part for part in state.subsites.values() if part.capture == capture.capture)
    if not captured:
        parts, names = _by_path(capture, pages)
    else:
        members = dict(state.members)
        by_number = {part.number: part.name for part in captured}
        names = {row.page: by_number.get(members.get(row.page, -1), UNASSIGNED) for row in pages}
        parts = tuple(
            SubsiteFacts(
                part.name,
                capture.reference if part.ended is None else part.reference,
                part.begun,
                part.ended,
                part.share,
            )
            for part in captured
        )
        if UNASSIGNED in names.values():
            parts = (*parts, SubsiteFacts(UNASSIGNED, None, capture.started, None))
    parents = {row.page: row.parent for row in rows}
    for row in rows:
        if row.kind is not Kind.PAGE:
            names[row.page] = _owner(row.page, parents, names) or parts[0].name
    return parts, names


def _by_path(capture: CaptureRow, pages: Sequence[PageRow]) -> tuple[tuple[SubsiteFacts, ...], dict[PageId, str]]:
    """The folders of a site that was captured as a whole: they share its reference instant."""
    by_path = ByPath()
    labels = [by_path.label(row.key, (), ()) for row in pages]
    found = divide(labels, capture.spec.site, fewest_pages(len(pages)), lambda _: False)
    if len(found) < 2:
        found = []
    names = {pages[place].page: part.name for part in found for place in part.places.tolist()}
    listed = [part.name for part in found] or [capture.spec.site]
    facts = (SubsiteFacts(name, capture.reference, capture.started, capture.ended) for name in listed)
    return tuple(facts), names or dict.fromkeys((row.page for row in pages), capture.spec.site)


def _owner(page: PageId, parents: Mapping[PageId, PageId], names: Mapping[PageId, str]) -> str | None:
    """The part of the page that a resource was first embedded in."""
    while page not in names:
        page = parents.get(page, NO_PARENT)
        if page == NO_PARENT:
            return None
    return names[page]
