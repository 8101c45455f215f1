"""The port of all strategies: which page next, in which slot."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.checks import check_values
from sharc_crawler.model import Instant, PageId, Seconds, Visit


@dataclass(slots=True)  # not frozen, which takes a microsecond more
class Candidates:
    """Pages newly known to a capture, in the order of discovery; read-only arrays of equal length.

    Raises :class:`~sharc_crawler.errors.UsageError` for invalid rates, weights or shapes.
    """

    pages: NDArray[np.int64]
    rates: NDArray[np.float64]  #: changes per second, finite, >= 0
    weights: NDArray[np.float64]  #: finite, >= 0
    shapes: NDArray[np.float64]  #: of Gamma posteriors with means ``rates``, > 0; inf: point estimates
    attested: NDArray[np.bool_]  #: the site's lastmod is trusted for this page
    utilities: NDArray[np.float64]  #: value of a visit, for strategies by utility (Olston & Pandey)

    def __len__(self) -> int:
        return len(self.pages)

    @classmethod
    def of(
        cls,
        pages: NDArray[np.int64] | Sequence[int],
        rates: NDArray[np.float64] | Sequence[float],
        weights: NDArray[np.float64] | Sequence[float] | None = None,
        shapes: NDArray[np.float64] | Sequence[float] | None = None,
        attested: NDArray[np.bool_] | list[bool] | None = None,
        utilities: NDArray[np.float64] | list[float] | None = None,
    ) -> Candidates:
        """Make candidates from sequences; defaults: weight 1, point estimates, not attested, utility = rate.

        >>> len(Candidates.of([0, 1], [0.1, 0.2]))
        2
        """
        n = len(pages)
        few = n <= len(_DEFAULTS[0])
        ones, inf, no = [all_[:n] for all_ in _DEFAULTS] if few else [np.full(n, all_[0]) for all_ in _DEFAULTS]
        pages, rates = np.asarray(pages, np.int64), np.asarray(rates, np.float64)
        check_values(pages, "rate", rates)
        if weights is not None:
            check_values(pages, "weight", ones := np.asarray(weights, np.float64))
        if shapes is not None:
            inf = np.asarray(shapes, np.float64)
            if n and not inf[inf.argmin()] > 0:  # nor NaN
                page = pages[~(inf > 0)][0]
                raise UsageError(f"the Gamma shape of page {page} must be > 0 (inf: a point estimate)")
        utilities = rates if utilities is None else np.asarray(utilities, np.float64)
        attested = no if attested is None else np.asarray(attested, np.bool_)
        return cls(pages, rates, ones, inf, attested, utilities)


#: default columns for few pages, read-only: filling a new column takes twenty times as long as slicing one
_DEFAULTS = [np.broadcast_to(np.full(256, value), 256) for value in (1.0, math.inf, False)]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a strategy knows about its capture at the start."""

    size: int = 0  #: estimated number of pages; 0: unknown; a wrong estimate costs quality, never a page
    step: Seconds = 1.0  #: Δ, planned time between two downloads
    start: Instant = 0.0  #: planned start of the capture
    observation: tuple[Instant, Instant] | None = None  #: [o_s, o_e]; None: the capture interval
    bounded: bool = False  #: a budget or limit may leave out pages
    prior: tuple[float, ...] = ()  #: quantiles of the rates of undiscovered pages; (): as of known pages

    def __post_init__(self) -> None:
        if self.size < 0:
            raise UsageError(f"size={self.size} must be the number of pages, or 0 where it is not known")
        if not 0 < self.step < math.inf:
            raise UsageError(f"step={self.step} must be the seconds between two downloads, > 0")
        if self.observation is not None and not -math.inf < self.observation[0] < self.observation[1] < math.inf:
            raise UsageError(f"observation={self.observation} must be an interval [start, end], start < end")
        check_values(np.arange(len(self.prior)), "prior rate", np.asarray(self.prior, np.float64))


class Strategy(ABC):
    """Decides the order of visits in one site capture.

    A strategy is an index over pages that can be rebuilt: it stores nothing, reads no clock and ignores politeness. The
    caller may replace :attr:`setting` at any time (a better Δ or size). Each added page has one slot (``ONLY``) or two
    (``FIRST``, then ``SECOND``). All first visits come before all second ones: second slots start once no first slot
    is left and every one handed out is finished. The last known page may get the slot ``ONLY`` (its download is visit
    and revisit). If more pages are added later, or it agrees to :meth:`revisit_after_all`, it gets ``SECOND``, too.

    The caller's contract: every visit that :meth:`next` returns is answered by exactly one :meth:`finished`, before or
    after further calls of :meth:`next`. Unless :attr:`accepts_late`, no page is added once :attr:`past_reference`.
    After a restart all pages are added again, then :meth:`finished` is called for every former visit, in their order.
    """

    #: are pages visited twice?
    revisits: bool = True

    #: may pages found after T still be added? They are visited once
    accepts_late: bool = False

    #: may pages be claimed on the server's word? T is then the start of a sitemap's download
    attests: bool = False

    #: has a visit after T been handed out? T lies just before the first such visit
    past_reference: bool = False

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def add(self, candidates: Candidates) -> None:
        """Add discovered pages."""

    @abstractmethod
    def next(self, now: Instant) -> Visit | None:
        """Return the best visit to make now, or ``None`` (visits are unfinished, or all is done)."""

    def reference_passed(self) -> None:
        """Note that T is fixed: all later visits follow it (called again after a restart)."""
        self.past_reference = True

    def revisit_after_all(self, page: PageId) -> bool:  # noqa: ARG002 - the answer is always no
        """Will this page, handed out as ``ONLY`` and not finished, get the slot ``SECOND``, too?

        The caller asks if the page has resources, which must be downloaded before T. If the answer is ``True``, the
        visit's end is reported as one in slot ``FIRST``; else the page's download stays its only one.
        """
        return False

    def revisits_ahead(self) -> list[PageId]:
        """Return the revisits to come, in order, if a revisit is next and their order may be changed.

        Return nothing at any other time, or if the order is fixed.
        """
        return []

    def reorder(self, pages: Sequence[PageId]) -> None:
        """Hand the :meth:`revisits_ahead` out in this order."""
        raise NotImplementedError(f"{type(self).__name__} has no order of revisits that is open")

    @abstractmethod
    def finished(self, visit: Visit, captured: bool) -> None:
        """Report the end of a visit; ``captured=False``: it brought no content, so there is nothing to revisit."""

    def linked(self, pages: Sequence[PageId]) -> None:  # noqa: B027 - most have no use for it
        """Report the pages, new (already added) or known, that a document links to, before its visit is finished.

        After a restart amid the first visits, all links are reported again before the visits.
        """

    @abstractmethod
    def reprice(self, page: PageId, rate: float) -> None:
        """Change a page's rate; ignored if the page has been handed out."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of visits still to hand out, as far as known."""
