"""Masks learned from the two bodies of a capture's pages, and the pages that differ in what these mask alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import replace_file
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.http import parse_response
from sharc_crawler.changes.learning import Pair, learn
from sharc_crawler.changes.masks import as_json
from sharc_crawler.coding import decoded
from sharc_crawler.evidence.facts import Taught
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.report.taught import NAME, SUPPORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.facts import PageFacts, VisitFacts
    from sharc_crawler.report.taught import Teachers

LARGEST_BODY = 1_000_000  #: bytes, of a page that teaches
MOST_BYTES = 16_000_000  #: of all pages that teach together


def learned(seen: Teachers, folder: Path, known: Sequence[Mask]) -> Taught:
    """What the pages that teach do teach; kept in the folder. ``known``: masks that hold already."""
    lesson = learn(_first(_pairs(seen.close.items(), folder)) if seen.lost >= SUPPORT else (), known, SUPPORT)
    masks = (*known, *lesson.masks)
    looked = _pairs(seen.looked.items(), folder) if lesson.masks else ()
    alike = {pair.page for pair in looked if _alike(pair, masks)}
    if (
        len(alike) == seen.lost
    ):  # no page was edited, as far as can be told: a 304 that is not believed spoke of content
        alike |= seen.doubted
    taught = Taught(lesson.masks, frozenset(alike), tuple(lesson.why_no_more()) if seen.lost >= SUPPORT else ())
    learned = {"masks": len(taught.masks), "alike": sorted(taught.alike), "why": taught.why}
    replace_file(folder / NAME, json.dumps({**as_json(masks), "learned": learned}, indent=1) + "\n")
    return taught


def _alike(pair: Pair, masks: Sequence[Mask]) -> bool:
    return fingerprint(pair.old, pair.media_type, masks) == fingerprint(pair.new, pair.media_type, masks)


def _first(pairs: Iterable[Pair], most: int = MOST_BYTES) -> Iterator[Pair]:
    """Those that fit into so many bytes together: all of them are held while they are learned from."""
    for pair in pairs:
        most -= len(pair.old) + len(pair.new)
        if most < 0:
            return
        yield pair


def _pairs(pages: Iterable[PageFacts], folder: Path) -> Iterator[Pair]:
    """The two bodies of pages, read where they lie; without those that cannot be read, or are very large."""
    for page in pages:
        assert page.visit and page.revisit
        if old := _body(page.visit, folder):
            new = old if page.visit.digest == page.revisit.digest else _body(page.revisit, folder)
            if new:
                yield Pair(old[1], new[1], old[0], page.url)


def _body(visit: VisitFacts, folder: Path) -> tuple[str | None, bytes] | None:
    """Content type and content-decoded body."""
    if visit.length > LARGEST_BODY:
        return None
    name, _, offset = (visit.warc or "").rpartition(":")
    try:
        with (folder / name).open("rb") as stream:
            record = read_at(stream, int(offset))
    except OSError:
        return None
    response = parse_response(record.block) if isinstance(record, Record) and record.kind == "response" else None
    if response is None:
        return None
    body = decoded(response.payload, response.values(b"content-encoding"), LARGEST_BODY)
    return None if body is None else (header_text(response.header(b"content-type")), body)
