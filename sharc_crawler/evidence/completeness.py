"""Verdicts of pages with their embedded resources: a page is coherent as a whole if all that it needs is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import EMBEDDED, Instant, Kind, Result, Url, Verdict

#: statuses of permanent redirects and losses; others may change later
FOR_GOOD = (301, 308, 410)
_NO_PART = (Result.GONE, Result.REDIRECTED)  # nothing to fetch, or the target is embedded instead


class PartCompleteness(NamedTuple):
    """An embedded resource, as far as it counts for its page."""

    verdict: Verdict | None
    subsite: str
    there: bool  #: it is shown with its page, captured or not
    open: bool  #: it was missing or redirected when requested: its verdict says whether so at T
    leads: bool  #: it redirects to an admitted URL, which counts itself
    reason: str
    embeds: tuple[Url, ...]
    evidence: Evidence | None


class Completeness:
    """The verdict of a page with all its resources (style sheets' images, too).

    It is changed if any part changed; else unknown if any part is unknown or not captured; else coherent. Parts judged
    around another T (``references``, by subsite) are unknown. First :meth:`meet` every URL, then those that are
    :attr:`unmet` once more: pages that others embed.
    """

    def __init__(self, references: Mapping[str, Instant | None]) -> None:
        self._references = references
        self._known: dict[Url, PartCompleteness] = {}
        self._embedded: set[Url] = set()

    def meet(self, page: PageFacts) -> None:
        """Enter a URL's resources, and the URL itself if it is a resource or embedded."""
        self._embedded.update(page.embeds)
        if page.kind in EMBEDDED or page.url in self._embedded:
            there = bool(page.verdict and not page.absent) or not page.visit or page.visit.result not in _NO_PART
            redirects = not there and _redirects(page.visit)
            leads, nowhere = redirects and bool(page.embeds), redirects and not page.embeds
            is_open = nowhere or (not there and page.visit is not None and page.visit.status not in FOR_GOOD)
            verdict = Verdict.UNKNOWN if nowhere or _leads_elsewhere(page) else page.verdict
            own = there, is_open, leads, page.reason, page.embeds, page.evidence
            self._known[page.url] = PartCompleteness(verdict, page.subsite, *own)

    @property
    def unmet(self) -> set[Url]:
        """Embedded URLs that were not entered since."""
        return self._embedded - self._known.keys()

    def of(self, page: PageFacts) -> Verdict | None:
        """Return the verdict of a page with its parts; None if it is no page or was not captured."""
        if page.kind is not Kind.PAGE or page.verdict is None:
            return None
        own = self._references.get(page.subsite)
        verdicts = {page.verdict}
        for part in self._parts(page.embeds):
            at_one_instant = self._references.get(part.subsite) == own
            verdicts.add((at_one_instant and part.verdict) or Verdict.UNKNOWN)
        if Verdict.CHANGED in verdicts:
            return Verdict.CHANGED
        return Verdict.COHERENT if verdicts == {Verdict.COHERENT} else Verdict.UNKNOWN

    def _parts(self, embeds: Iterable[Url]) -> Iterator[PartCompleteness]:
        seen, waiting = set[str](), list(embeds)
        while waiting:
            url = waiting.pop()
            part = self._known.get(url)
            if part is not None and url not in seen:
                seen.add(url)
                waiting.extend(part.embeds)
                if part.there or part.open:
                    yield part

    def on_word(self) -> int:
        """Return how many embedded resources are coherent only by the server's word: no audit draws them."""
        there = (part for url, part in self._known.items() if url in self._embedded and part.there)
        coherent = (part.evidence for part in there if part.verdict is Verdict.COHERENT)
        return sum(evidence is not None and evidence.stated for evidence in coherent)

    def embedded(self) -> tuple[Counter[Verdict | None], Counter[str]]:
        """Return the numbers of existing embedded resources by verdict, and why others were not captured."""
        parts = [part for url, part in self._known.items() if url in self._embedded]
        lost = (part for part in parts if (part.open and not part.leads) or (part.there and part.verdict is None))
        why = Counter(part.reason for part in lost)
        return Counter(part.verdict for part in parts if part.there), why


def _leads_elsewhere(page: PageFacts) -> bool:
    """Did it redirect to two different places? It is unknown whether they show the same."""
    return page.verdict is Verdict.CHANGED and _redirects(page.visit) and _redirects(page.revisit)


def _redirects(visit: VisitFacts | None) -> bool:
    return visit is not None and visit.result is Result.REDIRECTED
