"""The input of the prediction: when each seed was captured, and which captures show an update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.model import Instant
from sharc_crawler.rates.history import CHANGED, UNKNOWN, Histories


@dataclass(frozen=True, slots=True)
class UpdateHistories:
    """Captures of seeds in order of time; seed i owns ``offsets[i]:offsets[i + 1]``.

    >>> one = UpdateHistories.of(["http://a.org/"], [[0.0, 4.0, 6.0]], [[-1, 1, 0]])
    >>> one.placed(interpolated=True).tolist(), one.window(1.0, 9.0).changed.tolist()
    ([0.0, 2.0, 6.0], [-1, 0])
    """

    urls: list[str]
    offsets: NDArray[np.int64]  #: shape (seeds + 1,)
    times: NDArray[np.float64]  #: instants of the captures
    changed: NDArray[np.int8]  #: against the capture before: UNKNOWN, UNCHANGED or CHANGED

    def __len__(self) -> int:
        return len(self.urls)

    @classmethod
    def of(cls, urls: Sequence[str], times: Sequence[ArrayLike], changed: Sequence[ArrayLike]) -> UpdateHistories:
        """Histories from two sequences per seed: times, ascending, and values of ``changed``."""
        rows = [np.asarray(row, np.float64) for row in times]
        offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
        bits = [np.zeros(0, np.int8), *(np.asarray(row, np.int8) for row in changed)]
        return cls(list(urls), offsets, np.concatenate([np.zeros(0), *rows]), np.concatenate(bits))

    def counts(self) -> NDArray[np.int64]:
        """Captures per seed."""
        return np.diff(self.offsets)

    def owners(self) -> NDArray[np.int64]:
        """The number of each capture's seed."""
        return np.repeat(np.arange(len(self)), self.counts())

    def window(self, start: Instant, end: Instant) -> UpdateHistories:
        """M_{w,t}: the captures in [start, end]. ``changed`` of each seed's first one becomes UNKNOWN."""
        keep = (self.times >= start) & (self.times <= end)
        offsets = np.concatenate([[0], np.cumsum(keep)])[self.offsets].astype(np.int64)
        changed = self.changed[keep]
        changed[offsets[:-1][np.diff(offsets) > 0]] = UNKNOWN
        return UpdateHistories(self.urls, offsets, self.times[keep], changed)

    def select(self, seeds: NDArray[np.int64]) -> UpdateHistories:
        """Some seeds, in the order given."""
        starts, counts = self.offsets[seeds], self.counts()[seeds]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])
        return UpdateHistories([self.urls[seed] for seed in seeds], offsets, self.times[rows], self.changed[rows])

    def named(self, urls: Sequence[str]) -> UpdateHistories:
        """The histories of these URLs, in this order; an unknown URL has an empty one."""
        number = {url: seed for seed, url in enumerate(self.urls)}
        seeds = np.array([number.get(url, len(self)) for url in urls], np.int64)
        offsets = np.append(self.offsets, self.offsets[-1])
        found = UpdateHistories([*self.urls, ""], offsets, self.times, self.changed).select(seeds)
        return replace(found, urls=list(urls))

    def after(self, earlier: UpdateHistories) -> UpdateHistories:
        """The captures of both, seed by seed, ``earlier`` first."""
        order = np.argsort(np.concatenate([earlier.owners(), self.owners()]), kind="stable")
        times = np.concatenate([earlier.times, self.times])[order]
        changed = np.concatenate([earlier.changed, self.changed])[order]
        return UpdateHistories(self.urls, earlier.offsets + self.offsets, times, changed)

    def following(self, whole: UpdateHistories, end: Instant) -> UpdateHistories:
        """The captures of ``whole`` (with the same URLs) up to ``end``, then these.

        A window's first capture is UNKNOWN; if it comes next in ``whole``, its value is taken from there.
        """
        earlier = whole.window(-np.inf, end)
        later = whole.offsets[:-1] + earlier.counts()
        both = (self.counts() > 0) & (later < whole.offsets[1:])
        ours, theirs = self.offsets[:-1][both], later[both]
        same = self.times[ours] == whole.times[theirs]
        changed = self.changed.copy()
        changed[ours[same]] = whole.changed[theirs[same]]
        return replace(self, changed=changed).after(earlier)

    def placed(self, *, interpolated: bool) -> NDArray[np.float64]:
        """The instant of every capture; with ``interpolated``, an update lies half way between its two captures.

        Both captures count with the instants at which they were taken (section II-B2).
        """
        if not interpolated:
            return self.times
        before = np.concatenate([[0.0], self.times[:-1]])[: len(self.times)]
        return np.where(self.changed == CHANGED, (self.times + before) / 2.0, self.times)

    def intervals(self, *, interpolated: bool) -> Histories:
        """T_c and T_u: the intervals between consecutive captures, see :meth:`placed`."""
        follows = np.ones(len(self.times) + 1, np.bool_)
        follows[self.offsets[:-1]] = False
        follows = follows[:-1]
        places = self.placed(interpolated=interpolated)
        lengths = np.diff(places, prepend=0.0)[follows]
        offsets = np.concatenate([[0], np.cumsum(follows)])[self.offsets].astype(np.int64)
        return Histories(offsets, lengths, self.changed[follows], places[follows])

    def last_update(self, *, interpolated: bool) -> NDArray[np.float64]:
        """τ, the instant of the last update seen of each seed; NaN if none was seen."""
        last = np.full(len(self), np.nan)
        updated = self.changed == CHANGED
        last[self.owners()[updated]] = self.placed(interpolated=interpolated)[updated]  # later updates overwrite
        return last

    def first_seen(self) -> NDArray[np.float64]:
        """The instant of each seed's first capture; NaN where there is none."""
        return self._at(self.offsets[:-1])

    def last_seen(self) -> NDArray[np.float64]:
        """The instant of each seed's last capture; NaN where there is none."""
        return self._at(self.offsets[1:] - 1)

    def first_from(self, instant: Instant) -> NDArray[np.float64]:
        """The instant of each seed's first capture at or after ``instant``; NaN if there is none."""
        earlier = np.bincount(self.owners()[self.times < instant], minlength=len(self))
        return np.where(
            earlier < self.counts(), self._at(np.minimum(self.offsets[:-1] + earlier, len(self.times) - 1)), np.nan
        )

    def _at(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.full(len(self), np.nan)
        some = self.counts() > 0
        out[some] = self.times[index[some]]
        return out
