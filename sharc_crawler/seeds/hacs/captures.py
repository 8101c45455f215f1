"""Captures of many URLs in columns: one flat array per attribute; offsets mark where each URL's captures begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.plural import counted

NO_DIGEST = 0  #: the index gives no digest for the capture


class Answered(NamedTuple):
    """A URL for which archives hold responses, but none with content."""

    redirected: bool  #: whether all responses were redirects; otherwise some were errors
    last: float  #: instant of the last response


@dataclass(frozen=True, slots=True)
class Captures:
    """Captures of many URLs; URL i owns the captures ``offsets[i]:offsets[i + 1]``, in order of time.

    Digests and fingerprints are numbers, equal where the texts are equal. They are valid in this process only.

    >>> captures = Captures.of(["org,a)/"], [[3.0, 1.0, 3.0]], [[8, 7, 8]])
    >>> captures.times.tolist(), captures.digests.tolist()
    ([1.0, 3.0], [7, 8])
    """

    keys: list[str]  #: sort keys (SURT)
    urls: list[str]  #: for each key, a URL at which it was captured
    offsets: NDArray[np.int64]  #: shape (URLs + 1,)
    times: NDArray[np.float64]  #: instants, rising within a URL
    digests: NDArray[np.int64]  #: payload digests as numbers; NO_DIGEST: unknown
    fingerprints: NDArray[np.int64] | None = None
    links: NDArray[np.object_] | None = None  #: per capture a frozenset of URLs, or None if its body was not read

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(
        cls, keys: Sequence[str], times: Sequence[ArrayLike], digests: Sequence[ArrayLike] | None = None
    ) -> Captures:
        """Captures from one sequence of times, and one of digests, per URL."""
        rows = [np.asarray(row, np.float64) for row in times]
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)
        flat = np.concatenate([np.zeros(0), *rows])
        known = [np.zeros(len(row)) for row in rows] if digests is None else digests
        numbers = np.concatenate([np.zeros(0), *known]).astype(np.int64)
        return cls.gathered(list(keys), list(keys), owners, flat, numbers)

    @classmethod
    def gathered(
        cls,
        keys: list[str],
        urls: list[str],
        owners: NDArray[np.int64],
        times: NDArray[np.float64],
        digests: NDArray[np.int64],
        fingerprints: NDArray[np.int64] | None = None,
        links: NDArray[np.object_] | None = None,
    ) -> Captures:
        """Captures from rows in any order; ``owners`` holds the number of each row's URL.

        Rows with the same URL and instant are merged into one capture: each attribute is taken from the first row
        that has it.
        """
        if not len(owners) == len(times) == len(digests):
            raise UsageError(f"captures: {counted(len(owners), 'owner')} need as many times and digests")
        order = _order(owners, times)
        owners, times = owners[order], times[order]
        new = np.ones(len(owners), np.bool_)
        new[1:] = (np.diff(owners) != 0) | (np.diff(times) != 0)
        offsets = np.searchsorted(owners[new], np.arange(len(keys) + 1)).astype(np.int64)
        return cls(
            keys,
            urls,
            offsets,
            times[new],
            _first_said(digests[order], new, NO_DIGEST),
            None if fingerprints is None else _first_said(fingerprints[order], new, NO_DIGEST),
            None if links is None else _first_said(links[order], new, None),
        )

    def firsts(self) -> NDArray[np.bool_]:
        """Which captures are the first of their URL, so that nothing precedes them for a comparison."""
        first = np.zeros(len(self.times) + 1, np.bool_)
        first[self.offsets[:-1]] = True
        return first[:-1]


def _order(owners: NDArray[np.int64], times: NDArray[np.float64]) -> NDArray[np.int64] | slice:
    """The permutation that sorts the rows; a full slice if they are sorted already, as indexes are."""
    step = np.diff(owners)
    if np.all((step > 0) | ((step == 0) & (np.diff(times) >= 0))):
        return slice(None)
    return np.lexsort((times, owners))


def _first_said(values: NDArray[Any], new: NDArray[np.bool_], nothing: int | None) -> NDArray[Any]:
    """For each capture, the first value of its rows that is not ``nothing``; ``new`` marks each capture's first row."""
    kept: NDArray[Any] = values[new]
    further = np.flatnonzero(~new)
    if not len(further):
        return kept
    for row, capture in zip(further.tolist(), (np.cumsum(new) - 1)[further].tolist(), strict=True):
        if kept[capture] == nothing:
            kept[capture] = values[row]
    return kept
