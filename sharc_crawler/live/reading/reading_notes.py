"""| Notes on documents that could not be read, and what browsers found in pages that they showed."""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import OPEN
from sharc_crawler.links.handlers import LIST_BY_FORM
from sharc_crawler.model import CaptureRef, Fetch, Slot
from sharc_crawler.report.marks import DETECTOR_FAILED

if TYPE_CHECKING:
    import asyncio

    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.live.requests import Lease

_HEAD = 1 << 16  #: bytes in which a record's header ends
LED_ON = f"followed by {LIST_BY_FORM} and which are not captured"
_DIGEST = re.compile(rb"\r\nWARC-Payload-Digest: (\S+)\r\n")


def recorded_digest(written: asyncio.Future[CaptureRef] | None, folder: Path) -> str | None:
    """The payload digest of an answer that could not be read, from its WARC record."""
    if written is None or written.exception():
        return None
    file, offset, _ = written.result()
    for name in (file, file + OPEN):
        with suppress(OSError, zlib.error), (folder / name).open("rb") as stream:
            stream.seek(offset)
            fields = zlib.decompressobj(31).decompress(stream.read(_HEAD), _HEAD).partition(b"\r\n\r\n")[0]
            found = _DIGEST.search(fields + b"\r\n")
            return found[1].decode() if found else None
    return None


def shown(lease: Lease, shown: Reading) -> Sequence[str]:
    """Add what a browser saw of a page; returns what it was shown without."""
    assert lease.outcome is not None, "noted before it is shown"
    lease.links = [*lease.links, *shown.links]
    if shown.document is not None:
        lease.outcome = lease.outcome._replace(document=shown.document)
    if shown.payload.fingerprint is not None:
        lease.outcome = lease.outcome._replace(fingerprint=shown.payload.fingerprint)
    return shown.problems


logger = logging.getLogger(__name__)


def unread(frontier: Frontier, fetch: Fetch, problems: Sequence[str]) -> None:
    """Note a document that was not read (or only in part), or a detector plug-in that failed."""
    if any(LIST_BY_FORM in problem for problem in problems):
        if fetch.slot is not Slot.SECOND:  # otherwise it was noted at the visit
            note(frontier, fetch, "page", LED_ON)
        problems = [problem for problem in problems if LIST_BY_FORM not in problem]
    if not problems:
        return
    failed = any("SHARC_DETECTOR=" in problem for problem in problems)
    what, why = DETECTOR_FAILED if failed else "not read, or not whole", "; ".join(problems)
    if failed and not any(DETECTOR_FAILED in one for one in frontier.capture.notes):
        logger.error("%s is %s: %s. What fails so is counted in the report", fetch.url, what, why)
    note(frontier, fetch, "download" if failed else "document", what, f" ({why})")


def note(frontier: Frontier, fetch: Fetch, noun: str, what: str, why: str = "") -> None:
    """Count a document in the one note of its kind, which may stem from a former run."""
    own = (note for note in frontier.capture.notes if note[:1].isdigit() and f" {what}: " in note)
    before = next(own, "")  # also one of a former run
    number, _, first = before.partition(f" {what}: ")
    count = int(number.partition(" ")[0].replace(",", "") or 0) + 1
    frontier.note(f"{so_many(noun, count)} {what}: {first or f'{fetch.url}{why}'}", before)


def so_many(noun: str, count: int) -> str:
    """A number of things with its verb.

    >>> so_many("page", 1), so_many("page", 1200)
    ('1 page was', '1,200 pages were')
    """
    return f"1 {noun} was" if count == 1 else f"{count:,} {noun}s were"
