"""When each page of a site was downloaded, and the CSV from which anyone can score a crawl again."""

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

    The page at the apex of a pyramid is downloaded once, which is its visit and its revisit: both at one instant.
    """

    visits: NDArray[np.float64]
    revisits: NDArray[np.float64]
    told: Instant | None = None  #: T, where something else fixed it than the downloads: the reading of a sitemap

    @property
    def visited(self) -> NDArray[np.bool_]:
        """Pages downloaded at least once."""
        return ~np.isnan(self.visits)

    @property
    def revisited(self) -> NDArray[np.bool_]:
        """Pages downloaded for the second time, and the apex."""
        return ~np.isnan(self.revisits)

    @property
    def interval(self) -> tuple[Instant, Instant]:
        """First and last download."""
        times = np.concatenate([self.visits[self.visited], self.revisits[self.revisited]])
        return float(times.min()), float(times.max())

    @property
    def reference(self) -> Instant:
        """T: if nothing else is told, the middle between the first revisit and the last visit before it; without any
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
        """How the revisits follow the visits: ``none``, ``fifo`` (same order), ``lifo`` (the reverse), ``own``."""
        twice = self.revisited
        if not twice.any():
            return "none"
        steps = np.diff(self.revisits[twice][np.argsort(self.visits[twice], kind="stable")])
        if (steps <= 0).all():
            return "lifo"
        return "fifo" if (steps >= 0).all() else "own"

    def rows(self, urls: Sequence[str]) -> Iterator[tuple[str, str, Instant]]:
        """(page, kind, time) in the order of time."""
        for kind, times in (("visit", self.visits), ("revisit", self.revisits)):
            for page in np.flatnonzero(~np.isnan(times))[np.argsort(times[~np.isnan(times)], kind="stable")]:
                yield urls[page], kind, float(times[page])


def write_schedules(file: IO[str], schedules: Sequence[DownloadTimes], urls: Sequence[str]) -> None:
    """The schedules of several runs on one site's pages as CSV, runs numbered from 0; seconds, exactly."""
    writer = csv.writer(file)
    writer.writerow(HEADER)
    for run, schedule in enumerate(schedules):
        writer.writerows((run, page, kind, repr(time)) for page, kind, time in schedule.rows(urls))
