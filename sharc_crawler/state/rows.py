"""Rows of frontier state, as written by each step and read back.

They are observations, never orders: visits made, URLs known, robots rules. A capture can resume with another strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sharc_crawler.evidence.kinds import Evidence
    from sharc_crawler.model import Hints, Instant, Kind, Outcome, PageId, Phase, Plan, Rate, Seconds, Slot, Verdict
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.state.rated import Rated
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.subsites.base import Branch


RatedRow = tuple[int, float, str, float]  #: page, rate, source, shape
SOLE = 0  #: number of a frontier's only capture; a file that several frontiers share has more


class PageRow(NamedTuple):
    """A URL as discovered."""

    page: PageId
    capture: int
    key: str  #: canonical URL, or another identity given by its discoverer
    url: str
    kind: Kind
    host: str
    depth: int
    parent: PageId
    via: str
    state: int  #: at discovery: queued, late, or lost
    rate: Rate
    source: str
    shape: float
    weight: float
    hints: Hints | None
    reason: str  #: why it is not fetched, or empty


class VisitRow(NamedTuple):
    """A fetch that ended: finished, or to be tried again."""

    page: PageId
    slot: Slot
    plan: Plan
    attempt: int
    finished: bool
    lease: int
    decided: Instant
    outcome: Outcome


class LinksRow(NamedTuple):
    """The pages that a document linked to when downloaded at ``time``."""

    page: PageId
    time: Instant
    targets: tuple[PageId, ...]


class NoveltyRow(NamedTuple):
    """A new page of an instant crawl, and the hub that showed it first."""

    page: PageId
    hub: PageId  #: or the sitemap that named it
    seen: Instant  #: end of the poll that showed it
    since: Instant | None  #: start of the hub's last poll without it; None: there was none
    published: Instant | None  #: publication date stated by a feed or news sitemap
    earliest: Instant | None  #: earliest and latest instant it may mean by our clock
    latest: Instant | None


class LastmodRow(NamedTuple):
    """A page's lastmod in a sitemap requested at ``read``."""

    page: PageId
    read: Instant
    lastmod: Instant
    precision: Seconds


class OutsideRow(NamedTuple):
    """A URL that was seen and is not admitted."""

    capture: int
    url: str
    reason: str
    via: str  #: where it was first seen


class JudgementRow(NamedTuple):
    """A page's judgement."""

    page: PageId
    verdict: Verdict
    evidence: Evidence
    reason: str


class CaptureRow(NamedTuple):
    """The state of a site capture."""

    capture: int
    spec: CaptureSpec
    phase: Phase
    started: Instant
    reference: Instant | None
    ended: Instant | None
    notes: tuple[str, ...]
    interruptions: tuple[tuple[Instant, Instant], ...] = ()  #: last sign of life, and the next process's start
    skipped: Mapping[str, int] = MappingProxyType({})  #: reason → number of sightings not admitted
    audit: Mapping[str, Any] | None = None  #: result of auditing the server's word; None: nothing rests on it
    swings: Swings | None = None  #: how far the pages' rates vary together; None: not known


class SubsiteRow(NamedTuple):
    """A part of a site with its own T."""

    capture: int
    number: int  #: from 0, in the order of capture
    name: str
    share: float  #: of its pages expected to be coherent, at its beginning
    begun: Instant
    reference: Instant | None  #: its T, once captured
    ended: Instant | None
    branches: tuple[Branch, ...]  #: which pages belong to it


class HostRow(NamedTuple):
    """What is known of a host."""

    name: str
    robots: str | None
    delay: float


class UrlRow(NamedTuple):
    """A URL with all its observations."""

    page: PageRow
    visits: tuple[VisitRow, ...]  #: in the order of their ends
    judgement: JudgementRow | None
    embeds: tuple[str, ...]  #: keys of the resources that it needs
    lastmods: tuple[LastmodRow, ...]  #: in the order of reading
    part: int | None  #: number of its part of the site, if any


@dataclass(slots=True)
class Batch:
    """All changes of one step."""

    pages: list[PageRow] = field(default_factory=list)
    visits: list[VisitRow] = field(default_factory=list)
    judgements: list[JudgementRow] = field(default_factory=list)
    captures: dict[int, CaptureRow] = field(default_factory=dict)
    hosts: dict[str, HostRow] = field(default_factory=dict)
    embeds: list[tuple[PageId, PageId]] = field(default_factory=list)  #: page, and a resource needed for its replay
    links: list[LinksRow] = field(default_factory=list)
    lastmods: list[LastmodRow] = field(default_factory=list)
    rates: Rated | list[RatedRow] = field(default_factory=list)  #: estimated again
    hints: list[tuple[PageId, Hints | None]] = field(default_factory=list)  #: of pages that were known without hints
    novelties: dict[PageId, NoveltyRow] = field(default_factory=dict)
    outside: list[OutsideRow] = field(default_factory=list)
    subsites: dict[tuple[int, int], SubsiteRow] = field(default_factory=dict)  #: by capture and number
    members: list[tuple[PageId, int]] = field(default_factory=list)  #: page, number of its part
    kept: dict[str, str] = field(default_factory=dict)  #: by name: what a driver needs to resume; the last text counts

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


class ExchangeRow(NamedTuple):
    """One exchange, or a URL refused without a request (``attempt`` 0); numbered from 1 without gaps."""

    number: int
    site: str
    seed: str  #: the capture's first seed
    ended: Instant
    url: str
    kind: str
    via: str
    referrer: str | None
    depth: int
    lease: int
    decided: Instant
    slot: str
    plan: str
    attempt: int
    rate: Rate
    source: str
    started: Instant
    result: str
    status: int | None
    error: str | None
    finished: bool
    length: int
    media_type: str | None
    digest: str | None
    location: str | None
    warc: str | None
    offset: int | None
    verdict: str | None  #: None: not judged yet
