"""Sources of rates one after the other, with a prior at the end: every page gets a rate."""

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

ENOUGH = 30  #: pages on which both spoke, below which a word is taken as it is
LEAST_SHAPE = 0.1


class Calibration:
    """λ ≈ c r^β from rates r of one source, by the pages of which a better source said λ.

    β from 0 (the word tells pages apart by nothing) to 1 (a page said to change ten times as often does) is the word's
    weight on this site, c makes the means agree, and the scatter around it is the spread of what is given.

    >>> from sharc_crawler.model import RateEstimate
    >>> learned = Calibration()
    >>> said = [RateEstimate(10.0 ** (n % 3), "sitemap", shape=1.0) for n in range(60)]
    >>> learned.learn(said, [RateEstimate(0.5, "history") for _ in said])  # whatever it says, it is 0.5
    >>> round(learned.weight, 2), round(learned.of(said[2]).rate, 2)
    (0.0, 0.5)
    """

    def __init__(self) -> None:
        self.pages = 0  #: that it was learned from
        self.weight = 1.0  #: β
        self._scale = 1.0
        self._shape = np.inf

    def learn(self, said: Sequence[RateEstimate], better: Sequence[RateEstimate]) -> None:
        """From two estimates of each page, unless there are few, or there were more before."""
        pairs = [(a.rate, b.rate) for a, b in zip(said, better, strict=True) if a.rate > 0 and b.rate > 0]
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
        """What the word of a page is worth; as it is where nothing was learned."""
        if not self.pages:
            return estimate
        rate = self._scale * estimate.rate**self.weight
        shape = min(estimate.shape, self._shape)
        return estimate._replace(rate=rate, shape=shape, spread=rate / shape**0.5)


MOST_COMPARED = 10_000  #: pages by which a source is calibrated, evenly drawn


class Chain:
    """Each page's rate from the first source that does not abstain.

    What a later source says is calibrated by the pages on which an earlier one spoke, too: its word is a prior whose
    weight is learned per site (:mod:`~sharc_crawler.rates.chain`), not a truth.

    A page on which all abstain gets the mean of the rates that the chain has given so far, or ``prior`` where it has
    given none. One chain per site capture.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> known, unknown = Sighting("http://h/a", hints=Hints(changefreq="daily")), Sighting("http://h/b")
    >>> [(round(given.rate * 86_400), given.source) for given in default_chain().rates([unknown, known], now=0.0)]
    [(1, 'prior'), (1, 'sitemap')]
    """

    def __init__(self, sources: Sequence[RateSource], prior: Rate = ONCE_A_MONTH) -> None:
        self._sources = tuple(sources)
        self._asked = [_asked(source) for source in sources]
        self._calibrations = [Calibration() for _ in self._sources]  # by the sources before each
        self._prior = prior
        self._sum = 0.0
        self._known = 0

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting, in their order."""
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
                given, open_ = estimates, estimates.missing()  # in columns, as they are: there may be a million
                continue
            for index, one in zip(open_, estimates[: len(open_)], strict=True):
                given[index] = one and calibration.of(one)
            open_ = [index for index in open_ if given[index] is None]
        rates = given.rates() if hasattr(given, "rates") else [one.rate for one in given if one is not None]
        self._sum += sum(rates)
        self._known += len(rates)
        if open_:
            prior = self._mean()
            for index in open_:
                given[index] = prior
        return given  # type: ignore[no-any-return]

    def weight(self, sighting: Sighting) -> float:
        """How much the page counts in blur and coherence: by its sitemap priority."""
        return weight(sighting.hints)

    def swings(self) -> Swings | None:
        """How far the rates of this site are off together, by the first source that can tell."""
        told = (source.swings() for source in self._sources if isinstance(source, TellsSwings))
        return next((swings for swings in told if swings is not None), None)

    def _mean(self) -> RateEstimate:
        rate = self._sum / self._known if self._known else self._prior
        return RateEstimate(rate, PRIOR, shape=1.0, spread=rate)


def _asked(source: RateSource) -> Any:
    ours = type(source).__module__.startswith("sharc_crawler.")
    return source.rates if ours else import_module("sharc_crawler.rates.guarded").checked(source)


def _some(given: Any, places: list[int]) -> list[RateEstimate | None]:
    return list(given.made(places)) if hasattr(given, "made") else [given[place] for place in places]


def _compared(given: Any, known: int) -> list[int]:
    """On which pages a source is asked that others have answered for: on some of many, on none of a few."""
    if known < ENOUGH:
        return []
    columns = hasattr(given, "known")
    answered = given.known() if columns else [index for index, one in enumerate(given) if one is not None]
    return answered[:: -(-known // MOST_COMPARED)]


def _pairs(
    said: Sequence[RateEstimate | None], better: Sequence[RateEstimate | None]
) -> tuple[list[RateEstimate], list[RateEstimate]]:
    """Of the pages on which both spoke."""
    both = [(a, b) for a, b in zip(said, better, strict=True) if a is not None and b is not None]
    return [a for a, _ in both], [b for _, b in both]


def default_chain() -> Chain:
    """What a first capture goes by: lastmods as a body, each page's sitemap entry alone, the mean of what they say."""
    return Chain([HistoryRates(horizon=DAY), SitemapRates()])
