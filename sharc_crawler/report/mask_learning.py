"""Learn masks from the two bodies of a capture's pages, and find the pages that differ only in what they mask."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.http import http_date, parse_response
from sharc_crawler.changes.learning import Lesson, Pair, learn
from sharc_crawler.changes.masks import Mask, as_json, load_masks
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.evidence.facts import LEARNED, SUPPORT, PageFacts, Taught, VisitFacts
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.evidence.validators import TOO_FRESH
from sharc_crawler.model import Instant
from sharc_crawler.report.mask_candidates import Teachers

LARGEST_BODY = 1_000_000  #: most bytes of a page that is learned from
FEW = 20  #: changed pages, downloaded far apart, that are searched for log-in forms
_PASSWORD = re.compile(rb"(?i)<input\b[^>]{,1000}\btype\s*=\s*[\"']?password")
MOST_BYTES = 16_000_000  #: most bytes of all pages that are learned from


class _Fetched(NamedTuple):
    """A download of a page."""

    media_type: str | None
    body: bytes  #: content-decoded
    validator: str  #: ETag, or else Last-Modified
    modified: Instant | None
    date: Instant | None

    @property
    def stored(self) -> bool:
        """Is its Last-Modified a stored time, rather than the time of the answer?"""
        return self.modified is not None and self.date is not None and self.modified < self.date - TOO_FRESH


class _Twice(NamedTuple):
    """Two downloads of a page."""

    url: str
    old: _Fetched
    new: _Fetched
    lastmod: Instant | None  #: the latest of the sitemaps

    @property
    def pair(self) -> Pair:
        """The two downloads for learning."""
        stayed = self.old.validator and self.old.validator == self.new.validator
        return Pair(self.old.body, self.new.body, self.old.media_type, self.url, bool(stayed))

    @property
    def asks(self) -> bool:
        """Has it become a log-in form?"""
        return _PASSWORD.search(self.new.body) is not None and _PASSWORD.search(self.old.body) is None

    @property
    def modified(self) -> bool:
        """Did Last-Modified change between the downloads?"""
        return None not in (self.old.modified, self.new.modified) and self.old.modified != self.new.modified

    @property
    def listed(self) -> bool | None:
        """Do sitemaps state a change after the first download? None: they state nothing comparable."""
        if self.lastmod is None or self.old.date is None:
            return None
        return self.lastmod > self.old.date + TOO_FRESH


class _Edited:
    """Tells edited pages: they differ, and the server says so, for classes of URLs where its dates mean something."""

    def __init__(self, pages: Sequence[_Twice]) -> None:
        self._stored = {url_class(page.url) for page in pages if page.old.stored or page.new.stored}
        self._listed = {url_class(page.url) for page in pages if page.listed is False}

    def __call__(self, page: _Twice) -> bool:
        kind = url_class(page.url)
        told = (page.modified and kind in self._stored) or (page.listed and kind in self._listed)
        return page.asks or (bool(told) and page.old.body != page.new.body)


def learned(seen: Teachers, folder: Path, known: Sequence[Mask]) -> Taught:
    """Learn masks from pages, and write them into the folder, if there are any. ``known``: masks used already.

    A page that the server calls modified counts as edited, no matter what the masks ignore.
    """
    lesson, edited = lesson_of(seen, folder, known) if seen.lost >= SUPPORT else (learn(()), _Edited(()))
    masks = (*known, *lesson.masks)
    looked = _twice(seen.looked.items(), folder, set()) if lesson.masks else ()
    alike = {each.url for each in looked if not edited(each) and _alike(each.pair, masks)}
    told = (
        lesson.differing or lesson.asking or (known and seen.lost >= SUPPORT)
    )  # nothing to mask is news to whoever gave masks
    taught = Taught(lesson.masks, frozenset(alike), tuple(lesson.why_no_more()) if told else ())
    if taught == Taught() and not (folder / LEARNED).exists():
        return taught
    learned = {"masks": len(taught.masks), "alike": sorted(taught.alike), "why": taught.why}
    replace_file(folder / LEARNED, json.dumps({**as_json(masks), "learned": learned}, indent=1) + "\n")
    return taught


def lesson_of(seen: Teachers, folder: Path, known: Sequence[Mask]) -> tuple[Lesson, _Edited]:
    """Learn from pages that were not edited and do not ask for a password now; returns also a test for edited ones."""
    unread: set[str] = set()
    downloads = list(_teaching(seen, folder, unread))
    edited = _Edited(downloads)
    pairs = [each.pair for each in downloads if not edited(each)]
    apart = _twice(seen.looked.items()[-FEW:], folder, set())
    asking = {**{each.url: False for each in apart if each.asks}, **{each.url: True for each in downloads if each.asks}}
    modified = len(downloads) - len(pairs) - sum(asking.values())
    return of_pairs(pairs, known, len(unread))._replace(modified=modified, asking=len(asking)), edited


def of_pairs(pairs: Iterable[Pair], known: Sequence[Mask], unread: int) -> Lesson:
    """Learn from pairs of downloads; ``unread`` further pages stayed the same."""
    return learn(pairs, known, SUPPORT, unread)


def read(path: Path) -> Taught:
    """Read a file that :func:`learned` wrote. Raises :class:`~sharc_crawler.errors.DataError`."""
    masks = load_masks(path)
    try:
        told = json.loads(path.read_text())["learned"]
        return Taught(masks[len(masks) - told["masks"] :], frozenset(told["alike"]), tuple(told["why"]))
    except MALFORMED as error:
        raise DataError(f"{path} is no file of masks that a capture wrote ({error!r}); remove it") from error


def _teaching(seen: Teachers, folder: Path, unread: set[str]) -> Iterator[_Twice]:
    """Pages downloaded twice in short succession, then those that stayed the same: a rare difference is an edit.

    ``unread`` is given pages that stayed the same but lie in a former capture: they count without being read. Pages
    confirmed by a 304 count, too, unless the server's validators do not follow the bytes.
    """
    close = list(_first(_twice(seen.close.items(), folder, unread)))
    yield from close
    yield from _first(_twice(seen.same.items(), folder, unread))
    votes = _votes(close)
    unmodified = (page for page in seen.unmodified.items() if (votes[url_class(page.url)] or votes.total()) >= 0)
    yield from _first(_twice(unmodified, folder, unread, same=True))


def _votes(close: Iterable[_Twice]) -> Counter[str]:
    """For pages whose bytes differ, by class: how many had other validators, minus how many had the same.

    For a class without such pages, the sum over the site counts.
    """
    votes = Counter[str]()
    for each in close:
        if each.old.body != each.new.body and each.old.validator:
            votes[url_class(each.url)] += 1 if each.old.validator != each.new.validator else -1
    return votes


def _alike(pair: Pair, masks: Sequence[Mask]) -> bool:
    return fingerprint(pair.old, pair.media_type, masks) == fingerprint(pair.new, pair.media_type, masks)


def _first(found: Iterable[_Twice], most: int = MOST_BYTES) -> Iterator[_Twice]:
    """The first pages that fit into ``most`` bytes of memory together."""
    for each in found:
        most -= len(each.old.body) + len(each.new.body)
        if most < 0:
            return
        yield each


def _twice(pages: Iterable[PageFacts], folder: Path, unread: set[str], *, same: bool = False) -> Iterator[_Twice]:
    """Read the two downloads of pages; those that are unreadable or very large are left out."""
    for page in pages:
        assert page.visit and page.revisit
        same_bytes = same or page.visit.digest == page.revisit.digest
        old = _fetched(page.visit, folder)
        if old is None and same_bytes:
            unread.add(page.url)
        if old and (new := old if same_bytes else _fetched(page.revisit, folder)):
            yield _Twice(page.url, old, new, page.lastmod)


def _fetched(visit: VisitFacts, folder: Path) -> _Fetched | None:
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
    if body is None:
        return None
    etag, date, modified, media_type = (
        header_text(response.header(name)) for name in (b"etag", b"date", b"last-modified", b"content-type")
    )
    return _Fetched(media_type, body, etag or modified or "", http_date(modified), http_date(date))
