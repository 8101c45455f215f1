"""The facts of one site capture that claims, certificates and reports are made from; no judgement is made here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.details import Details
    from sharc_crawler.evidence.figures import Figures, PageSums
    from sharc_crawler.evidence.kinds import Evidence
    from sharc_crawler.model import Instant, Kind, Plan, Rate, Result, Seconds, Slot, Url, Verdict
    from sharc_crawler.rates.swings import Swings


@dataclass(frozen=True, slots=True)
class VisitFacts:
    """One finished visit or revisit."""

    slot: Slot
    result: Result
    started: Instant
    ended: Instant
    status: int | None = None
    digest: str | None = None
    fingerprint: str | None = None
    length: int = 0
    attempts: int = 1
    decided: Instant | None = None
    error: str | None = None
    warc: str | None = None  #: file:offset
    #: Date and Last-Modified of an answer in a former capture, which was not asked for (no attempts)
    said: tuple[Instant, Instant | None] | None = None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """One URL of the capture."""

    url: Url
    kind: Kind
    via: str
    depth: int
    rate: Rate
    rate_source: str
    weight: float = 1.0
    plan: Plan | None = None  #: what the strategy expected when it was first visited
    visit: VisitFacts | None = None
    revisit: VisitFacts | None = None
    former: tuple[VisitFacts, ...] = ()  #: visits before T that ``visit`` took the place of, as hints had asked for it
    verdict: Verdict | None = None  #: None: not captured
    evidence: Evidence | None = None
    reason: str = ""  #: for the verdict, or for not being captured
    target: str | None = None  #: where it redirects to
    truth: bool | None = None  #: did it really stay the same between visit and revisit? None: not known
    true_changes: tuple[Instant, ...] | None = None  #: within the capture interval; None: not known
    subsite: str = ""  #: the part of the site that it is in
    by_script: bool | None = None  #: an HTML page that shows nothing without its scripts; None: not read as HTML
    alike: bool = False  #: it kept its content, as the capture taught: by masks, or a 304 that speaks of content
    rate_shape: float = math.inf  #: of the Gamma posterior whose mean is ``rate``; inf: a point estimate
    embeds: tuple[Url, ...] = ()  #: resources that this page (or style sheet) needs, shared ones too
    data: tuple[Url, ...] = ()  #: of these: what its scripts fetched; its verdict is that of all


@dataclass(frozen=True, slots=True)
class SubsiteFacts:
    """A part of the site."""

    name: str
    reference: Instant | None  #: its T
    started: Instant
    ended: Instant | None
    planned: float | None = None  #: share of its pages expected to be coherent; None: not captured by itself


class Taught(NamedTuple):
    """What a capture taught of its site's noise."""

    masks: tuple[Mask, ...] = ()  #: those that the capture was made with not among them
    #: URLs of pages that differ in nothing but what these leave out; or whose 304 speaks of content, if not of bytes
    alike: frozenset[str] = frozenset()
    why: tuple[str, ...] = ()  #: what else differs, and why it is no mask


NOTHING_TAUGHT = Taught()


class Outside(NamedTuple):
    """A URL that was named and is no page of the capture."""

    url: str
    reason: str
    via: str


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
    taught: Taught = NOTHING_TAUGHT
    stats: dict[str, float] = field(default_factory=dict)  #: decisions, deviation, delays in seconds

    @cached_property
    def figures(self) -> Figures:
        """What the pages add up to."""
        from sharc_crawler.evidence.figures import Figures  # which is made of facts

        return Figures(self)

    @cached_property
    def details(self) -> Details:
        """What can be said of single pages once all are known."""
        from sharc_crawler.evidence.details import Details  # which is made of facts

        return Details(self)


def each_part(facts: CaptureFacts) -> Iterator[tuple[SubsiteFacts, CaptureFacts, PageSums]]:
    """The parts of a capture, each as a capture of its own, with the sums over its pages."""
    for part in facts.subsites:
        yield part, replace(facts, pages=(), reference=part.reference, subsites=()), facts.figures.parts[part.name]
