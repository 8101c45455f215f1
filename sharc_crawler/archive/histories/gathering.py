"""Gather captures from any number of indexes and archives, row by row, into columns."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.archive.histories.pages import UNSAID
from sharc_crawler.archive.surt import surt
from sharc_crawler.changes.http import REDIRECTS
from sharc_crawler.model import Instant
from sharc_crawler.seeds.hacs.captures import NO_DIGEST, Answered, Captures

OK = 200
NO_STATUS = 0  #: not stated: indexes leave it out of revisits and of some old captures
NOT_WEB = -1  #: the number of URLs that are not on the web (``dns:``)
LONGEST = 65_536  #: most bytes of a URL or its sort key; rows with longer ones are problems
_NOTHING = hash(b"-")  #: for a row without a digest


def status_of(status: int, *, revisit: bool, digest: str | None) -> int:
    """A capture's status: 304 for a revisit without a digest, which has no content to compare.

    >>> status_of(NO_STATUS, revisit=True, digest=None), status_of(200, revisit=True, digest="sha1:AB")
    (304, 200)
    """
    return NOT_MODIFIED if revisit and digest is None else status


class Gathering:
    """Rows of captures, to which the readers of all formats append, and what was wrong with other rows."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.owners = array("q")
        self.times = array("d")
        self.digests = array("q")
        self.statuses = array("h")
        self.kinds = array("b")  #: HTML, OTHER, UNSAID: see :mod:`.pages`
        self.fingerprints: dict[int, int] = {}  #: row → hash of the fingerprint
        self.links: dict[int, frozenset[str]] = {}  #: row → links of the capture
        self.refers: dict[int, tuple[bytes, Instant]] = {}  #: row of a 304 → URL and time of the capture it names
        self.resume_key: str | None = None  #: of the last answer of a CDX server: there are more captures
        self.pages: set[str] = set()  #: URLs of pages of TimeMaps that were named
        self.pages_read: set[str] = set()
        self.originals: set[str] = set()  #: URLs that TimeMaps say they are of
        self.keys: list[str] = []  #: sort keys of the URLs, by number
        self._numbers: dict[bytes, int] = {}  # key of a URL, as an index spells it → its number
        self._urls: list[str] = []
        self._by_key: dict[str, int] = {}

    def number(self, key: bytes, url: bytes) -> int:
        """The number of a URL. A key that differs from ours (no SURT, or an IP address not reversed) is computed.

        Raises :class:`ValueError` for a URL longer than :data:`LONGEST`.
        """
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._new(key, url)
        return number

    def numbers(self, keys: Sequence[bytes], urls: Sequence[bytes]) -> list[int]:
        """The numbers of many URLs."""
        known = list(map(self._numbers.get, keys))
        return (
            [self.number(*one) for one in zip(keys, urls, strict=True)] if None in known else cast("list[int]", known)
        )

    def append(
        self, key: bytes, url: bytes, time: Instant, digest: bytes, status: int = OK, kind: int = UNSAID
    ) -> int | None:
        """Append a capture; returns its row, ``None`` for a URL that is not on the web."""
        number = self.number(key, url)
        if number == NOT_WEB:
            self.problems.left_out["not a web page"] += 1
            return None
        self.owners.append(number)
        self.times.append(time)
        self.statuses.append(status)
        self.kinds.append(kind)
        self.digests.append(numbered(digest))
        return len(self.owners) - 1

    def captures(self) -> tuple[Captures, NDArray[np.int8]]:
        """All captures of content, without duplicates; and for each URL its kind (HTML, OTHER, UNSAID)."""
        owners, digests = np.asarray(self.owners), np.array(self.digests)
        digests[digests == _NOTHING] = NO_DIGEST
        times, statuses = np.asarray(self.times), np.asarray(self.statuses)
        good = _content(owners, digests, statuses)
        named = {row: (self._numbers.get(url, NOT_WEB), time) for row, (url, time) in self.refers.items()}
        shown = shown_rows(owners, times, statuses, good, named)
        good = good[shown]
        found = Captures.gathered(
            self.keys,
            self._urls,
            owners[good],
            times[good],
            digests[shown[good]],
            _column(self.fingerprints, NO_DIGEST, shown[good]),
            _column(self.links, None, shown[good]),
        )
        if orphans := int((~good & (statuses == NOT_MODIFIED)).sum()):
            self.problems.left_out["not modified since a capture that is not there"] = orphans
        self.problems.left_out["status is not 200"] = len(good) - int(good.sum()) - orphans
        self.problems.left_out["listed more than once"] = int(good.sum()) - len(found.times)
        _share_links(found)
        kinds = np.full(len(found), UNSAID, np.int8)
        np.maximum.at(kinds, owners[good], np.asarray(self.kinds)[good])
        return found, kinds

    def answered(self) -> dict[str, Answered]:
        """By sort key, URLs that only redirected or failed: archives hold no content of them."""
        owners, statuses = np.asarray(self.owners), np.asarray(self.statuses)
        content = np.isin(statuses, (OK, NO_STATUS, NOT_MODIFIED))
        known = np.zeros(len(self.keys), np.bool_)
        known[owners[content]] = True
        rows = np.flatnonzero(~known[owners])
        last = np.full(len(known), -np.inf)
        np.maximum.at(last, owners[rows], np.asarray(self.times)[rows])
        failed = np.zeros(len(known), np.bool_)
        failed[owners[rows[~np.isin(statuses[rows], list(REDIRECTS))]]] = True
        return {
            self.keys[url]: Answered(redirected=not failed[url], last=float(last[url]))
            for url in np.unique(owners[rows]).tolist()
        }

    def _new(self, key: bytes, url: bytes) -> int:
        if (size := max(len(key), len(url))) > LONGEST:
            raise ValueError(f"an address of {size:,} bytes: none above {LONGEST:,} is read")
        if not url.lower().startswith((b"http://", b"https://")):
            return NOT_WEB
        address = url.decode("utf-8", "replace")
        host, ours, _ = key.partition(b")/")
        sort_key = _as_ours(key.decode("utf-8", "replace")) if ours and b"." not in host else _surt(address)
        if sort_key is None:
            return NOT_WEB
        number = self._by_key.setdefault(sort_key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(sort_key)
            self._urls.append(address)
        return number


def _as_ours(key: str) -> str:
    """An index's sort key without the ``/`` at the end of its path, like our own keys.

    >>> _as_ours("org,a)/x/"), _as_ours("org,a)/x/?q=/"), _as_ours("org,a)/")
    ('org,a)/x', 'org,a)/x?q=/', 'org,a)/')
    """
    path, mark, query = key.partition("?")
    return f"{path.rstrip('/')}{mark}{query}" if path.endswith("/") and not path.endswith(")/") else key


def _share_links(captures: Captures) -> None:
    """Give captures of a page with the same digest the same links: only one of them was read."""
    if captures.links is None:
        return
    owners = np.repeat(np.arange(len(captures)), np.diff(captures.offsets)).tolist()
    kinds = list(zip(owners, captures.digests.tolist(), strict=True))
    known = {kind: links for kind, links in zip(kinds, captures.links, strict=True) if links is not None}
    for row, kind in enumerate(kinds):
        if captures.links[row] is None and kind[1] != NO_DIGEST:
            captures.links[row] = known.get(kind)


def numbered(digest: bytes) -> int:
    """A hash of a digest without its label (``sha1:``), which some indexes leave out."""
    return hash(digest.removeprefix(b"sha1:"))


def _surt(url: str) -> str | None:
    try:
        return surt(url)
    except ValueError:
        return None


def _content(owners: NDArray[np.int64], digests: NDArray[np.int64], statuses: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which rows have content: status 200, or no status and a payload that no other status of the URL had."""
    good = (statuses == OK) | (statuses == NO_STATUS)
    unsaid = np.flatnonzero((statuses == NO_STATUS) & (digests != NO_DIGEST))
    if len(unsaid):
        payload = digests ^ (owners * np.int64(0x2545F4914F6CDD1D))  # one number for URL and digest
        others = np.setdiff1d(payload[~good], payload[statuses == OK])
        good[unsaid[np.isin(payload[unsaid], others)]] = False
    return cast("NDArray[np.bool_]", good)


def _column(values: Mapping[int, Any], none: int | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """The values of rows as an array; ``None`` if there are none."""
    if not values:
        return None
    column: NDArray[Any] = np.full(len(rows), none, np.int64 if none == NO_DIGEST else np.object_)
    for place, row in enumerate(rows.tolist()):
        column[place] = values.get(row, none)
    return column


# -- rows that could not be read: counted, and the first ones kept with file and line ----------------------------------


NAMED = 10_000  #: problems kept; further ones are only counted


class Problem(NamedTuple):
    """A malformed line or record."""

    file: str
    line: int  #: counted from 1; in a WARC file the number of the record
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(slots=True)
class Problems:
    """Malformed lines, and well-formed ones that are no capture of content.

    >>> problems = Problems()
    >>> problems.add("a.cdx", 3, "impossible date")
    >>> problems.count, str(problems.named[0])
    (1, 'a.cdx:3: impossible date')
    """

    count: int = 0
    named: list[Problem] = field(default_factory=list)  #: the first ones
    left_out: Counter[str] = field(default_factory=Counter)  #: reason → number of captures
    no_seeds: Counter[str] = field(default_factory=Counter)  #: reason → number of URLs that are not pages

    def add(self, file: str, line: int, reason: str) -> None:
        """Count a malformed line, and keep it if it is one of the first."""
        self.count += 1
        if len(self.named) < NAMED:
            self.named.append(Problem(file, line, reason))


# -- a 304 shows the content of the capture that the server called unchanged -------------------------------------------


NOT_MODIFIED = 304


def shown_rows(
    owners: NDArray[np.int64],
    times: NDArray[np.float64],
    statuses: NDArray[np.int16],
    good: NDArray[np.bool_],
    refers: Mapping[int, tuple[int, Instant]],
) -> NDArray[np.int64]:
    """For each row, the row whose content it shows: for a 304 the one it refers to, else the URL's last before it.

    ``good``: which rows have content; ``refers``: row → owner and time that a revisit record names. All other rows, and
    a 304 without such a row, show themselves.

    >>> owners, times, statuses = np.zeros(4, int), np.array([1.0, 2, 3, 4]), np.array([200, 200, 304, 304])
    >>> shown_rows(owners, times, statuses, statuses == 200, {3: (0, 1.0)}).tolist()
    [0, 1, 1, 0]
    """
    shown = np.arange(len(owners))
    unchanged = statuses == NOT_MODIFIED
    if not unchanged.any():
        return shown
    order = np.lexsort((unchanged, times, owners))  # content before a 304 of the same instant
    places = np.maximum.accumulate(np.where(good[order], np.arange(len(order)), 0))
    before = order[places]
    follows = unchanged[order] & good[before] & (owners[before] == owners[order])
    shown[order[follows]] = before[follows]
    wanted = set(refers.values())
    rows = zip(owners.tolist(), times.tolist(), strict=True) if wanted else ()
    named = {one: row for row, one in enumerate(rows) if one in wanted and not unchanged[row]}
    for row, one in refers.items():
        shown[row] = named.get(one, shown[row])
    return shown
