"""Measures of a capture: coherence, expectation, plans (the paper's Sections 2 and 4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code
from sharc_crawler.model import Instant, Plan, Result, Seconds, Slot, Verdict
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.rates.swings import Swings

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import PageFacts


LOW, HIGH = 0.1, 0.9  #: quantiles that enclose 80 %
#: share of the longest interval over which bursts average out as they do over all intervals, from zero to the longest
#: around T (the square of their mean coverage over the mean of its square)
EVEN = 0.75


def share(part: float, whole: float) -> float | None:
    """Return a share, 0..1; None if the whole is 0."""
    return part / whole if whole else None


def interval(page: PageFacts, reference: Instant | None) -> Seconds | None:
    """Return I, the time over which a page had to stay the same to be coherent; None if it was not judged.

    It goes from visit to revisit; from visit to T for an attested page; it is 0 for the apex, whose download is T.
    """
    if page.visit is None or page.verdict in (None, Verdict.UNKNOWN):
        return None
    if page.evidence is not None and page.evidence.dated and reference is not None and page.visit.slot is Slot.ONLY:
        return abs(reference - page.visit.started)  # a second download was an audit
    if page.revisit is not None and page.revisit.started >= page.visit.started:  # else its visit is lost
        return page.revisit.started - page.visit.started
    return 0.0 if page.visit.slot is Slot.ONLY else None


def survival(page: PageFacts, reference: Instant | None) -> float | None:
    """Return the probability that a page stays the same over its interval: e^{-λI}, or its mean over λ's posterior."""
    length = interval(page, reference)
    return None if length is None else math.exp(_predicted(_changes(page, length), page.rate_shape))


def _predicted(changes: float, shape: float) -> float:
    """Compute :func:`~sharc_crawler.evidence.survival.log_survival` of one page, given its expected changes.

    >>> round(math.exp(_predicted(1.0, 1.0)), 3), round(math.exp(_predicted(1.0, math.inf)), 3)
    (0.5, 0.368)
    """
    return -changes if math.isinf(shape) else -shape * math.log1p(changes / shape)


def _changes(page: PageFacts, length: Seconds) -> float:
    """Return the expected changes within a time."""
    return page.rate * length if length else 0.0


def fingerprint_equal(page: PageFacts) -> bool | None:
    """Have visit and revisit the same content (:mod:`..changes.fingerprint`)? None: unknown."""
    if code(page.reason) == Reason.DATA_CHANGED:
        return False  # only the document is the same
    prints = [visit.fingerprint for visit in (page.visit, page.revisit) if visit and visit.result is Result.OK]
    return prints[0] == prints[1] if len(prints) == 2 and all(prints) else None


class Content(StrEnum):
    """Whether a page's content, as opposed to its bytes, changed."""

    KEPT = "kept"
    CHANGED = "changed"
    UNKNOWN = "unknown"


def only_noise(page: PageFacts) -> bool:
    """Did a page change its bytes but keep its content?

    Its content is the same by fingerprints or learned masks. A page that was gone or redirected in between has changed.
    """
    if code(page.reason) == Reason.OTHER_ANSWER:
        return False
    by_bytes = page.verdict is Verdict.CHANGED and page.evidence is Evidence.BYTES
    return by_bytes and (page.alike or fingerprint_equal(page) is True)


def content(page: PageFacts) -> Content | None:
    """Return whether a captured page's content changed."""
    if page.verdict is None:
        return None
    if page.verdict is Verdict.COHERENT or only_noise(page):
        return Content.KEPT
    return Content(page.verdict.value)


class Count(NamedTuple):
    """A further count of pages, besides those by verdict."""

    name: str
    meaning: str  #: as the schema of a report says it
    counts: Callable[[PageFacts], bool]  #: is the page counted?


#: a row is all that a count needs: for a capture, its parts and resources, and in the report's schema
COUNTS = (
    Count(
        "same_content",
        "Pages that are not coherent and kept their content: what differed does not count as content.",
        only_noise,
    ),
    Count(
        "by_masks",
        "Of these: by masks that the capture taught.",
        lambda page: page.alike and only_noise(page),
    ),
    Count(
        "not_asked",
        "Pages that a former capture has and that were not asked for (skip=attested).",
        lambda page: page.visit is not None and not page.visit.attempts,
    ),
    Count(
        "former_copies",
        "Pages judged changed by a former capture's copy, which the server had called unmodified (304).",
        lambda page: page.older,
    ),
    Count(
        "retried",
        "Pages of which a download took more than one request: others failed, or a 304 was tested.",
        lambda page: any(visit.attempts > 1 for visit in (page.visit, page.revisit) if visit),
    ),
)


