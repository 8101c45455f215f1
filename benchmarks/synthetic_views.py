"""Page views whose truth is known: sites of news, evergreen and mixed pages.

Assumptions, each a field of :class:`SyntheticLog`: a news page's interest is log-normal in its age, its views of a day
the interest that falls into that day (an integral, not the density at a point, which is what is fitted); an evergreen
page's is constant with a slow drift. Days are overdispersed Poisson counts with a weekend, bots add views to every day
alike. Pages under the least total are dropped, as in a log. The mix is the published one: 14 % temporal pages, most
of them on a few sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SyntheticLog:
    """How a synthetic log comes about."""

    pages: int = 20_000
    days: int = 60
    news_sites: int = 100  #: nine in ten pages are news
    mixed_sites: int = 150  #: between a tenth and nine tenths
    evergreen_sites: int = 750
    temporal_share: float = 0.14  #: of all pages: the published mix
    median_views: float = 150.0
    median_days: float = 0.7  #: e^μ: half of a news page's interest falls into this time
    median_spread: float = 0.8  #: of e^μ between pages (standard deviation of μ)
    sigma: tuple[float, float] = (0.5, 1.3)
    noise: float = 0.2  #: relative standard deviation of a day's interest, beyond Poisson
    weekend: float = 0.7  #: views on a weekend day
    bots: float = 0.0  #: views a day that bots add to every page from its birth
    evergreen_tail: float = 0.0  #: share of a news page's views that never age
    second_peak: float = 0.0  #: share of a news page's views in a second peak, two weeks later
    least_views: int = 60


@dataclass(frozen=True, slots=True)
class Log:
    """Daily views and the truth about them."""

    pages: list[str]
    sites: list[str]
    views: NDArray[np.int32]  #: (pages, days)
    temporal: NDArray[np.bool_]  #: true Φ(3) > 0.7
    inside: NDArray[np.bool_]  #: born, and all but 2 % of the interest gathered, within the window


def generate(world: SyntheticLog, seed: int) -> Log:
    """A log of a world. Some of ``world.pages`` stay below the least views: they are dropped."""
    rng = np.random.default_rng(seed)
    site, is_news = _sites(world, rng)
    interest, gathered, inside = _interest(world, is_news, rng)
    views = _views(world, interest, rng)
    keep = views.sum(axis=1) >= world.least_views
    names = [f"site{s:04d}.example" for s in site[keep]]
    kinds = np.where(is_news[keep], "news", "guide")
    pages = [f"https://{name}/{kind}/{i}" for i, (name, kind) in enumerate(zip(names, kinds, strict=True))]
    return Log(pages, names, views[keep], (is_news & (gathered > 0.7))[keep], (inside | ~is_news)[keep])


def _sites(world: SyntheticLog, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The site of each page, and whether it is news."""
    kinds = np.repeat([0, 1, 2], [world.news_sites, world.mixed_sites, world.evergreen_sites])
    share = np.choose(kinds, [np.full(len(kinds), 0.9), rng.uniform(0.1, 0.9, len(kinds)), np.full(len(kinds), 0.02)])
    size = rng.pareto(1.2, len(kinds)) + 0.3
    # sizes of news and mixed sites are scaled so that news makes up its share of all pages; a news page is temporal
    # with the probability that its Φ(3) exceeds 0.7
    z = rng.standard_normal(4000) * world.median_spread + np.log(world.median_days)
    likely = (ndtr((np.log(3) - z) / rng.uniform(*world.sigma, 4000)) > 0.7).mean()
    busy = kinds < 2
    wanted = world.temporal_share / max(likely, 1e-9)
    rest = share * size
    # x·Σ busy news + Σ other news = wanted·(x·Σ busy + Σ other)
    scale = (wanted * size[~busy].sum() - rest[~busy].sum()) / max(rest[busy].sum() - wanted * size[busy].sum(), 1e-9)
    size[busy] *= max(scale, 1e-3)
    site = rng.choice(len(kinds), world.pages, p=size / size.sum())
    return site, rng.random(world.pages) < share[site]


def _interest(
    world: SyntheticLog, is_news: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Expected views a day, true Φ(3), and whether the life lies in the window."""
    n = world.pages
    edges = np.arange(world.days + 1.0)
    total = world.median_views * np.exp(rng.standard_normal((n, 1)))
    birth = rng.uniform(-10, world.days, n)
    mu = np.log(world.median_days) + world.median_spread * rng.standard_normal(n)
    sigma = rng.uniform(*world.sigma, n)

    def daily(start: Floats) -> Floats:
        age = np.maximum(edges - start[:, None], 1e-12)
        return np.diff(ndtr((np.log(age) - mu[:, None]) / sigma[:, None]), axis=1)

    born = np.clip(edges[1:] - birth[:, None], 0, 1)
    news = daily(birth) * (1 - world.second_peak) + daily(birth + 14) * world.second_peak
    news = news * (1 - world.evergreen_tail) + world.evergreen_tail * born / world.days
    drift = np.exp(rng.normal(0, 0.3, (n, 1)) * np.linspace(-1, 1, world.days)) / world.days
    interest = total * np.where(is_news[:, None], news, drift)
    interest += world.bots * np.where(is_news[:, None], born, 1.0)
    ends = birth + np.exp(mu + 2.05 * sigma)  # 98 % of a log-normal life
    return interest, ndtr((np.log(3) - mu) / sigma), (birth >= 0) & (ends <= world.days)


def _views(world: SyntheticLog, interest: Floats, rng: np.random.Generator) -> NDArray[np.int32]:
    weekday = np.where(np.arange(world.days) % 7 >= 5, world.weekend, 1.0)
    day = interest * weekday
    if world.noise:
        day = day * rng.gamma(world.noise**-2, world.noise**2, interest.shape)
    return rng.poisson(day).astype(np.int32)
