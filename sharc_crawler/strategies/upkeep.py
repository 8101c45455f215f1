"""How often a continuous capture looks at each page, given the number of looks per second.

A page changes as a Poisson process of rate λ and is looked at every I seconds. Around an instant it is shown unchanged
with probability e^{-λI}: nothing changed between the looks before and after. ``coherent`` maximizes the sum over all
pages. Below λ looks per second, a page gains less per look than above, so pages that change too often are given up, as
in a capture's plan. ``sharp`` minimizes the sum of λI, which is four times the blur: the changes between an instant and
the look nearest to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharc_crawler import plugins
from sharc_crawler.errors import unknown_name
from sharc_crawler.model import Rate
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.plural import counted

Column = NDArray[np.float64]
Upkeep = Callable[[Column, Rate], Column]  #: rates, looks per second over all pages → seconds between looks, by page

LEAST = 1e-9  #: lower bound of rates, changes per second
_STEPS = 60  #: steps of each bisection


def coherent(rates: Column, per_second: Rate) -> Column:
    """Return intervals that show most pages unchanged at any instant; inf: the page is given up.

    >>> coherent(np.array([1.0, 1.0, 4.0]), 4.0).round(2).tolist()
    [0.5, 0.5, inf]
    """
    rates = np.maximum(rates, LEAST)
    low, high = -120.0, -0.999 - math.log(rates.min())  # logarithm of the price of a look per second
    for _ in range(_STEPS):
        middle = (low + high) / 2
        spent = (1.0 / _worth(rates, math.exp(middle))).sum()
        low, high = (middle, high) if spent > per_second else (low, middle)
    return _filled(rates, _worth(rates, math.exp(high)), per_second)


def _worth(rates: Column, price: float) -> Column:
    """Return the intervals where one more look per second gains its price: x²e^{-x} = price·λ, x = λI <= 1."""
    low, high = np.full(len(rates), 1e-30), np.ones(len(rates))
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        above = middle**2 * np.exp(-middle) > price * rates
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(price * rates * math.e > 1, math.inf, high / rates)


def _filled(rates: Column, every: Column, per_second: Rate) -> Column:
    """Spend looks left over on the coldest pages given up, since equal pages are given up together.

    If no page can be kept, the coldest gets all looks.
    """
    spare = per_second - (1.0 / every).sum()
    given_up = np.flatnonzero(np.isinf(every))
    coldest = given_up[np.argsort(rates[given_up], kind="stable")]
    kept = coldest[np.cumsum(rates[coldest]) <= spare]
    every[kept] = 1.0 / rates[kept]
    if np.isinf(every).all():
        every[coldest[0]] = 1.0 / per_second
    elif (left := per_second - (1.0 / every).sum()) > 0:
        every *= (per_second - left) / per_second
    return every


def sharp(rates: Column, per_second: Rate) -> Column:
    """Return intervals with the least blur at any instant.

    >>> sharp(np.array([1.0, 4.0]), 3.0).tolist()
    [1.0, 0.5]
    """
    often = np.sqrt(np.maximum(rates, LEAST))
    every: Column = often.sum() / (per_second * often)
    return every


def even(rates: Column, per_second: Rate) -> Column:
    """Return equal intervals, for comparison.

    >>> even(np.array([1.0, 4.0]), 4.0).tolist()
    [0.5, 0.5]
    """
    return np.full(len(rates), len(rates) / per_second)


UPKEEPS: dict[str, Upkeep] = {"coherent": coherent, "sharp": sharp, "even": even}


def make_upkeep(name: str) -> Upkeep:
    """Return a built-in upkeep, or load one by its entry point or dotted path.

    >>> make_upkeep("sharp") is sharp
    True
    """
    if name in UPKEEPS:
        return UPKEEPS[name]
    known = [*UPKEEPS, *plugins.names("upkeep")]
    if "." not in name and name not in known:
        raise unknown_name("upkeep", name, known)
    return checked(f"upkeep={name!r}", plugins.load("upkeep", name))


def checked(who: str, theirs: Upkeep) -> Upkeep:
    """Wrap a plug-in: its faults raise a :class:`~sharc_crawler.errors.DataError` that names it.

    >>> checked("upkeep='mine'", lambda rates, per_second: None)(np.array([1.0]), 1.0)
    Traceback (most recent call last):
    ...
    sharc_crawler.errors.DataError: upkeep='mine' answered with None, not seconds above 0 for each of 1 page...
    """

    def every(rates: Column, per_second: Rate) -> Column:
        found = tried(who, lambda: theirs(rates.copy(), per_second))
        try:
            seconds = np.asarray(found, float)
        except (TypeError, ValueError):  # not numbers
            seconds = np.empty(0)
        if seconds.shape != rates.shape or not (seconds > 0).all():
            wanted = f"seconds above 0 for each of {counted(len(rates), 'page')}"
            raise fault(who, f"answered with {found!r:.100}, not {wanted}")
        return seconds

    return every
