"""Blur of a capture from what happened: starts of successful downloads, over the interval that they span."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.evidence.blur import actual_blur, stochastic_blur
from sharc_crawler.instants import iso
from sharc_crawler.model import Kind, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sharc_crawler.evidence.facts import PageFacts
    from sharc_crawler.model import Instant, Url

#: results that leave a copy of the page as it is at that moment
COPIED = (Result.OK, Result.NOT_MODIFIED)


class Blur:
    """Blur of the pages that were downloaded, in changes."""

    def __init__(self, pages: Iterable[PageFacts]) -> None:
        copies = {page.url: (page, found) for page in pages if page.kind is Kind.PAGE and (found := _copies(page))}
        spans = [found for _, found in copies.values()]
        self.observed = (min(v for v, _ in spans), max(r for _, r in spans)) if spans else (0.0, 0.0)
        self.actual: Mapping[Url, float] = {}
        self.stochastic: Mapping[Url, float] = {}
        if self.observed[0] < self.observed[1]:  # over an instant nothing is blurred
            self._measure(copies)

    def _measure(self, copies: Mapping[Url, tuple[PageFacts, tuple[Instant, Instant]]]) -> None:
        known = {url: page.true_changes for url, (page, _) in copies.items() if page.true_changes is not None}
        visits, revisits = np.array([copies[url][1] for url in known]).reshape(-1, 2).T
        real = actual_blur(list(known.values()), visits, self.observed, revisits)
        self.actual = dict(zip(known, real.tolist(), strict=True))
        rated = {url: (page.rate, *span) for url, (page, span) in copies.items() if math.isfinite(page.rate)}
        rates, visits, revisits = np.array(list(rated.values())).reshape(-1, 3).T
        expected = stochastic_blur(rates, visits, self.observed, revisits)
        self.stochastic = dict(zip(rated, expected.tolist(), strict=True))

    def totals(self) -> dict[str, Any] | None:
        """Sums and averages as a report has them; None where no page was downloaded."""
        if not self.stochastic and not self.actual:
            return None
        return {
            "from": iso(self.observed[0]),
            "to": iso(self.observed[1]),
            "stochastic": sum(self.stochastic.values()),
            "stochastic_average": _average(self.stochastic),
            "pages": len(self.stochastic),
            "actual": sum(self.actual.values()) if self.actual else None,
            "actual_average": _average(self.actual),
            "actual_pages": len(self.actual),
        }


def _copies(page: PageFacts) -> tuple[Instant, Instant] | None:
    """When a page was copied: first and last time, the same for a page with one copy."""
    starts = [visit.started for visit in (page.visit, page.revisit) if visit and visit.result in COPIED]
    return (min(starts), max(starts)) if starts else None


def _average(blurs: Mapping[Url, float]) -> float | None:
    return sum(blurs.values()) / len(blurs) if blurs else None
