"""Blur of a capture from what happened: starts of successful downloads, over the interval that they span."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sharc_crawler.evidence.blur import actual_blur, blur_variance, stochastic_blur
from sharc_crawler.evidence.figures import copies
from sharc_crawler.instants import iso
from sharc_crawler.model import Kind
from sharc_crawler.rates.base import PRIOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.evidence.facts import PageFacts
    from sharc_crawler.model import Instant


class PageBlur(NamedTuple):
    """Of a page, in changes; None where it was not downloaded, or is not known."""

    stochastic: float | None = None
    actual: float | None = None
    variance: float = 0.0  #: of the actual around the stochastic: chance, and how well the rate is known
    guessed: bool = False  #: nobody told its rate


class Blur:
    """Blur over ``observed``, from the first to the last copy of a page; ``group``: so many are edited at once."""

    def __init__(self, observed: tuple[Instant, Instant], group: float = 1.0) -> None:
        self._observed, self._group = observed, group
        self._pages = self._actual_pages = self._guessed = 0
        self._stochastic = self._actual = self._variance = 0.0

    def of(self, pages: Sequence[PageFacts]) -> list[PageBlur]:
        """That of each page."""
        found = [PageBlur()] * len(pages)
        if not self._observed[0] < self._observed[1]:  # over an instant nothing is blurred
            return found
        spans = {place: span for place, page in enumerate(pages) if page.kind is Kind.PAGE and (span := copies(page))}
        rated = [place for place in spans if math.isfinite(pages[place].rate)]
        rates = np.array([pages[place].rate for place in rated])
        downloads = self._around([spans[place] for place in rated])
        expected = stochastic_blur(rates, *downloads)
        unsure = expected**2 / np.array([pages[place].rate_shape for place in rated])
        chance = self._group * blur_variance(rates, *downloads)
        for place, value, variance in zip(rated, expected.tolist(), (chance + unsure).tolist(), strict=True):
            found[place] = PageBlur(value, None, variance, pages[place].rate_source == PRIOR)
        changes = {place: known for place in spans if (known := pages[place].true_changes) is not None}
        if changes:
            real = actual_blur(list(changes.values()), *self._around([spans[place] for place in changes]))
            for place, value in zip(changes, real.tolist(), strict=True):
                found[place] = found[place]._replace(actual=value)
        return found

    def _around(self, spans: list[tuple[Instant, Instant]]) -> tuple[Any, Any, Any]:
        visits, revisits = np.array(spans).reshape(-1, 2).T
        return visits, self._observed, revisits

    def add(self, blurs: Sequence[PageBlur]) -> None:
        """Count those of pages."""
        for stochastic, actual, variance, guessed in blurs:
            if stochastic is not None:
                self._pages, self._stochastic = self._pages + 1, self._stochastic + stochastic
                self._variance += variance
                self._guessed += guessed
            if actual is not None:
                self._actual_pages, self._actual = self._actual_pages + 1, self._actual + actual

    def totals(self) -> dict[str, Any] | None:
        """Sums and averages as a report has them; None where no page was downloaded."""
        if not self._pages and not self._actual_pages:
            return None
        return {
            "from": iso(self._observed[0]),
            "to": iso(self._observed[1]),
            "stochastic": self._stochastic,
            "stochastic_average": self._stochastic / self._pages if self._pages else None,
            "deviation": math.sqrt(self._variance) / self._pages if self._pages else None,
            "pages": self._pages,
            "guessed": self._guessed,
            "actual": self._actual if self._actual_pages else None,
            "actual_average": self._actual / self._actual_pages if self._actual_pages else None,
            "actual_pages": self._actual_pages,
        }
