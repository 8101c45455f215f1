"""The facts of one site capture, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.details import Details
from sharc_crawler.evidence.facts import NOTHING_TAUGHT
from sharc_crawler.evidence.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sharc_crawler.evidence.facts import Outside, PageFacts, SubsiteFacts, Taught
    from sharc_crawler.evidence.figures import PageSums
    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.swings import Swings


@dataclass(frozen=True)
class CaptureFacts:
    """One site capture. Its pages may be walked over as often as one likes, and are better not kept: there are many."""

    site: str
    seeds: tuple[str, ...]
    strategy: str
    started: Instant
    ended: Instant | None  #: None: not complete
    reference: Instant | None  #: T; None: never reached, or each part of the site has its own
    pages: Iterable[PageFacts]  #: pages and resources, in the order of discovery
    step: Seconds = 0.0  #: planned delay between downloads of one host
    settings: dict[str, object] = field(default_factory=dict)
    software: dict[str, str] = field(default_factory=dict)  #: name → version of what made the capture
    exchanges: int = 0
    payload_bytes: int = 0
    warcs: tuple[str, ...] = ()
    interruptions: tuple[tuple[Instant, Instant], ...] = ()
    notes: tuple[str, ...] = ()  #: what a reader must know: sitemap fallbacks, robots, late discoveries
    audit: Mapping[str, Any] | None = None  #: what became of the server's word, where pages were claimed on it
    swings: Swings | None = None  #: how far the site's changes swing together; None: nothing told
    skipped: Mapping[str, int] = field(default_factory=dict)  #: reason → sightings of URLs that were not taken
    outside: tuple[Outside, ...] = ()  #: these URLs, each once, up to a number
    subsites: tuple[SubsiteFacts, ...] = ()  #: those captured one by one in that order, else by path
    part: bool = False  #: one of several parts of a capture; its audit, times and notes are the whole's
    taught: Taught = NOTHING_TAUGHT
    revisits: bool = False  #: it goes on, and its strategy revisits: T is to come, however few pages are there so far
    refuted: bool = False  #: the records do not bear out what was judged, so that nothing is claimed
    stats: dict[str, float] = field(default_factory=dict)  #: decisions, deviation, delays in seconds

    @cached_property
    def figures(self) -> Figures:
        """What the pages add up to."""
        return Figures(self.pages, self.reference, self.subsites, self.swings)

    @cached_property
    def details(self) -> Details:
        """What can be said of single pages once all are known."""
        return Details(self.pages, self.figures)

    @cached_property
    def belied(self) -> bool:
        """Were 304s of the server caught lying?"""
        return any(one["of"] == "304" and one["caught"] for one in (self.audit or {}).get("strata", ()))


def each_part(facts: CaptureFacts) -> Iterator[tuple[SubsiteFacts, CaptureFacts, PageSums]]:
    """The parts of a capture, each as a capture of its own, with the sums over its pages."""
    for part in facts.subsites:
        own = replace(facts, pages=(), reference=part.reference, subsites=(), part=len(facts.subsites) > 1)
        yield part, own, facts.figures.parts[part.name]
