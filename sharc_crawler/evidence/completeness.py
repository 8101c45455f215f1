"""What pages embed, counted in: a page is coherent as a whole where all that it needs is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import EMBEDDED, Instant, Kind, Result, Url, Verdict

#: redirects that are to stay, and what is gone for good; others may lead elsewhere, or be there, by now
FOR_GOOD = (301, 308, 410)
_NO_PART = (Result.GONE, Result.REDIRECTED)  # nothing to fetch, or its target is embedded instead


class PartCompleteness(NamedTuple):
    """What a page embeds, as far as it counts for the page."""

    verdict: Verdict | None
    subsite: str
    there: bool  #: to be shown with its page, captured or not
    open: bool  #: it was not there, or elsewhere, when it was asked for: its verdict says whether so at T
    leads: bool  #: to what was taken in, and counts by itself
    reason: str
    embeds: tuple[Url, ...]
    evidence: Evidence | None


class Completeness:
    """The verdict of a page with everything it embeds (style sheets' own images, too) counted in.

    Changed if any part changed; else unknown if any part is unknown or was not captured; else coherent. What was judged
    around another reference instant (``references``, by subsite) is unknown. First :meth:`meet` every URL; those that
    are :attr:`unmet` then, once more: they are pages, which others embed.
    """

    def __init__(self, references: Mapping[str, Instant | None]) -> None:
        self._references = references
        self._known: dict[Url, PartCompleteness] = {}
        self._embedded: set[Url] = set()

    def meet(self, page: PageFacts) -> None:
        """Note what a URL embeds, and the URL itself where it is a resource, or embedded."""
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
        """What is embedded, and was not met since."""
        return self._embedded - self._known.keys()

    def of(self, page: PageFacts) -> Verdict | None:
        """The verdict of a page and its parts; None for what is none, or was not captured."""
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
        """How many embedded resources are coherent by the server's word alone: no audit draws them."""
        there = (part for url, part in self._known.items() if url in self._embedded and part.there)
        return sum(one.verdict is Verdict.COHERENT and bool(one.evidence and one.evidence.stated) for one in there)

    def embedded(self) -> tuple[Counter[Verdict | None], Counter[str]]:
        """How many embedded resources the server has, by verdict, and why others were not captured."""
        parts = [part for url, part in self._known.items() if url in self._embedded]
        lost = (one for one in parts if (one.open and not one.leads) or (one.there and one.verdict is None))
        why = Counter(one.reason for one in lost)
        return Counter(part.verdict for part in parts if part.there), why


def _leads_elsewhere(page: PageFacts) -> bool:
    """Has it redirected to two places? Nobody knows whether they show the same."""
    return page.verdict is Verdict.CHANGED and _redirects(page.visit) and _redirects(page.revisit)


def _redirects(visit: VisitFacts | None) -> bool:
    return visit is not None and visit.result is Result.REDIRECTED
