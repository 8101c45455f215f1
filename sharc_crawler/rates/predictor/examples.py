"""Make a predictor's training examples from histories: traits of pages, and their rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Url
from sharc_crawler.observation import Observation
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.predictor.features import PageTraits


@dataclass(frozen=True, slots=True)
class Examples:
    """Watched pages and their rates."""

    pages: list[PageTraits]
    rates: NDArray[np.float64]  #: by maximum likelihood, changes per second
    posterior: Estimates  #: rates by empirical Bayes: never 0, with a spread

    def __len__(self) -> int:
        return len(self.pages)

    @classmethod
    def of(cls, history: SiteHistory, facts: Sequence[PageTraits]) -> Self:
        """Make examples of one site's pages seen at least twice; ``facts`` in the order of the history's URLs."""
        intervals = history.histories()
        seen = np.flatnonzero(intervals.observations() > 0)
        intervals = intervals.select(seen)
        rates = IrregularMle().estimate(intervals).rate
        return cls([facts[page] for page in seen.tolist()], rates, GammaPoisson().fit(intervals).estimate(intervals))

    @classmethod
    def together(cls, sites: Sequence[Examples]) -> Self:
        """Join the examples of several sites."""
        pages = [page for site in sites for page in site.pages]
        rates = np.concatenate([np.zeros(0), *(site.rates for site in sites)])
        return cls(pages, rates, Estimates.concatenate([site.posterior for site in sites]))


def page_facts(
    history: SiteHistory,
    links: Iterable[tuple[str, str]] | None,
    documents: Mapping[Url, Observation],
    now: Instant,
) -> list[PageTraits]:
    """Return the traits of every URL of a history at an instant.

    Parameters
    ----------
    history:
        accesses up to ``now``
    links:
        source and target of every link between known pages; None: unknown
    documents:
        the last observation of each URL, with its media type and counts

    """
    idle = _idle(history, now)
    inlinks, outlinks = _degrees(links)
    facts = []
    for url, since in zip(history.urls, idle.tolist(), strict=True):
        seen = documents.get(url)
        document = seen.document if seen else None
        facts.append(
            PageTraits(
                url,
                media_type=seen.media_type if seen else None,
                idle=None if np.isnan(since) else since,
                images=document.images if document else None,
                tables=document.tables if document else None,
                outlinks=document.outlinks if document else None if links is None else outlinks.get(url, 0),
                inlinks=None if links is None else inlinks.get(url, 0),
            )
        )
    return facts


def _idle(history: SiteHistory, now: Instant) -> NDArray[np.float64]:
    """Return the seconds since each URL's last change, else since its first access; NaN: unknown."""
    stated = np.fmax(history.latest(history.lastmods), history.latest(history.modified))
    last = np.fmax(stated, history.last_change())
    watched = history.histories().observations() > 0
    last = np.where(np.isnan(last) & watched, history.first(), last)
    return np.where(last > now, np.nan, now - last)


def _degrees(links: Iterable[tuple[str, str]] | None) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of links to and from each URL, without links of a page to itself."""
    inlinks: dict[str, int] = {}
    outlinks: dict[str, int] = {}
    for source, target in set(links or ()):
        if source != target:
            outlinks[source] = outlinks.get(source, 0) + 1
            inlinks[target] = inlinks.get(target, 0) + 1
    return inlinks, outlinks
