"""What an archive's history saw of a site, as a change history that can be replayed (:mod:`sharc_crawler.lab.history`).

A change lies between two looks at a page: at the server's ``Last-Modified`` where that is there, else in the middle.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from typing import IO

from sharc_crawler.lab.history import COLUMNS
from sharc_crawler.model import Instant, Kind, Result, Url
from sharc_crawler.rates.history import CHANGED, SiteHistory
from sharc_crawler.storage.observations import ObservationStore


def write_changes(store: ObservationStore, site: str, file: IO[str]) -> None:
    """Write the pages of a site, a line each."""
    gone = {(one.url, one.time) for one in store.observations(site) if one.result is Result.GONE}
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    rows.writerows(_rows(store.histories(site), gone, _second_capture(store, site)))


def _second_capture(store: ObservationStore, site: str) -> Instant:
    """When a site was captured the second time: its robots.txt was read again. What was found before was there."""
    read = store.histories(site, Kind.ROBOTS).times
    return float(read[1]) if len(read) > 1 else math.inf


def _rows(history: SiteHistory, gone: set[tuple[Url, Instant]], second: Instant) -> Iterator[list[object]]:
    for page, url in enumerate(history.urls):
        start, end = history.offsets[page], history.offsets[page + 1]
        times = history.times[start:end].tolist()
        if not times:
            continue
        there = [(url, time) not in gone for time in times]
        deleted, changes = ([] if there[0] else [times[0]]), list[float]()
        for at in range(1, len(times)):
            time = _between(times[at - 1], times[at], float(history.modified[start + at]))
            if there[at - 1] and not there[at]:
                deleted.append(time)
            elif there[at] and (not there[at - 1] or history.changed[start + at] == CHANGED):
                changes.append(time)
        yield [url, _text([times[0]]), int(times[0] < second), _text(deleted), "", _text(changes)]


def _between(before: Instant, time: Instant, modified: Instant) -> Instant:
    """When a change was: a Last-Modified that is NaN lies nowhere."""
    return modified if before < modified <= time else (before + time) / 2


def _text(instants: list[Instant]) -> str:
    return ";".join(f"{instant:.3f}" for instant in instants)
