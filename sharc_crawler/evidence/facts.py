"""The facts of a capture, its parts and URLs, which claims, certificates and reports are made from; their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.evidence.details import Details
from sharc_crawler.evidence.figures import Figures, PageSums
from sharc_crawler.model import Instant, Kind, Plan, Rate, Result, Seconds, Slot, Url, Verdict

if TYPE_CHECKING:
    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.kinds import Evidence
    from sharc_crawler.rates.swings import Swings


LOST = "its record is not in the WARC files any more"  #: error of a visit that counts no longer


@dataclass(frozen=True, slots=True)
class VisitFacts:
    """A finished visit or revisit."""

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
    """A URL of the capture."""

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
    archived_as: str = ""  #: its URL in the WARC records, where that is spelt otherwise
    data: tuple[Url, ...] = ()  #: of these: what its scripts fetched; its verdict is that of all
    lastmod: Instant | None = None  #: the latest that sitemaps told of it, by the server's clock

    @property
    def absent(self) -> bool:
        """Is it a resource that was not there, nor seen later? Its verdict, if any, says whether this stayed so."""
        gone = self.visit is not None and self.visit.result in (Result.GONE, Result.REDIRECTED)
        return gone and self.kind is Kind.RESOURCE and not (self.revisit and self.revisit.result is Result.OK)

    @property
    def older(self) -> bool:
        """Is it judged changed by a former capture's copy, which the server had called unmodified (304)?"""
        return self.verdict is Verdict.CHANGED and self.visit is not None and self.visit.status == 304


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
    alike: frozenset[str] = frozenset()  #: URLs of pages that differ in nothing but what these leave out
    why: tuple[str, ...] = ()  #: what else differs, and why it is no mask


NOTHING_TAUGHT = Taught()
LEARNED = "learned-masks.json"  #: in a capture's folder: what it taught
SUPPORT = 2  #: pages that must show a mask


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
    part: bool = False  #: one of several parts of a capture; its audit, times and notes are the whole's
    taught: Taught = NOTHING_TAUGHT
    revisits: bool = False  #: it goes on, and its strategy revisits: T is to come, however few pages are there so far
    refuted: bool = False  #: the records do not bear out what was judged, so that nothing is claimed

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
        """Whether 304s of the server were caught lying."""
        return any(one["of"] == "304" and one["caught"] for one in (self.audit or {}).get("strata", ()))


def each_part(facts: CaptureFacts) -> Iterator[tuple[SubsiteFacts, CaptureFacts, PageSums]]:
    """The parts of a capture, each as a capture of its own, with the sums over its pages."""
    for part in facts.subsites:
        own = replace(facts, pages=(), reference=part.reference, subsites=(), part=len(facts.subsites) > 1)
        yield part, own, facts.figures.parts[part.name]
