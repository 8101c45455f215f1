"""Sources of rates one after the other, with a prior at the end: every page gets a rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.model import RateEstimate
from sharc_crawler.rates.calibration import ENOUGH, Calibration
from sharc_crawler.rates.constant import ONCE_A_MONTH
from sharc_crawler.rates.sitemap import DAY, DEFAULT_RULES, SitemapRates, SitemapRules, weight
from sharc_crawler.rates.sources import HistoryRates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import Instant, Rate, Sighting
    from sharc_crawler.rates.base import RateSource

PRIOR = "prior"


class Chain:
    """Each page's rate from the first source that does not abstain.

    What a later source says is calibrated by the pages on which an earlier one spoke, too: its word is a prior whose
    weight is learned per site (:mod:`~sharc_crawler.rates.calibration`), not a truth.

    A page on which all abstain gets the mean of the rates that the chain has given so far, or ``prior`` where it has
    given none. One chain per site capture.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> known, unknown = Sighting("http://h/a", hints=Hints(changefreq="daily")), Sighting("http://h/b")
    >>> [(round(given.rate * 86_400), given.source) for given in default_chain().rates([unknown, known], now=0.0)]
    [(1, 'prior'), (1, 'sitemap')]
    """

    def __init__(self, sources: Sequence[RateSource], prior: Rate = ONCE_A_MONTH) -> None:
        self._sources = tuple(sources)
        self._calibrations = [Calibration() for _ in self._sources]  # by the sources before each
        self._prior = prior
        self._sum = 0.0
        self._known = 0

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> list[RateEstimate]:
        """One estimate per sighting, in their order."""
        given: dict[int, RateEstimate] = {}
        for source, calibration in zip(self._sources, self._calibrations, strict=True):
            open_ = [index for index in range(len(sightings)) if index not in given]
            if not open_:
                break
            asked = range(len(sightings)) if len(given) >= ENOUGH else open_
            estimates = source.rates([sightings[index] for index in asked], now)
            found = {index: one for index, one in zip(asked, estimates, strict=True) if one is not None}
            both = [index for index in found if index in given]
            calibration.learn([found[index] for index in both], [given[index] for index in both])
            given |= {index: calibration.of(one) for index, one in found.items() if index not in given}
        self._sum += sum(estimate.rate for estimate in given.values())
        self._known += len(given)
        prior = self._mean()
        return [given.get(index, prior) for index in range(len(sightings))]

    def weight(self, sighting: Sighting) -> float:
        """How much the page counts in blur and coherence: by its sitemap priority."""
        return weight(sighting.hints)

    def _mean(self) -> RateEstimate:
        rate = self._sum / self._known if self._known else self._prior
        return RateEstimate(rate, PRIOR, shape=1.0, spread=rate)


def default_chain(rules: SitemapRules = DEFAULT_RULES) -> Chain:
    """What a first capture goes by: lastmods as a body, each page's sitemap entry alone, the mean of what they say."""
    return Chain([HistoryRates(horizon=DAY, rules=rules), SitemapRates(rules)])
