"""The rates of all pages of a site at one moment, from its captures and the words of its sitemaps as one body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.evidence import combined_rates
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sharc_crawler.model import Instant, Rate, RateEstimate, Seconds, Url


def learned(
    history: SiteHistory | None,
    lastmods: Mapping[str, tuple[Instant, Seconds]],
    stated: Mapping[str, Rate],
    links: Sequence[tuple[str, str]] | None,
    now: Instant,
    horizon: Seconds,
) -> dict[str, RateEstimate | None]:
    """One estimate per URL of which captures or sitemaps say something; None where that comes to nothing.

    Parameters
    ----------
    history: of the site, up to ``now``; None: no capture yet
    lastmods: as the sitemap says now, with their precision
    stated: rates by the sitemap's ``changefreq``
    links: pairs of URLs, source and target; None: they are not known
    horizon: how long the capture will take

    """
    before = SiteHistory.empty() if history is None else history
    captured = frozenset(before.urls)
    known = before.sitemap_read(now, lastmods)
    around = Surroundings(known.urls, _numbered(known.urls, links))
    rates = np.array([stated.get(url, np.nan) for url in known.urls], np.float64)
    found = combined_rates(known, now, horizon, around, rates)
    names = ("history" if url in captured else "lastmod" for url in known.urls)
    return dict(zip(known.urls, found.told(names), strict=True))


def _numbered(urls: Sequence[Url], links: Collection[tuple[str, str]] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The links as pages' numbers; those to unknown pages are left out."""
    if links is None:
        return None
    numbers: dict[str, int] = {url: page for page, url in enumerate(urls)}
    known = [(numbers[a], numbers[b]) for a, b in links if a in numbers and b in numbers and a != b]
    pairs = np.array(known, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
