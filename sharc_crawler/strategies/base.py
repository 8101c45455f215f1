"""The port of all orders: which page next, in which slot."""

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
    """Pages newly known to a capture, in the order of discovery; arrays of one length, to be read only.

    Raises :class:`~sharc_crawler.errors.UsageError` for numbers no page can have.
    """

    pages: NDArray[np.int64]
    rates: NDArray[np.float64]  #: changes per second, finite, >= 0
    weights: NDArray[np.float64]  #: finite, >= 0
    shapes: NDArray[np.float64]  #: of the Gamma posteriors with means ``rates``, > 0; inf: point estimates
    attested: NDArray[np.bool_]  #: the site's lastmod is trusted for this page
    utilities: NDArray[np.float64]  #: for orders by utility (Olston & Pandey): what a visit is worth

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
        """Candidates from any sequences; weights 1, point estimates, not attested, utility = rate where not given.

        >>> len(Candidates.of([0, 1], [0.1, 0.2]))
        2
        """
        n = len(pages)
        few = n <= len(_UNSAID[0])
        one, point, no = [all_[:n] for all_ in _UNSAID] if few else [np.full(n, all_[0]) for all_ in _UNSAID]
        pages, rates = np.asarray(pages, np.int64), np.asarray(rates, np.float64)
        check_values(pages, "rate", rates)
        if weights is not None:
            check_values(pages, "weight", one := np.asarray(weights, np.float64))
        if shapes is not None:
            point = np.asarray(shapes, np.float64)
            if n and not point[point.argmin()] > 0:  # nor NaN
                page = pages[~(point > 0)][0]
                raise UsageError(f"the Gamma shape of page {page} must be > 0 (inf: a point estimate)")
        utilities = rates if utilities is None else np.asarray(utilities, np.float64)
        attested = no if attested is None else np.asarray(attested, np.bool_)
        return cls(pages, rates, one, point, attested, utilities)


#: what nobody said of few pages, read-only: to fill a column anew costs twenty times as much as to take a part of one
_UNSAID = [np.broadcast_to(np.full(256, value), 256) for value in (1.0, math.inf, False)]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a strategy knows of its capture from the start."""

    size: int = 0  #: estimated number of pages; 0: not known; a wrong estimate costs quality, never a page
    step: Seconds = 1.0  #: Δ, planned time between two downloads
    start: Instant = 0.0  #: planned start of the capture
    observation: tuple[Instant, Instant] | None = None  #: [o_s, o_e]; None: the capture interval
    bounded: bool = False  #: the capture has a budget, or a limit, which may have no room for all pages
    prior: tuple[float, ...] = ()  #: rates (quantiles) that undiscovered pages are drawn from; (): as the known

    def __post_init__(self) -> None:
        if self.size < 0:
            raise UsageError(f"size={self.size} must be the number of pages, or 0 where it is not known")
        if not 0 < self.step < math.inf:
            raise UsageError(f"step={self.step} must be the seconds between two downloads, > 0")
        if self.observation is not None and not -math.inf < self.observation[0] < self.observation[1] < math.inf:
            raise UsageError(f"observation={self.observation} must be an interval [start, end], start < end")
        check_values(np.arange(len(self.prior)), "prior rate", np.asarray(self.prior, np.float64))


class Strategy(ABC):
    """The order of one site capture.

    A rebuildable index over pages: it never persists, never reads a clock, never learns politeness. The caller may
    replace :attr:`setting` at any time (a better Δ or size). A page that
    :meth:`add` brought owns one slot (``ONLY``) or two (``FIRST``, then ``SECOND``). All first visits come before all
    second ones: second slots start once no first slot is left and every one handed out is finished. The last page
    known may be handed out as ``ONLY`` (its download is its visit and its revisit); when more pages are added
    afterwards, or it agrees to :meth:`revisit_after_all`, it is handed out as ``SECOND`` like the others.

    The caller's contract: every visit that :meth:`next` returns is answered by exactly one :meth:`finished`, before or
    after further calls of :meth:`next`; unless :attr:`accepts_late`, no page is added once :attr:`past_reference`.
    After a restart all pages are added again, then every visit finished before is told by :meth:`finished`, in the
    order in which they were made.
    """

    #: whether pages are visited twice
    revisits: bool = True

    #: whether pages found after the reference instant T may still be added (they are visited once)
    accepts_late: bool = False

    #: whether pages may be claimed on the server's word: T is then the start of a sitemap's download
    attests: bool = False

    #: a visit after the reference instant T has been handed out: T lies just before the first such visit
    past_reference: bool = False

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def add(self, candidates: Candidates) -> None:
        """Pages have been discovered."""

    @abstractmethod
    def next(self, now: Instant) -> Visit | None:
        """The best visit to make now; ``None``: nothing now (visits are unfinished, or all is done)."""

    def reference_passed(self) -> None:
        """T is fixed: every visit handed out from now on is made after it (told again after a restart)."""
        self.past_reference = True

    def revisit_after_all(self, page: PageId) -> bool:  # noqa: ARG002 - nothing is agreed to
        """Will this page, handed out as ``ONLY`` and not finished, be handed out as ``SECOND``, too?

        Asked where it brought resources, which are to be downloaded before T. Who agrees is told of the visit's end as
        of one in slot ``FIRST``; with ``False``, the page's download stays its only one.
        """
        return False

    def revisits_ahead(self) -> list[PageId]:
        """The revisits still to be handed out, in order, where the first of them is next and their order is open.

        Empty at any other time, and for strategies whose order is fixed.
        """
        return []

    def reorder(self, pages: Sequence[PageId]) -> None:
        """Hand the :meth:`revisits_ahead` out in this order."""
        raise NotImplementedError(f"{type(self).__name__} has no order of revisits that is open")

    @abstractmethod
    def finished(self, visit: Visit, captured: bool) -> None:
        """The visit is finished. ``captured=False``: there is no content, so nothing is left to revisit."""

    def linked(self, pages: Sequence[PageId]) -> None:  # noqa: B027 - most have no use for it
        """The document of the visit that is about to be finished links to these pages, new ones (added before) or not.

        After a restart in the midst of the first visits, all of them are told again before the visits are.
        """

    @abstractmethod
    def reprice(self, page: PageId, rate: float) -> None:
        """A page's rate is known better; ignored where its place is already taken."""

    @abstractmethod
    def __len__(self) -> int:
        """Visits still to hand out, as far as known."""
