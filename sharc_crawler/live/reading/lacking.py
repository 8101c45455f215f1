"""What documents lack: notes on those that could not be read; what a page has only once a browser has shown it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sharc_crawler.report.notes import DETECTOR_FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.live.lease import Lease
    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.model import Fetch


def shown(lease: Lease, shown: Reading) -> Sequence[str]:
    """What a page names, and holds, once its scripts have run; what was not waited for."""
    assert lease.outcome is not None, "noted before it is shown"
    lease.links = [*lease.links, *shown.links]
    if shown.document is not None:
        lease.outcome = lease.outcome._replace(document=shown.document)
    if shown.payload.fingerprint is not None:
        lease.outcome = lease.outcome._replace(fingerprint=shown.payload.fingerprint)
    return shown.problems


logger = logging.getLogger(__name__)


def unread(frontier: Frontier, fetch: Fetch, problems: Sequence[str]) -> None:
    """A document was not read, or not whole; or the detector of somebody else failed on a download, be it an image."""
    failed = any("SHARC_DETECTOR=" in one for one in problems)
    what, why = DETECTOR_FAILED if failed else "not read, or not whole", "; ".join(problems)
    if failed and not any(DETECTOR_FAILED in one for one in frontier.capture.notes):
        logger.error("%s is %s: %s. What fails so is counted in the report", fetch.url, what, why)
    note(frontier, fetch, "download" if failed else "document", what, f" ({why})")


def note(frontier: Frontier, fetch: Fetch, noun: str, what: str, why: str = "") -> None:
    """One note for all documents of a capture that could not be read, and one for each bound that pages met."""
    own = (note for note in frontier.capture.notes if note[:1].isdigit() and f" {what}: " in note)
    before = next(own, "")  # a former run's, too
    number, _, first = before.partition(f" {what}: ")
    count = int(number.partition(" ")[0].replace(",", "") or 0) + 1
    frontier.note(f"{so_many(noun, count)} {what}: {first or f'{fetch.url}{why}'}", before)


def so_many(noun: str, count: int) -> str:
    """So many of them were.

    >>> so_many("page", 1), so_many("page", 1200)
    ('1 page was', '1,200 pages were')
    """
    return f"1 {noun} was" if count == 1 else f"{count:,} {noun}s were"
