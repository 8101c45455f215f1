"""Details of pages that need all pages to be known: blur, resources, redirects to captured pages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.evidence.blur import blur_variance, stochastic_blur
from sharc_crawler.evidence.figures import Figures, copies, payload_of
from sharc_crawler.instants import iso
from sharc_crawler.model import Instant, Kind, Url, Verdict
from sharc_crawler.rates.base import PRIOR

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import PageFacts

BATCH = 1024  #: pages processed together


class Detail(NamedTuple):
    """Details of a page beside its facts."""

    complete: Verdict | None  #: verdict with all its resources
    stochastic_blur: float | None
    actual_blur: float | None
    moved: bool  #: not captured, but redirects to a captured page: nothing is missing


class Details:
    """Sums of a second walk over a capture's pages; :meth:`walk` is a third one, page by page."""

    def __init__(self, pages: Iterable[PageFacts], figures: Figures) -> None:
        self._pages = pages
        self._figures = figures
        self.blur = Blur(figures.observed, figures.whole.expected.swings.group)
        self.complete: Counter[Verdict] = Counter()
        self.alike = ""  #: URL of a page with the most common payload
        self._moved = self._look()
        self.missing = figures.missing.copy()  #: URLs not captured, by kind and reason, without those moved
        self.redirects: Counter[Kind] = Counter()  #: redirects to captured pages
        for url in self._moved:
            kind, reason, _ = figures.redirects[url]
            self.missing[kind, reason] -= 1
            self.redirects[kind] += 1
        self.missing = +self.missing  # without zeros

    def _look(self) -> Set[Url]:
        payloads = self._figures.payloads
        commonest = max(payloads, key=payloads.__getitem__, default=None)
        targets = {url: target for url, (_, _, target) in self._figures.redirects.items()}
        wanted = {name for target in targets.values() for name in (target, canonical(target))}
        captured: set[str] = set()
        for batch in _batches(self._pages):
            self.blur.add(self.blur.of(batch))
            for page in batch:
                if (complete := self._figures.complete(page)) is not None:
                    self.complete[complete] += 1
                    if not self.alike and payload_of(page) == commonest:
                        self.alike = page.archived_as or page.url
                if page.verdict is not None and page.url in wanted:
                    captured.add(page.url)
        return _moved(targets, captured)

    def walk(self) -> Iterator[tuple[PageFacts, Detail]]:
        """Yield each URL of the capture with its details."""
        for batch in _batches(self._pages):
            for page, blurs in zip(batch, self.blur.of(batch), strict=True):
                complete, moved = self._figures.complete(page), page.url in self._moved
                yield page, Detail(complete, blurs.stochastic, blurs.actual, moved)


def _batches(pages: Iterable[PageFacts]) -> Iterator[list[PageFacts]]:
    source = iter(pages)
    while batch := list(islice(source, BATCH)):
        yield batch


def _moved(targets: Mapping[Url, str], captured: Set[str]) -> set[Url]:
    """Return the URLs that redirect to a captured one, directly or over others.

    >>> sorted(_moved({"http://h/a": "http://h/b#top", "http://h/b": "http://h/c"}, {"http://h/c"}))
    ['http://h/a', 'http://h/b']
    """
    by_target: dict[str, list[Url]] = defaultdict(list)
    for url, target in targets.items():
        for name in {target, canonical(target) or target}:
            by_target[name].append(url)
    found: set[Url] = set()
    waiting = list(captured)
    while waiting:
        for url in by_target.get(waiting.pop(), ()):
            if url not in found:
                found.add(url)
                waiting.append(url)
    return found


class PageBlur(NamedTuple):
    """The blur of a page, in changes; None if it was not downloaded, or is unknown."""

    stochastic: float | None = None
    actual: float | None = None
    variance: float = 0.0  #: of actual around stochastic blur, by chance and by uncertainty of the rate
    guessed: bool = False  #: its rate is only the prior's


class Blur:
    """Blur over ``observed``, from the first to the last copy of any page; ``group``: pages edited at a time."""

    def __init__(self, observed: tuple[Instant, Instant], group: float = 1.0) -> None:
        self._observed, self._group = observed, group
        self._pages = self._actual_pages = self._guessed = 0
        self._stochastic = self._actual = self._variance = 0.0

    def of(self, pages: Sequence[PageFacts]) -> list[PageBlur]:
        """Return the blur of each page."""
        found = [PageBlur()] * len(pages)
        if not self._observed[0] < self._observed[1]:  # no interval, no blur
            return found
        spans = {place: span for place, page in enumerate(pages) if page.kind is Kind.PAGE and (span := copies(page))}
        rated = [place for place in spans if math.isfinite(pages[place].rate)]
        rates = np.array([pages[place].rate for place in rated])
        downloads = self._around([spans[place] for place in rated])
        expected = stochastic_blur(rates, *downloads)
        unsure = expected**2 / np.array([pages[place].rate_shape for place in rated])
        chance = self._group * blur_variance(rates, *downloads)
        for place, value, variance in zip(rated, expected.tolist(), (chance + unsure).tolist(), strict=True):
            found[place] = PageBlur(value, None, variance, pages[place].rate_source == PRIOR)
        changes = {place: known for place in spans if (known := pages[place].true_changes) is not None}
        if changes:
            from sharc_crawler.evidence.truth import actual_blur  # only for demo sites

            real = actual_blur(list(changes.values()), *self._around([spans[place] for place in changes]))
            for place, value in zip(changes, real.tolist(), strict=True):
                found[place] = found[place]._replace(actual=value)
        return found

    def _around(self, spans: list[tuple[Instant, Instant]]) -> tuple[Any, Any, Any]:
        visits, revisits = np.array(spans).reshape(-1, 2).T
        return visits, self._observed, revisits

    def add(self, blurs: Sequence[PageBlur]) -> None:
        """Add the blur of pages to the sums."""
        for stochastic, actual, variance, guessed in blurs:
            if stochastic is not None:
                self._pages, self._stochastic = self._pages + 1, self._stochastic + stochastic
                self._variance += variance
                self._guessed += guessed
            if actual is not None:
                self._actual_pages, self._actual = self._actual_pages + 1, self._actual + actual

    def totals(self) -> dict[str, Any] | None:
        """Return sums and averages for the report; None if no page was downloaded."""
        if not self._pages and not self._actual_pages:
            return None
        return {
            "from": iso(self._observed[0]),
            "to": iso(self._observed[1]),
            "stochastic": self._stochastic,
            "stochastic_average": self._stochastic / self._pages if self._pages else None,
            "deviation": math.sqrt(self._variance) / self._pages if self._pages else None,
            "pages": self._pages,
            "guessed": self._guessed,
            "actual": self._actual if self._actual_pages else None,
            "actual_average": self._actual / self._actual_pages if self._actual_pages else None,
            "actual_pages": self._actual_pages,
        }
