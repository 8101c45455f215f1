"""How much one source's word is worth where another, better one also spoke: learned per site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import RateEstimate

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
