"""The facts of a capture's URLs and parts that claims, certificates and reports are made from; none is judged here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.model import Verdict

if TYPE_CHECKING:
    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.kinds import Evidence
    from sharc_crawler.model import Instant, Kind, Plan, Rate, Result, Slot, Url


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
    archived_as: str = ""  #: its URL in the WARC records, where that is spelt otherwise
    data: tuple[Url, ...] = ()  #: of these: what its scripts fetched; its verdict is that of all
    lastmod: Instant | None = None  #: the latest that sitemaps told of it, by the server's clock

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


class Outside(NamedTuple):
    """A URL that was named and is no page of the capture."""

    url: str
    reason: str
    via: str
