"""What the facts of a capture add up to: coherence, expectation, plans (the paper's Sections 2 and 4)."""

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


LOW, HIGH = 0.1, 0.9  #: quantiles between which 80 % lie
#: of the longest interval: bursts average out over all intervals, which go from none to it around T, as over so long a
#: time that is watched as a whole (the square of their mean coverage over the mean of its square)
EVEN = 0.75


def share(part: float, whole: float) -> float | None:
    """A part of a whole, 0..1; of nothing: None."""
    return part / whole if whole else None


def interval(page: PageFacts, reference: Instant | None) -> Seconds | None:
    """I, the time over which a page had to stay the same to be judged coherent; None where it was not judged.

    From visit to revisit; from visit to reference instant where the server attested it; 0 for a page whose only
    download is the reference instant (the apex of the pyramid).
    """
    if page.visit is None or page.verdict in (None, Verdict.UNKNOWN):
        return None
    if page.evidence is not None and page.evidence.dated and reference is not None and page.visit.slot is Slot.ONLY:
        return abs(reference - page.visit.started)  # a second download, if any, was an audit's
    if page.revisit is not None and page.revisit.started >= page.visit.started:  # else it was of a visit that is lost
        return page.revisit.started - page.visit.started
    return 0.0 if page.visit.slot is Slot.ONLY else None


def survival(page: PageFacts, reference: Instant | None) -> float | None:
    """The chance that a page of this rate stays the same over its interval: e^{-λI}, or its mean over what λ may be."""
    length = interval(page, reference)
    return None if length is None else math.exp(_predicted(_changes(page, length), page.rate_shape))


def _predicted(changes: float, shape: float) -> float:
    """The same as :func:`~sharc_crawler.evidence.survival.log_survival`, of one page expected to change so often.

    >>> round(math.exp(_predicted(1.0, 1.0)), 3), round(math.exp(_predicted(1.0, math.inf)), 3)
    (0.5, 0.368)
    """
    return -changes if math.isinf(shape) else -shape * math.log1p(changes / shape)


def _changes(page: PageFacts, length: Seconds) -> float:
    """Expected within a time of this length."""
    return page.rate * length if length else 0.0


def fingerprint_equal(page: PageFacts) -> bool | None:
    """Whether visit and revisit brought the same content (:mod:`..changes.fingerprint`); None: not known."""
    if code(page.reason) == Reason.DATA_CHANGED:
        return False  # the shell alone is the same
    looks = [visit.fingerprint for visit in (page.visit, page.revisit) if visit and visit.result is Result.OK]
    return looks[0] == looks[1] if len(looks) == 2 and all(looks) else None


class Content(StrEnum):
    """What became of a page's content, beside its bytes."""

    KEPT = "kept"
    CHANGED = "changed"
    UNKNOWN = "unknown"


def only_noise(page: PageFacts) -> bool:
    """Whether a page is not coherent to the byte, but kept its content: it was not edited.

    By equal fingerprints, or by masks that the capture taught. One that was gone, or led elsewhere, did not, though it
    came back.
    """
    if code(page.reason) == Reason.OTHER_ANSWER:
        return False
    by_bytes = page.verdict is Verdict.CHANGED and page.evidence is Evidence.BYTES
    return by_bytes and (page.alike or fingerprint_equal(page) is True)


def content(page: PageFacts) -> Content | None:
    """What became of a captured page's content."""
    if page.verdict is None:
        return None
    if page.verdict is Verdict.COHERENT or only_noise(page):
        return Content.KEPT
    return Content(page.verdict.value)


class Count(NamedTuple):
    """A number of pages, beside those by verdict: what a page must be to be counted."""

    name: str
    meaning: str  #: as the schema of a report says it
    holds: Callable[[PageFacts], bool]


#: a row is all that a count needs: it is made for a capture, its parts and resources, and the report's schema has it
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
    """Pages by verdict; the share is of those captured, unknown ones among them."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict | None] = Counter()
        self._counts: Counter[str] = Counter()
        self.content: Counter[Content] = Counter()
        self._weight = self._coherent_weight = 0.0

    def add(self, page: PageFacts) -> None:
        """Count a page."""
        self.verdicts[page.verdict] += 1
        for name, _, holds in COUNTS:
            if holds(page):
                self._counts[name] += 1
        if (kept := content(page)) is not None:
            self.content[kept] += 1
        if page.verdict is not None:
            self._weight += page.weight
            self._coherent_weight += page.weight if page.verdict is Verdict.COHERENT else 0.0

    def totals(self) -> dict[str, Any]:
        """The sums as a report has them."""
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
    """A quantile of a Gamma variable, by Wilson and Hilferty: what it exceeds but in this share of cases.

    >>> [round(quantile(3.0, 1.0, level), 1) for level in (0.1, 0.5, 0.9)]
    [1.8, 2.9, 4.3]
    """
    if mean <= 0.0:
        return 0.0
    part = (deviation / mean) ** 2 / 9.0
    return mean * max(0.0, 1.0 - part + NormalDist().inv_cdf(level) * math.sqrt(part)) ** 3


def round_up(number: float, most: int) -> int:
    """The whole number, 0 to ``most``, of which this is the continuous counterpart (k from k − ½ to k + ½)."""
    return min(max(0, math.ceil(number - 0.5)), most)


class Expected:
    """Expected coherence EC = Σ e^{-λI} against the count, over the pages whose interval is known.

    Rates are of content, so the expectation is of pages whose content stays: ``same_content``, those with equal bytes
    (``counted``) among them. How well a rate is known is in p, the mean of e^{-λI} over the posterior of λ. The
    deviation is that of a sum of yes-or-no outcomes, Σ p(1-p), of so many pages at once as are edited together, and of
    what moves all of them: how far the changes of the site as a whole swing
    (:class:`~sharc_crawler.rates.swings.Swings`). It is never more than where all pages go one way, Σ √(p(1-p)).
    Nobody told the rate of those ``guessed``.

    ``low`` to ``high`` is where the count lies in four captures of five: what is lost is a Gamma variable, rounded, or,
    where a rebuild comes, anything from what is expected to all that a rebuild touches.
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
        """The sums as a report has them."""
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
        """Pages that do not stay as they are, at most, in this share of captures like this one."""
        mean, chance = self._pages - self._sum, self.swings.rebuild(self._longest)
        if (calm := level / max(1.0 - chance, 1e-9)) < 1.0:
            return quantile(mean, deviation, calm)
        return mean + self.swings.touched * self._sum * (level - 1.0 + chance) / chance


class Plans:
    """Per plan of the strategy, how many captured pages it had and how many of them came out coherent."""

    def __init__(self) -> None:
        self._cells: Counter[tuple[Plan | None, bool]] = Counter()

    def add(self, page: PageFacts) -> None:
        """Count a page."""
        if page.verdict is not None:
            self._cells[page.plan, page.verdict is Verdict.COHERENT] += 1

    def totals(self) -> dict[str, Any]:
        """The sums as a report has them."""
        cells = self._cells
        return {
            plan.value: {"pages": cells[plan, True] + cells[plan, False], "coherent": cells[plan, True]}
            for plan in Plan
        }
