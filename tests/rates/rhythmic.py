"""Sites whose pages change by the hour, as captures see them."""

from __future__ import annotations

import math

import numpy as np

from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

DAY = 86_400.0
WEEK = 7 * DAY
NOW = 2_000 * WEEK  # Thursday, 00:00 UTC


def by_day(times: np.ndarray) -> np.ndarray:
    """Mean 1, highest at 14:00 UTC, nearly 0 at 02:00 UTC."""
    return 1.0 + 0.95 * np.cos(2 * np.pi * (times / DAY - 14 / 24))


def by_night(times: np.ndarray) -> np.ndarray:
    return by_day(times + DAY / 2)


def even(times: np.ndarray) -> np.ndarray:
    return np.ones(len(times))


def changes(rng: np.random.Generator, rate: float, start: float, end: float, shape=even) -> np.ndarray:
    """A Poisson process of rate λ c(t), by thinning."""
    times = np.sort(rng.uniform(start, end, rng.poisson(3.0 * rate * (end - start))))
    return times[rng.random(len(times)) * 3.0 < shape(times)]


def captured(times: list[np.ndarray], urls: list[str], looks: np.ndarray, precision: float = 1.0) -> SiteHistory:
    """What looks at each page show: changed or not, and the lastmod, to a precision (a bare date: a day)."""
    bits, lastmods = [], []
    for own in times:
        count = np.searchsorted(own, looks)
        last = np.where(count > 0, np.append(own, math.nan)[count - 1] if len(own) else math.nan, math.nan)
        lastmods.append(np.floor(last / precision) * precision)
        bits.append(np.where(np.diff(count) > 0, CHANGED, UNCHANGED))
    pages, width = len(times), len(looks)
    changed = np.concatenate([np.full((pages, 1), UNKNOWN), np.array(bits).reshape(pages, width - 1)], axis=1)
    return SiteHistory(
        "h",
        [Url(url) for url in urls],
        np.arange(pages + 1) * width,
        np.tile(looks, pages),
        changed.ravel().astype(np.int8),
        np.concatenate(lastmods),
        np.full(pages * width, precision),
        np.full(pages * width, math.nan),
    )


def weekly_looks(weeks: int = 26) -> np.ndarray:
    return NOW - WEEK * np.arange(weeks, -1.0, -1.0) - 3_600.0
