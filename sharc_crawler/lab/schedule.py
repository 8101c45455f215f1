"""The download times of a simulated crawl, and their CSV file, from which the crawl can be scored again."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant

HEADER = ("run", "page", "kind", "time")


@dataclass(frozen=True, slots=True)
class DownloadTimes:
    """Instants of the downloads, one entry per page of the site; NaN: never.

    The page at the apex of a pyramid is downloaded once; this counts as its visit and its revisit.
    """

    visits: NDArray[np.float64]
    revisits: NDArray[np.float64]
    told: Instant | None = None  #: T, if the reading of a sitemap fixed it instead of the downloads

    @property
    def visited(self) -> NDArray[np.bool_]:
        """Which pages were downloaded at least once."""
        return ~np.isnan(self.visits)

    @property
    def revisited(self) -> NDArray[np.bool_]:
        """Which pages were downloaded twice, or are the apex."""
        return ~np.isnan(self.revisits)

    @property
    def interval(self) -> tuple[Instant, Instant]:
        """The instants of the first and last download."""
        times = np.concatenate([self.visits[self.visited], self.revisits[self.revisited]])
        return float(times.min()), float(times.max())

    @property
    def reference(self) -> Instant:
        """T: ``told`` if given; else the middle between the first revisit and the last visit before it, or, without
        revisits, the median visit.
        """
        if self.told is not None:
            return self.told
        if self.revisited.any():
            first = float(np.nanmin(self.revisits))
            return (first + float(self.visits[self.visits <= first].max())) / 2
        return float(np.median(self.visits[self.visited]))

    @property
    def order(self) -> str:
        """The order of the revisits: ``none``, ``fifo`` (that of the visits), ``lifo`` (the reverse) or ``own``."""
        twice = self.revisited
        if not twice.any():
            return "none"
        steps = np.diff(self.revisits[twice][np.argsort(self.visits[twice], kind="stable")])
        if (steps <= 0).all():
            return "lifo"
        return "fifo" if (steps >= 0).all() else "own"

    def rows(self, urls: Sequence[str]) -> Iterator[tuple[str, str, Instant]]:
        """Rows (page, kind, time): the visits in order of time, then the revisits."""
        for kind, times in (("visit", self.visits), ("revisit", self.revisits)):
            for page in np.flatnonzero(~np.isnan(times))[np.argsort(times[~np.isnan(times)], kind="stable")]:
                yield urls[page], kind, float(times[page])


def write_schedules(file: IO[str], schedules: Sequence[DownloadTimes], urls: Sequence[str]) -> None:
    """Write the schedules of several runs on one site as CSV; runs are numbered from 0, times are exact seconds."""
    writer = csv.writer(file)
    writer.writerow(HEADER)
    for run, schedule in enumerate(schedules):
        writer.writerows((run, page, kind, repr(time)) for page, kind, time in schedule.rows(urls))
