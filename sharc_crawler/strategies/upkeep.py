"""How often each page is looked at again, within so many looks a second, where a site is kept up without an end: pure.

A page that changes as a Poisson process of rate λ, and is looked at every I seconds, is shown to have stayed as it was
around an instant with the probability e^{-λI}: nothing changed between the looks before and after it. ``coherent``
makes the sum over all pages greatest. Below λ looks a second a page brings less for each look than above: so pages that
change too often are given up for the others, as a capture's plan gives them up. ``sharp`` makes the sum of λI least,
which is four times the blur: the changes that lie between an instant and the look that is nearest to it.
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
Upkeep = Callable[[Column, Rate], Column]  #: rates, looks a second over all → seconds between two looks at each

LEAST = 1e-9  #: changes per second: a page that never changed may do so
_STEPS = 60  #: of each bisection


def coherent(rates: Column, per_second: Rate) -> Column:
    """Most pages as they were, at any instant; inf: a page is given up.

    >>> coherent(np.array([1.0, 1.0, 4.0]), 4.0).round(2).tolist()
    [0.5, 0.5, inf]
    """
    rates = np.maximum(rates, LEAST)
    low, high = -120.0, -0.999 - math.log(rates.min())  # logarithm of what a look a second is worth: nothing at last
    for _ in range(_STEPS):
        middle = (low + high) / 2
        spent = (1.0 / _worth(rates, math.exp(middle))).sum()
        low, high = (middle, high) if spent > per_second else (low, middle)
    return _filled(rates, _worth(rates, math.exp(high)), per_second)


def _worth(rates: Column, price: float) -> Column:
    """The interval at which one look more a second brings its price: x²e^{-x} = price·λ with x = λI of at most 1."""
    low, high = np.full(len(rates), 1e-30), np.ones(len(rates))
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        above = middle**2 * np.exp(-middle) > price * rates
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(price * rates * math.e > 1, math.inf, high / rates)


def _filled(rates: Column, every: Column, per_second: Rate) -> Column:
    """Pages alike are given up together: what is left of the looks by then goes to as many of the coldest as it keeps.

    Where none can be kept at all, all looks go to the coldest.
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
    """Least blur at any instant.

    >>> sharp(np.array([1.0, 4.0]), 3.0).tolist()
    [1.0, 0.5]
    """
    often = np.sqrt(np.maximum(rates, LEAST))
    every: Column = often.sum() / (per_second * often)
    return every


def even(rates: Column, per_second: Rate) -> Column:
    """All alike, whatever they do: for comparison.

    >>> even(np.array([1.0, 4.0]), 4.0).tolist()
    [0.5, 0.5]
    """
    return np.full(len(rates), len(rates) / per_second)


UPKEEPS: dict[str, Upkeep] = {"coherent": coherent, "sharp": sharp, "even": even}


def make_upkeep(name: str) -> Upkeep:
    """One of ours, or anybody's by its entry point or dotted path.

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
    """Somebody else's: its faults are told as its own, by :class:`~sharc_crawler.errors.DataError`.

    >>> checked("upkeep='mine'", lambda rates, per_second: None)(np.array([1.0]), 1.0)
    Traceback (most recent call last):
    ...
    sharc_crawler.errors.DataError: upkeep='mine' answered with None, not seconds above 0 for each of 1 page...
    """

    def every(rates: Column, per_second: Rate) -> Column:
        found = tried(who, lambda: theirs(rates.copy(), per_second))
        try:
            seconds = np.asarray(found, float)
        except (TypeError, ValueError):  # no numbers
            seconds = np.empty(0)
        if seconds.shape != rates.shape or not (seconds > 0).all():
            wanted = f"seconds above 0 for each of {counted(len(rates), 'page')}"
            raise fault(who, f"answered with {found!r:.100}, not {wanted}")
        return seconds

    return every
