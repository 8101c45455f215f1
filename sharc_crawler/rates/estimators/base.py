"""The port of estimators, and their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import RateEstimate
from sharc_crawler.rates.estimators.likelihood import growth
from sharc_crawler.rates.history import DATED, UNCHANGED, Histories

BLOCK = 10_000  #: estimates made at a time


@dataclass(frozen=True, slots=True)
class Estimates:
    """Rates of many pages with their uncertainty; NaN for a page without observations.

    Rates and spreads are changes per unit of the histories' lengths.
    """

    rate: NDArray[np.float64]
    spread: NDArray[np.float64]  #: standard deviation
    shape: NDArray[np.float64]  #: of Gamma posteriors with mean ``rate``; inf: a point estimate
    observations: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rate)

    @classmethod
    def concatenate(cls, parts: list[Estimates]) -> Estimates:
        """Concatenate the estimates of several groups of pages."""
        if not parts:
            return cls.nothing(0)
        return cls(*(np.concatenate(column) for column in zip(*(part.columns() for part in parts), strict=True)))

    @classmethod
    def nothing(cls, pages: int) -> Estimates:
        """Make estimates of unknown pages."""
        unknown = np.full(pages, np.nan)
        return cls(unknown, unknown, unknown, np.zeros(pages, np.int64))

    def select(self, pages: Sequence[int] | NDArray[np.int64]) -> Estimates:
        """Return the estimates of some pages, in the order given."""
        take = np.asarray(pages, np.int64)
        return Estimates(self.rate[take], self.spread[take], self.shape[take], self.observations[take])

    def scaled(self, factors: NDArray[np.float64]) -> Estimates:
        """Return the estimates with rates times these factors."""
        return Estimates(self.rate * factors, self.spread * factors, self.shape, self.observations)

    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return rate, spread, shape and observations."""
        return self.rate, self.spread, self.shape, self.observations

    def by_page(self, sources: Sequence[str]) -> PageRates:
        """Return a sequence of estimates by page, each with its source."""
        return PageRates(self, sources)


class PageRates(Sequence[RateEstimate | None]):
    """A sequence of estimates, made on access; None for unobserved pages, until another estimate is set."""

    def __init__(self, estimates: Estimates, sources: Sequence[str]) -> None:
        self._estimates, self._sources = estimates, sources
        self._others: dict[int, RateEstimate] = {}

    def missing(self) -> list[int]:
        """Return the unobserved pages."""
        found: list[int] = np.flatnonzero(np.isnan(self._estimates.rate)).tolist()
        return found

    def known(self) -> list[int]:
        """Return the pages with an estimate."""
        found: list[int] = np.flatnonzero(~np.isnan(self.columns()[0])).tolist()
        return found

    def rates(self) -> list[float]:
        """Return the rates of all pages that have one."""
        rates, _, _ = self.columns()
        known: list[float] = rates[~np.isnan(rates)].tolist()
        return known

    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
        """Return rates, shapes and sources of all pages."""
        rates, shapes, sources = self._estimates.rate.copy(), self._estimates.shape.copy(), list(self._sources)
        for place, other in self._others.items():
            rates[place], shapes[place], sources[place] = other.rate, other.shape, other.source
        return rates, shapes, sources

    def __setitem__(self, place: int, other: RateEstimate | None) -> None:
        """Set another source's estimate of an unobserved page."""
        if other is not None:
            self._others[place] = other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[RateEstimate | None]:
        return self.made(range(len(self)))

    @overload
    def __getitem__(self, at: int) -> RateEstimate | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[RateEstimate | None]: ...
    def __getitem__(self, at: int | slice) -> RateEstimate | list[RateEstimate | None] | None:
        found = list(self.made(range(len(self))[at] if isinstance(at, slice) else [range(len(self))[at]]))
        return found if isinstance(at, slice) else found[0]

    def made(self, places: Sequence[int]) -> Iterator[RateEstimate | None]:
        """Those of some pages."""
        for start in range(0, len(places), BLOCK):
            some = places[start : start + BLOCK]
            columns = (column.tolist() for column in self._estimates.select(some).columns())
            for place, rate, spread, shape, observations in zip(some, *columns, strict=True):
                if rate != rate:
                    yield self._others.get(place)
                else:
                    yield RateEstimate(rate, self._sources[place], shape, observations, spread)


class Estimator(ABC):
    """Rates from histories. Hyperparameters are arguments of the constructor; what is learned ends with ``_``."""

    size = 1 << 15  #: pages in a block

    def fit(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Self:  # noqa: ARG002
        """Learn from many pages what is common to them (of each class); most estimators need not."""
        return self

    def estimate(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Estimates:
        """The rate of every page. ``classes``: a label per page, as given to :meth:`fit`."""
        labels = np.zeros(len(histories), np.int64) if classes is None else classes
        parts = [self.block(block, labels[pages]) for pages, block in histories.blocks(self.size)]
        return Estimates.concatenate(parts)

    @abstractmethod
    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:
        """The estimates of some pages: memory stays bounded, and their intervals in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over each page's intervals."""

    changed: NDArray[np.float64]  #: intervals with a change, Σx
    count: NDArray[np.float64]  #: intervals, n
    time: NDArray[np.float64]  #: their length, T
    observations: NDArray[np.int64]

    @classmethod
    def of(cls, histories: Histories) -> Sums:
        """Compute the sums over the known intervals of each page."""
        known = histories.known()
        observed = known.observations()
        return cls(
            known.total(known.weighted((known.changed != UNCHANGED).astype(np.float64))),
            observed.astype(np.float64) if known.weights is None else known.total(known.weights),
            known.total(known.weighted(known.lengths)),
            observed,
        )


def information(known: Histories, rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed Fisher information about each page's rate, −∂² log L/∂λ² at ``rate`` > 0."""
    seen = np.flatnonzero(known.changed > UNCHANGED)
    own = known.pages()[seen]
    rates, lengths = rate[own], known.lengths[seen]
    grown = growth(rates * lengths)
    terms = lengths * lengths * (1.0 + 1.0 / grown) / grown  # (t / (2 sinh(λt/2)))²
    dated = known.changed[seen] == DATED
    terms[dated] = rates[dated] ** -2.0
    weight = 1.0 if known.weights is None else known.weights[seen]
    return np.bincount(own, terms * weight, len(known)).astype(np.float64)


def point(
    rate: NDArray[np.float64],
    precision: NDArray[np.float64],
    time: NDArray[np.float64],
    observations: NDArray[np.int64],
) -> Estimates:
    """Make point estimates: the spread is by the information; 1/T (the width of e^{−λT}) without a change in time T."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(rate > 0, precision**-0.5, 1.0 / time)
    none = observations == 0
    shape = np.full(len(rate), np.inf)
    return Estimates(np.where(none, np.nan, rate), np.where(none, np.nan, spread), shape, observations)
