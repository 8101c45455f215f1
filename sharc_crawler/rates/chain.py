"""A chain of rate sources with a prior at the end: every page gets a rate."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sharc_crawler.model import Instant, Rate, RateEstimate, Sighting
from sharc_crawler.rates.base import ONCE_A_MONTH, PRIOR, RateSource, TellsSwings
from sharc_crawler.rates.sitemap import DAY, SitemapRates, weight
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.swings import Swings

ENOUGH = 30  #: minimum of pages rated by both sources for a calibration
LEAST_SHAPE = 0.1


class Calibration:
    """Calibrates rates r of one source as λ ≈ c r^β, by pages for which a better source knows λ.

    β is the source's weight on this site, from 0 (its rates distinguish no pages) to 1 (they are proportional to λ). c
    makes the means agree, and the scatter around the fit gives the spread.

    >>> from sharc_crawler.model import RateEstimate
    >>> learned = Calibration()
    >>> stated = [RateEstimate(10.0 ** (n % 3), "sitemap", shape=1.0) for n in range(60)]
    >>> learned.learn(stated, [RateEstimate(0.5, "history") for _ in stated])  # really always 0.5
    >>> round(learned.weight, 2), round(learned.of(stated[2]).rate, 2)
    (0.0, 0.5)
    """

    def __init__(self) -> None:
        self.pages = 0  #: pages learned from
        self.weight = 1.0  #: β
        self._scale = 1.0
        self._shape = np.inf

    def learn(self, own: Sequence[RateEstimate], better: Sequence[RateEstimate]) -> None:
        """Learn from two estimates per page, unless they are few, or fewer than before."""
        pairs = [(a.rate, b.rate) for a, b in zip(own, better, strict=True) if a.rate > 0 and b.rate > 0]
        if len(pairs) < max(ENOUGH, self.pages):
            return
        x, y = np.log(np.array(pairs)).T
        varied = float(x.var())
        slope = float(np.cov(x, y, bias=True)[0, 1]) / varied if varied > 0 else 0.0
        self.pages = len(pairs)
        self.weight = float(np.clip(slope, 0.0, 1.0))
        self._scale = float(np.exp(y).sum() / np.exp(self.weight * x).sum())
        scatter = float((y - self.weight * x).var())
        self._shape = max(LEAST_SHAPE, 1.0 / scatter) if scatter > 0 else np.inf

    def of(self, estimate: RateEstimate) -> RateEstimate:
        """Return a calibrated estimate; unchanged if nothing was learned."""
        if not self.pages:
            return estimate
        rate = self._scale * estimate.rate**self.weight
        shape = min(estimate.shape, self._shape)
        return estimate._replace(rate=rate, shape=shape, spread=rate / shape**0.5)


MOST_COMPARED = 10_000  #: maximum of pages for a calibration, evenly drawn


class Chain:
    """Takes each page's rate from the first source that does not abstain.

    A later source is calibrated by pages that an earlier one rated, too: :class:`Calibration`.

    A page on which all sources abstain gets the mean of the rates given so far, or ``prior`` if there are none. One
    chain per site capture.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> known, unknown = Sighting("http://h/a", hints=Hints(changefreq="daily")), Sighting("http://h/b")
    >>> [(round(given.rate * 86_400), given.source) for given in default_chain().rates([unknown, known], now=0.0)]
    [(1, 'prior'), (1, 'sitemap')]
    """

    def __init__(self, sources: Sequence[RateSource], prior: Rate = ONCE_A_MONTH) -> None:
        self._sources = tuple(sources)
        self._asked = [_asked(source) for source in sources]
        self._calibrations = [Calibration() for _ in self._sources]  # of each by the sources before it
        self._prior = prior
        self._sum = 0.0
        self._known = 0

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """Return one estimate per sighting, in their order."""
        given: Any = [None] * len(sightings)
        open_: Sequence[int] = range(len(sightings))
        for rates, calibration in zip(self._asked, self._calibrations, strict=True):
            if not open_:
                break
            both = _compared(given, len(sightings) - len(open_))
            asked = sightings if len(open_) == len(sightings) else [sightings[index] for index in (*open_, *both)]
            estimates: Any = rates(asked, now)
            calibration.learn(*_pairs(estimates[len(open_) :], _some(given, both)))
            if asked is sightings and hasattr(estimates, "missing") and not calibration.pages:
                given, open_ = estimates, estimates.missing()  # keep columns: there may be a million
                continue
            for index, estimate in zip(open_, estimates[: len(open_)], strict=True):
                given[index] = estimate and calibration.of(estimate)
            open_ = [index for index in open_ if given[index] is None]
        rates = given.rates() if hasattr(given, "rates") else [known.rate for known in given if known is not None]
        self._sum += sum(rates)
        self._known += len(rates)
        if open_:
            prior = self._mean()
            for index in open_:
                given[index] = prior
        return given  # type: ignore[no-any-return]

    def weight(self, sighting: Sighting) -> float:
        """Return the page's weight in blur and coherence, by its sitemap priority."""
        return weight(sighting.hints)

    def swings(self) -> Swings | None:
        """Return how far this site's rates vary together, by the first source that knows."""
        found = (source.swings() for source in self._sources if isinstance(source, TellsSwings))
        return next((swings for swings in found if swings is not None), None)

    def _mean(self) -> RateEstimate:
        rate = self._sum / self._known if self._known else self._prior
        return RateEstimate(rate, PRIOR, shape=1.0, spread=rate)


def _asked(source: RateSource) -> Any:
    ours = type(source).__module__.startswith("sharc_crawler.")
    return source.rates if ours else import_module("sharc_crawler.rates.guarded").checked(source)


def _some(given: Any, places: list[int]) -> list[RateEstimate | None]:
    return list(given.made(places)) if hasattr(given, "made") else [given[place] for place in places]


def _compared(given: Any, known: int) -> list[int]:
    """Return rated pages that a source is also asked for, to calibrate it: some of many, none of few."""
    if known < ENOUGH:
        return []
    columns = hasattr(given, "known")
    answered = given.known() if columns else [index for index, known in enumerate(given) if known is not None]
    return answered[:: -(-known // MOST_COMPARED)]


def _pairs(
    own: Sequence[RateEstimate | None], better: Sequence[RateEstimate | None]
) -> tuple[list[RateEstimate], list[RateEstimate]]:
    """Return both estimates of the pages that have both."""
    both = [(a, b) for a, b in zip(own, better, strict=True) if a is not None and b is not None]
    return [a for a, _ in both], [b for _, b in both]


def default_chain() -> Chain:
    """Make the chain of a first capture: all lastmods together, each page's sitemap entry alone, the mean of both."""
    return Chain([HistoryRates(horizon=DAY), SitemapRates()])