class PageTally:
    """Numbers of pages by verdict; the share is of captured pages, including unknown ones."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict | None] = Counter()
        self._counts: Counter[str] = Counter()
        self.content: Counter[Content] = Counter()
        self._weight = self._coherent_weight = 0.0

    def add(self, page: PageFacts) -> None:
        """Count a page."""
        self.verdicts[page.verdict] += 1
        for name, _, counts in COUNTS:
            self._counts[name] += counts(page)
        if (kept := content(page)) is not None:
            self.content[kept] += 1
        if page.verdict is not None:
            self._weight += page.weight
            self._coherent_weight += page.weight if page.verdict is Verdict.COHERENT else 0.0

    def totals(self) -> dict[str, Any]:
        """Return the sums for the report."""
        known, coherent = self.verdicts.total(), self.verdicts[Verdict.COHERENT]
        captured = known - self.verdicts[None]
        return {
            "known": known,
            "captured": captured,
            "coherent": coherent,
            "changed": self.verdicts[Verdict.CHANGED],
            **{row.name: self._counts[row.name] for row in COUNTS},
            "content": {each.value: self.content[each] for each in Content},
            "unknown": self.verdicts[Verdict.UNKNOWN],
            "not_captured": self.verdicts[None],
            "share": share(coherent, captured),
            "weighted_share": share(self._coherent_weight, self._weight),
        }


def quantile(mean: float, deviation: float, level: float) -> float:
    """Return a quantile of a Gamma variable, by the approximation of Wilson and Hilferty.

    >>> [round(quantile(3.0, 1.0, level), 1) for level in (0.1, 0.5, 0.9)]
    [1.8, 2.9, 4.3]
    """
    if mean <= 0.0:
        return 0.0
    part = (deviation / mean) ** 2 / 9.0
    return mean * max(0.0, 1.0 - part + NormalDist().inv_cdf(level) * math.sqrt(part)) ** 3


def round_up(number: float, most: int) -> int:
    """Round a continuous value to the whole number k from k − ½ to k + ½, within 0 to ``most``."""
    return min(max(0, math.ceil(number - 0.5)), most)


class Expected:
    """Expected coherence EC = Σ e^{-λI} and the actual count, over the pages whose interval is known.

    Rates are of content, so the expectation is of pages that keep their content: ``same_content``, which includes those
    with equal bytes (``counted``). p is the mean of e^{-λI} over the posterior of λ. The variance has two parts: that
    of binary outcomes, Σ p(1-p), times the number of pages edited at a time; and that of all rates together
    (:class:`~sharc_crawler.rates.swings.Swings`). The deviation is at most that of all pages changing together, Σ
    √(p(1-p)). ``guessed`` pages have only the prior's rate.

    ``low`` to ``high`` should hold the count of four captures in five: the number of pages lost is a rounded Gamma
    variable, or, after a rebuild, anything from its mean to all pages that a rebuild touches.
    """

    def __init__(self, reference: Instant | None, swings: Swings | None = None) -> None:
        self._reference = reference
        self.swings = swings or Swings.usual()
        self._pages = self._counted = self._noise = self._guessed = 0
        self._sum = self._variance = self._most = self._longest = 0.0
        self._moved = 0.0  #: −∂EC/∂ log λ of all rates

    def add(self, page: PageFacts) -> None:
        """Count a page, if its interval is known."""
        if (p := survival(page, self._reference)) is None:
            return
        self._pages += 1
        self._sum += p
        self._variance += p * (1 - p)
        self._most += math.sqrt(p * (1 - p))
        length = interval(page, self._reference) or 0.0
        self._longest = max(self._longest, length)
        changes = _changes(page, length)
        self._moved += changes * p / (1.0 + changes / page.rate_shape) if p else 0.0
        self._counted += page.verdict is Verdict.COHERENT
        self._noise += only_noise(page)
        self._guessed += page.rate_source == PRIOR

    def totals(self) -> dict[str, Any]:
        """Return the sums for the report."""
        swings = self.swings
        wide = math.hypot(math.sqrt(swings.group * self._variance), swings.at(EVEN * self._longest) * self._moved)
        deviation = min(wide, self._most)
        few, many = (round_up(self._lost(deviation, level), self._pages) for level in (LOW, HIGH))
        return {
            "pages": self._pages,
            "coherent": self._sum,
            "deviation": deviation,
            "low": self._pages - many,
            "high": self._pages - few,
            "counted": self._counted,
            "same_content": self._counted + self._noise,
            "guessed": self._guessed,
        }

    def _lost(self, deviation: float, level: float) -> float:
        """Return the quantile of lost pages: at most so many in this share of similar captures."""
        mean, chance = self._pages - self._sum, self.swings.rebuild(self._longest)
        if (calm := level / max(1.0 - chance, 1e-9)) < 1.0:
            return quantile(mean, deviation, calm)
        return mean + self.swings.touched * self._sum * (level - 1.0 + chance) / chance


class Plans:
    """Numbers of captured and of coherent pages, by the strategy's plan."""

    def __init__(self) -> None:
        self._cells: Counter[tuple[Plan | None, bool]] = Counter()

    def add(self, page: PageFacts) -> None:
        """Count a page."""
        if page.verdict is not None:
            self._cells[page.plan, page.verdict is Verdict.COHERENT] += 1

    def totals(self) -> dict[str, Any]:
        """Return the sums for the report."""
        cells = self._cells
        return {
            plan.value: {"pages": cells[plan, True] + cells[plan, False], "coherent": cells[plan, True]}
            for plan in Plan
        }
