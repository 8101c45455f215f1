"""Captures drawn from records of link additions, so that the true times of updates are known.

A record is one line of JSON: ``{"page": "Service/Document", "events": [[time, kind, version, links added, links
removed, characters], …]}``; kinds are S first record, U update, T technical re-extraction, X deletion.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.seeds.hacs.evaluation import Truth
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.sites import SeedHistories

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sharc_crawler.model import Instant

DAY = 86_400.0
SPREAD = 1.0  #: standard deviation of the logarithm of the gaps between a page's captures
DENSE = 3.0  #: days, median gap of a well-watched page
SPARSE = (20.0, 127.0)  #: days: 80 % of pages have a median gap between these (section II-A)
_TENTH = 1.2815515594600038  #: quantile of the normal distribution at 0.9
REGIMES = ("dense", "sparse")


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A page and when links were added to it."""

    page: str
    first: Instant
    last: Instant  #: deletion; inf: it was still there
    additions: NDArray[np.float64]


def read_records(path: Path, *, technical: bool = False) -> list[LinkRecord]:
    """The pages of a file, plain or gzipped; ``technical``: count technical re-extractions as updates.

    Raises :class:`~sharc_crawler.errors.DataError` that names file and line.
    """
    kinds = {"U", "T"} if technical else {"U"}
    records: list[LinkRecord] = []
    number = 0
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 - said of the line that fails
                entry = json.loads(line)
                records.append(_record(entry["page"], entry["events"], kinds))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise DataError(f"{path}:{number}: not a record of link additions: {error!r}") from error
    if not records:
        raise DataError(f"{path} has no records")
    return records


def sampled(
    records: list[LinkRecord], regime: str, *, website: bool = False, draw: int = 0
) -> tuple[SeedHistories, Truth]:
    """Captures at log-normal gaps, drawn by the page's name, and the truth; ``website``: a service's pages together."""
    end = max(max(one.additions, default=one.first) for one in records)
    times = [_captures(one, f"{regime} {draw} {one.page}", regime, end) for one in records]
    bits = [_bits(seen, one.additions) for seen, one in zip(times, records, strict=True)]
    pages = UpdateHistories.of([_url(one.page) for one in records], times, bits)
    if not website:
        return SeedHistories.of_pages(pages), Truth.of([one.additions.tolist() for one in records])
    services = [one.page.partition("/")[0] for one in records]
    names = sorted(set(services))
    owners = np.searchsorted(names, services)
    updates: list[list[float]] = [[] for _ in names]
    for owner, one in zip(owners, records, strict=True):
        updates[owner].extend(one.additions)
    return SeedHistories(names, pages, owners), Truth.of(updates)


def _record(page: str, events: list[tuple[float, str, int, int]], kinds: set[str]) -> LinkRecord:
    added = [event[0] for event in events if event[1] in kinds and event[3] > 0]
    gone = [event[0] for event in events if event[1] == "X"]
    return LinkRecord(page, events[0][0], gone[-1] if gone else math.inf, np.array(sorted(added), np.float64))


def _captures(record: LinkRecord, name: str, regime: str, end: Instant) -> NDArray[np.float64]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    middle, width = math.log(DENSE), 0.0
    if regime == "sparse":
        middle, width = math.log(SPARSE[0] * SPARSE[1]) / 2, math.log(SPARSE[1] / SPARSE[0]) / 2 / _TENTH
    median = math.exp(rng.normal(middle, width))
    until = min(end, record.last)
    time = record.first + DAY * median * rng.random()
    times = []
    while time <= until:
        times.append(time)
        time += max(1.0, DAY * rng.lognormal(math.log(median), SPREAD))
    return np.array(times)


def _bits(times: NDArray[np.float64], additions: NDArray[np.float64]) -> NDArray[np.int8]:
    """Whether links were added between a capture and the one before."""
    count = np.searchsorted(additions, times, side="right")
    bits = np.where(np.diff(count, prepend=0) > 0, CHANGED, UNCHANGED).astype(np.int8)
    bits[:1] = UNKNOWN
    return bits


def _url(page: str) -> str:
    service, _, document = page.partition("/")
    return f"https://{quote(service)}/{quote(document)}"
