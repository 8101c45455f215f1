"""User interest curves: y = A·φ(x − b; μ, σ), φ the log-normal density, x a day of the window (1, 2, …)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]

_LOG_ROOT_TAU = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, slots=True)
class Curves:
    """Fitted curves; arrays with one entry per page.

    The area A is stored as its logarithm: a curve that falls like a power of x has nearly all of its area before
    the first day, and A may then exceed the range of floats.
    """

    log_area: Floats  #: ln A
    birth: Floats  #: b, in days of the window
    mu: Floats
    sigma: Floats
    seen: Floats  #: the start of the day by which a page had its first views (0: the window's start)
    squares: Floats  #: sum of squared differences from the views
    covered: Floats  #: share of a page's views in the window that lies under its curve
    known: NDArray[np.bool_]  #: the fit converged

    def __len__(self) -> int:
        return len(self.birth)

    def views(self, days: ArrayLike) -> Floats:
        """The curves' daily views, shape (pages, days).

        >>> one = np.ones(1)
        >>> Curves(0 * one, 0 * one, 0 * one, one, 0 * one, 0 * one, one, one > 0).views([0, 1]).round(3)
        array([[0.   , 0.399]])
        """
        age = np.asarray(days, np.float64) - self.birth[:, None]
        log_age = np.log(np.where(age > 0, age, 1.0))
        z = (log_age - self.mu[:, None]) / self.sigma[:, None]
        scale = self.log_area - np.log(self.sigma) - _LOG_ROOT_TAU
        return np.where(age > 0, np.exp(scale[:, None] - log_age - 0.5 * z * z), 0.0)

    def gathered(self, days: float) -> Floats:
        """Φ(days): the share of a page's whole interest that it gathers in its first ``days`` (A = 1, b = 0).

        The first days begin at b or when the page was first seen, whichever is later: least squares cannot tell a
        page born lately from one born long ago whose curve is almost 0 until then.
        """
        return gathered(self.birth, self.mu, self.sigma, self.seen, days)

    def take(self, pages: NDArray[np.int64]) -> Curves:
        """The curves of some pages."""
        return Curves(*(getattr(self, name)[pages] for name in self.__slots__))

    @classmethod
    def joined(cls, parts: list[Curves]) -> Curves:
        """The curves of several batches, one after another."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


def gathered(birth: Floats, mu: Floats, sigma: Floats, seen: Floats, days: float) -> Floats:
    """:meth:`Curves.gathered` for arrays of parameters."""
    unseen = np.maximum(seen - birth, 0.0)
    with np.errstate(divide="ignore"):
        before, after = ((np.log(age) - mu) / sigma for age in (unseen, unseen + days))
    return np.maximum(-np.expm1(log_ndtr(-after) - log_ndtr(-before)), 0.0)
