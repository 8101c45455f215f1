"""Sums over the pages of a capture, in one walk: memory does not grow with the number of pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.orders import is_order
from sharc_crawler.evidence.intervals import AGE_PRECISION
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import Expected, PageTally, Plans
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso
from sharc_crawler.model import EMBEDDED, Instant, Kind, Result, Slot, Url, Verdict

if TYPE_CHECKING:
    from sharc_crawler.evidence.completeness import Completeness
    from sharc_crawler.evidence.facts import PageFacts, SubsiteFacts, VisitFacts
    from sharc_crawler.evidence.truth import TruthTally
    from sharc_crawler.rates.swings import Swings

#: results that show the page's state at that moment
COPIED = (Result.OK, Result.NOT_MODIFIED)
MEANT = (Kind.PAGE, *EMBEDDED)  #: kinds that a capture should contain


class PageSums:
    """Sums over pages that share a reference instant: those of a capture, or of a part of it."""

    def __init__(self, reference: Instant | None, swings: Swings | None = None) -> None:
        self.reference = reference
        self.tally = PageTally()
        self.expected = Expected(reference, swings)
        self.grounds: Counter[Evidence] = Counter()  #: of coherent pages
        self.unknown: Counter[str] = Counter()  #: reasons
        self.once = True  #: all captured pages were to be downloaded once
        self.revisited = False  #: at least one page was revisited
        self._span = (-math.inf, math.inf)  #: in which every coherent page is shown unchanged

    def add(self, page: PageFacts) -> None:
        """Add a page to the sums."""
        self.tally.add(page)
        self.expected.add(page)
        self.revisited = self.revisited or page.revisit is not None
        if page.verdict is None:
            return
        self.once = self.once and (page.visit is None or page.visit.slot is Slot.ONLY)
        if page.verdict is Verdict.UNKNOWN:
            self.unknown[page.reason] += 1
        elif page.verdict is Verdict.COHERENT:
            self.grounds[page.evidence or Evidence.NONE] += 1
            self.narrow(page)

    def narrow(self, page: PageFacts) -> None:
        """Narrow the common span to that of a coherent page or data."""
        if self.reference is not None and page.verdict is Verdict.COHERENT:
            start, end = _span(page, self.reference)
            self._span = max(self._span[0], start), min(self._span[1], end)

    def span(self) -> dict[str, str] | None:
        """Return T and the interval in which every coherent page is shown unchanged: any instant of it could be T."""
        if self.reference is None:
            return None
        start, end = (self.reference if math.isinf(bound) else bound for bound in self._span)
        return {"instant": iso(self.reference), "from": iso(start), "to": iso(end)}


def _span(page: PageFacts, reference: Instant) -> tuple[Instant, Instant]:
    """Return the interval in which a coherent page is shown unchanged."""
    if page.evidence is not None and page.evidence.dated:
        once = page.visit is not None and page.visit.slot is Slot.ONLY and page.revisit is None
        from_visit = [page.visit.started] if page.visit and once else []  # with two visits it is unclear which one
        return min([reference, *from_visit]), max([reference, *from_visit])
    downloads, again = [visit.started for visit in (page.visit, page.revisit) if visit], page.revisit
    copied = 0.0 if again is None or again.age is None else again.age + AGE_PRECISION
    return min(downloads, default=-math.inf), max(downloads, default=math.inf) - copied


class PhaseTimes:
    """The time in which all first, or all second, downloads were made."""

    def __init__(self) -> None:
        self._pages = 0
        self._first, self._last = math.inf, -math.inf

    def add(self, visit: VisitFacts | None) -> None:
        """Count a download."""
        if visit is not None and visit.attempts:
            self._pages += 1
            self._first, self._last = min(self._first, visit.started), max(self._last, visit.ended)

    def totals(self) -> dict[str, Any] | None:
        """Return the times for the report; None if there was no download."""
        if not self._pages:
            return None
        seconds = self._last - self._first
        return {"from": iso(self._first), "to": iso(self._last), "seconds": seconds, "pages": self._pages}


class Figures:
    """All sums of a report, except those that need all pages to be known first (``details.py``)."""

    def __init__(
        self,
        pages: Iterable[PageFacts],
        reference: Instant | None,
        parts: Iterable[SubsiteFacts],
        swings: Swings | None,
    ) -> None:
        self.urls = 0  #: number of all URLs
        self.whole = PageSums(reference, swings)
        self.parts = {part.name: PageSums(part.reference, swings) for part in parts}
        self.resources = PageTally()
        self.plans = Plans()
        self.truth: TruthTally | None = None  #: if it is known
        self.rate_sources: Counter[str] = Counter()  #: of captured pages
        self.visits, self.revisits = PhaseTimes(), PhaseTimes()
        self.missing: Counter[tuple[Kind, str]] = Counter()  #: URLs not captured, by kind and reason
        self.redirects: dict[Url, tuple[Kind, str, str]] = {}  #: of these, redirects: kind, reason, target
        self.by_script: Counter[bool] = Counter()
        self.orders, self.order = 0, ""  #: number of requested URLs that look like orders, and the first of them
        self.payloads: Counter[int] = Counter()  #: pages by the hash of their payload's digest
        self.observed = (math.inf, -math.inf)  #: from the first to the last copy of a page
        self.completeness: Completeness | None = None  #: if something is embedded
        for page in pages:
            self._add(page)
        self._meet_again(pages)

    def _meet_again(self, pages: Iterable[PageFacts]) -> None:
        """Enter pages that turned out to be embedded."""
        if self.completeness and (unmet := self.completeness.unmet):
            for page in (page for page in pages if page.url in unmet):
                self.completeness.meet(page)

    def complete(self, page: PageFacts) -> Verdict | None:
        """Return a page's verdict with all its resources; None if it is no page or was not captured."""
        if self.completeness:
            return self.completeness.of(page)
        return page.verdict if page.kind is Kind.PAGE else None

    def _add(self, page: PageFacts) -> None:
        self.urls += 1
        if self.completeness is None and (page.embeds or page.kind in EMBEDDED):
            from sharc_crawler.evidence.completeness import Completeness  # only if something is embedded

            self.completeness = Completeness({name: part.reference for name, part in self.parts.items()})
        if self.completeness:
            self.completeness.meet(page)
        if (page.verdict is None or page.absent) and page.kind in MEANT:
            reason = why_not(page)
            self.missing[page.kind, reason] += 1
            if page.target:
                self.redirects[page.url] = (page.kind, reason, page.target)
        if page.kind is not Kind.PAGE:
            self._beside(page)
            return
        if page.visit and is_order(page.url):
            self.orders, self.order = self.orders + 1, self.order or page.url
        self.whole.add(page)
        if part := self.parts.get(page.subsite):
            part.add(page)
        if found := copies(page):
            self.observed = min(self.observed[0], found[0]), max(self.observed[1], found[1])
        if page.verdict is not None:
            self._captured(page)

    def _beside(self, page: PageFacts) -> None:
        """Count a resource or data."""
        if page.kind in EMBEDDED:
            self.resources.add(replace(page, verdict=None) if page.absent else page)
        if page.kind is Kind.DATA:
            for sums in filter(None, (self.whole, self.parts.get(page.subsite))):
                sums.narrow(page)

    def _captured(self, page: PageFacts) -> None:
        self.plans.add(page)
        if page.truth is not None:
            from sharc_crawler.evidence.truth import TruthTally  # only for demo sites

            self.truth = self.truth or TruthTally()
            self.truth.add(page)
        self.rate_sources[page.rate_source] += 1
        if page.visit:
            self.visits.add(page.visit)
        self.revisits.add(page.revisit)
        if page.by_script is not None:
            self.by_script[page.by_script] += 1
        if (payload := payload_of(page)) is not None:
            self.payloads[payload] += 1


def why_not(page: PageFacts) -> str:
    """Return why a URL was not captured."""
    visit = page.visit
    return page.reason or (visit.error if visit and visit.error else Reason.UNVISITED)


def payload_of(page: PageFacts) -> int | None:
    """Return the hash of the digest of a page's visit; None if there is no content, or scripts filled it."""
    visit = None if page.data else page.visit
    return hash(visit.digest) if visit and visit.result is Result.OK and visit.digest else None


def copies(page: PageFacts) -> tuple[Instant, Instant] | None:
    """Return when a page was copied first and last, or None."""
    made = (visit for visit in (page.visit, page.revisit) if visit and visit.attempts)
    starts = [visit.started for visit in made if visit.result in COPIED]
    return (min(starts), max(starts)) if starts else None
