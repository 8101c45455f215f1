"""The facts of a capture, its parts and URLs: the input of claims, certificates and reports."""

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


LOST = "its record is not in the WARC files any more"  #: error of a visit that no longer counts


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
    #: Date and Last-Modified of an answer taken from a former capture, without a request
    said: tuple[Instant, Instant | None] | None = None
    age: Seconds | None = None  #: of a cache's copy


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
    former: tuple[VisitFacts, ...] = ()  #: visits before T that the second look ``visit`` replaced
    verdict: Verdict | None = None  #: None: not captured
    evidence: Evidence | None = None
    reason: str = ""  #: of the verdict, or why it was not captured
    target: str | None = None  #: where it redirects to
    truth: bool | None = None  #: did it really stay unchanged between visit and revisit? None: unknown
    true_changes: tuple[Instant, ...] | None = None  #: within the capture interval; None: unknown
    subsite: str = ""  #: its part of the site
    by_script: bool | None = None  #: an HTML page that shows nothing without its scripts; None: not read as HTML
    alike: bool = False  #: it kept its content, by learned masks or a 304 on content
    rate_shape: float = math.inf  #: of the Gamma posterior whose mean is ``rate``; inf: a point estimate
    embeds: tuple[Url, ...] = ()  #: resources that this page (or style sheet) needs, also shared ones
    archived_as: str = ""  #: its URL in WARC records, if spelled differently
    data: tuple[Url, ...] = ()  #: of these, data fetched by its scripts, which its verdict includes
    lastmod: Instant | None = None  #: its latest lastmod in sitemaps, by the server's clock

    @property
    def absent(self) -> bool:
        """Is it a resource that was missing at both downloads? Its verdict says whether this stayed so."""
        gone = self.visit is not None and self.visit.result in (Result.GONE, Result.REDIRECTED)
        return gone and self.kind is Kind.RESOURCE and not (self.revisit and self.revisit.result is Result.OK)

    @property
    def older(self) -> bool:
        """Is it changed compared with a former capture's copy that the server had called unmodified (304)?"""
        return self.verdict is Verdict.CHANGED and self.visit is not None and self.visit.status == 304


@dataclass(frozen=True, slots=True)
class SubsiteFacts:
    """A part of the site."""

    name: str
    reference: Instant | None  #: its T
    started: Instant
    ended: Instant | None
    planned: float | None = None  #: share of its pages expected to be coherent; None: not captured apart


class Taught(NamedTuple):
    """Masks that a capture learned from its site's noise."""

    masks: tuple[Mask, ...] = ()  #: new ones, without those that the capture was made with
    alike: frozenset[str] = frozenset()  #: URLs of pages that differ only in masked parts
    why: tuple[str, ...] = ()  #: other differences, and why they make no mask


NOTHING_TAUGHT = Taught()
LEARNED = "learned-masks.json"  #: file of learned masks in a capture's folder
SUPPORT = 2  #: pages that must show a mask


class Outside(NamedTuple):
    """A URL that was seen and left out."""

    url: str
    reason: str
    via: str


@dataclass(frozen=True)
class CaptureFacts:
    """One site capture. ``pages`` can be iterated many times; do not keep them, as there may be a million."""

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
    audit: Mapping[str, Any] | None = None  #: result of auditing the server's word; None: nothing rests on it
    swings: Swings | None = None  #: how far the pages' rates vary together; None: unknown
    skipped: Mapping[str, int] = field(default_factory=dict)  #: reason → sightings of URLs left out
    outside: tuple[Outside, ...] = ()  #: URLs left out, each once, up to a limit
    subsites: tuple[SubsiteFacts, ...] = ()  #: in the order of capture, or by path
    part: bool = False  #: one of several parts of a capture; its audit, times and notes are the whole's
    taught: Taught = NOTHING_TAUGHT
    revisits: bool = False  #: it is not complete and its strategy revisits: T is to come
    refuted: bool = False  #: the records contradict the judgements: nothing is claimed

    @cached_property
    def figures(self) -> Figures:
        """Sums over the pages."""
        return Figures(self.pages, self.reference, self.subsites, self.swings)

    @cached_property
    def details(self) -> Details:
        """Details that need all pages to be known."""
        return Details(self.pages, self.figures)

    @cached_property
    def belied(self) -> bool:
        """Were 304s of the server caught lying?"""
        strata = (self.audit or {}).get("strata", ())
        return any(stratum["of"] == "304" and stratum["caught"] for stratum in strata)


def each_part(facts: CaptureFacts) -> Iterator[tuple[SubsiteFacts, CaptureFacts, PageSums]]:
    """Yield the parts of a capture, each also as facts of its own, with the sums over its pages."""
    for part in facts.subsites:
        own = replace(facts, pages=(), reference=part.reference, subsites=(), part=len(facts.subsites) > 1)
        yield part, own, facts.figures.parts[part.name]
