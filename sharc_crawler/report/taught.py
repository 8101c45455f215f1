"""What a capture teaches of its site's noise: masks, learned from its own pairs, and the pages that differ in it alone.

Bytes, and so the certificate, know nothing of it. Masks are offered (:data:`NAME` in the folder) to look at, and for
the next capture.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import replace_file
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.http import parse_response
from sharc_crawler.changes.learning import Pair, learn
from sharc_crawler.changes.masks import as_json, load_masks
from sharc_crawler.coding import decoded
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.facts import Taught
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.evidence.measures import Content, content
from sharc_crawler.evidence.reasons import Reason, code
from sharc_crawler.model import Kind, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
    from sharc_crawler.model import Seconds

NAME = "learned-masks.json"
WITHIN = 60.0  #: seconds between two fetches of a page that teach
PAIRS = 200  #: that are learned from, those closest together
LOOKED = 500  #: changed pages that are looked at again with the masks
SUPPORT = 2  #: pages that must show a mask


def teach(captures: Sequence[CaptureFacts], folder: Path, known: Sequence[Mask] = ()) -> Taught:
    """Learn from the pairs of a folder's captures, and write what was learned into it.

    Bodies are read only where pages lost their content. Raises :class:`OSError` where the folder cannot be written to.
    """
    seen = _Teachers(captures)
    if seen.lost < SUPPORT and not seen.doubted and not (folder / NAME).exists():
        return Taught()
    lesson = learn(_pairs(seen.close.items(), folder) if seen.lost >= SUPPORT else (), known, SUPPORT)
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


class _Teachers:
    """The pages that teach, in one walk over all; only so many are kept."""

    def __init__(self, captures: Sequence[CaptureFacts]) -> None:
        self.close, self.looked = _Closest(PAIRS), _Closest(LOOKED)
        self.lost = 0
        self.doubted: set[str] = set()  #: URLs whose 304 is not believed
        for page in (page for facts in captures for page in facts.pages if page.kind is Kind.PAGE):
            if code(page.reason) == Reason.NOT_MODIFIED_LIES:
                self.doubted.add(page.url)
            lost = content(page) is Content.CHANGED
            self.lost += lost
            if _fetched_twice(page):
                if _gap(page) <= WITHIN:
                    self.close.add(page)
                if lost:
                    self.looked.add(page)


class _Closest:
    """Of any number of pages those whose two downloads were closest together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[PageFacts] = []

    def add(self, page: PageFacts) -> None:
        """Keep a page, if it may be among them."""
        self._kept.append(page)
        if len(self._kept) >= 4 * self._most:
            self._kept = self.items()

    def items(self) -> list[PageFacts]:
        """In order."""
        return sorted(self._kept, key=_gap)[: self._most]


def read_taught(folder: Path) -> Taught:
    """What the captures of a folder taught when they ended."""
    path = folder / NAME
    if not path.exists():
        return Taught()
    masks = load_masks(path)
    try:
        told = json.loads(path.read_text())["learned"]
        return Taught(masks[len(masks) - told["masks"] :], frozenset(told["alike"]), tuple(told["why"]))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no file of masks that a capture wrote ({error!r}); remove it") from error


def _fetched_twice(page: PageFacts) -> bool:
    fetched = [visit for visit in (page.visit, page.revisit) if visit and visit.result is Result.OK and visit.warc]
    return len(fetched) == 2 and page.verdict in (Verdict.COHERENT, Verdict.CHANGED)


def _gap(page: PageFacts) -> Seconds:
    assert page.visit and page.revisit
    return abs(page.revisit.started - page.visit.started)


def _alike(pair: Pair, masks: Sequence[Mask]) -> bool:
    return fingerprint(pair.old, pair.media_type, masks) == fingerprint(pair.new, pair.media_type, masks)


def _pairs(pages: Iterable[PageFacts], folder: Path) -> Iterator[Pair]:
    """The two bodies of pages, read where they lie; without those that cannot be read."""
    for page in pages:
        assert page.visit and page.revisit
        if old := _body(page.visit, folder):
            new = old if page.visit.digest == page.revisit.digest else _body(page.revisit, folder)
            if new:
                yield Pair(old[1], new[1], old[0], page.url)


def _body(visit: VisitFacts, folder: Path) -> tuple[str | None, bytes] | None:
    """Content type and content-decoded body."""
    name, _, offset = (visit.warc or "").rpartition(":")
    try:
        with (folder / name).open("rb") as stream:
            record = read_at(stream, int(offset))
    except OSError:
        return None
    response = parse_response(record.block) if isinstance(record, Record) and record.kind == "response" else None
    if response is None:
        return None
    body = decoded(response.payload, response.values(b"content-encoding"))
    return None if body is None else (header_text(response.header(b"content-type")), body)
