"""Rows of frontier state: what one step changed, and what is read back.

Observations, never orders: visits made, URLs known, robots rules. A capture may be resumed under another strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sharc_crawler.evidence.kinds import Evidence
    from sharc_crawler.frontier.rated import Rated
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Hints, Instant, Kind, Outcome, PageId, Phase, Plan, Rate, Seconds, Slot, Verdict
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.subsites.base import Branch


RatedRow = tuple[int, float, str, float]  #: page, rate, source, shape
SOLE = 0  #: number of a frontier's site capture; a file that the frontiers of a spider share has more


class PageRow(NamedTuple):
    """A URL as it was discovered."""

    page: PageId
    capture: int
    key: str  #: canonical URL, or the identity its discoverer gave
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
    reason: str  #: why it is not fetched; empty otherwise


class VisitRow(NamedTuple):
    """A fetch that ended, finished or to be tried again."""

    page: PageId
    slot: Slot
    plan: Plan
    attempt: int
    finished: bool
    lease: int
    decided: Instant
    outcome: Outcome


class LinksRow(NamedTuple):
    """The pages that a document linked to, by a download that began at ``time``."""

    page: PageId
    time: Instant
    targets: tuple[PageId, ...]


class NoveltyRow(NamedTuple):
    """A page that a hub showed first, of an instant crawl."""

    page: PageId
    hub: PageId  #: or the sitemap that named it
    seen: Instant  #: end of the poll that showed it
    since: Instant | None  #: start of the hub's last poll that did not; None: there was none
    published: Instant | None  #: by a feed or news sitemap, as it says
    earliest: Instant | None  #: what that may mean by our clock
    latest: Instant | None


class LastmodRow(NamedTuple):
    """What a sitemap that was asked for at ``read`` said of a page's last change."""

    page: PageId
    read: Instant
    lastmod: Instant
    precision: Seconds


class OutsideRow(NamedTuple):
    """A URL that a capture was shown and does not take."""

    capture: int
    url: str
    reason: str
    via: str  #: where it was first seen


class JudgementRow(NamedTuple):
    """What came of a page."""

    page: PageId
    verdict: Verdict
    evidence: Evidence
    reason: str


class CaptureRow(NamedTuple):
    """A site capture as it stands."""

    capture: int
    spec: CaptureSpec
    phase: Phase
    started: Instant
    reference: Instant | None
    ended: Instant | None
    notes: tuple[str, ...]
    interruptions: tuple[tuple[Instant, Instant], ...] = ()  #: last sign of life, start of what went on
    skipped: Mapping[str, int] = MappingProxyType({})  #: reason → sightings that were not admitted
    audit: Mapping[str, Any] | None = None  #: what became of the server's word; None: nothing was claimed on it
    swings: Swings | None = None  #: how far the site's changes swing together; None: nothing told


class SubsiteRow(NamedTuple):
    """A part of a site, captured by itself."""

    capture: int
    number: int  #: parts of a capture are numbered from 0, in the order in which they were captured
    name: str
    share: float  #: of its pages that were expected to be coherent when it was begun
    begun: Instant
    reference: Instant | None  #: its T, once it is captured
    ended: Instant | None
    branches: tuple[Branch, ...]  #: which pages belong to it


class HostRow(NamedTuple):
    """What is known of a host."""

    name: str
    robots: str | None
    delay: float


class UrlRow(NamedTuple):
    """A URL and all that came of it."""

    page: PageRow
    visits: tuple[VisitRow, ...]  #: in the order they ended
    judgement: JudgementRow | None
    embeds: tuple[str, ...]  #: keys of the resources that it needs
    lastmods: tuple[LastmodRow, ...]  #: in the order they were read
    part: int | None  #: number of the part of its site, where it was given to one


@dataclass(slots=True)
class Batch:
    """All that one step of the frontier changed."""

    pages: list[PageRow] = field(default_factory=list)
    visits: list[VisitRow] = field(default_factory=list)
    judgements: list[JudgementRow] = field(default_factory=list)
    captures: dict[int, CaptureRow] = field(default_factory=dict)
    hosts: dict[str, HostRow] = field(default_factory=dict)
    embeds: list[tuple[PageId, PageId]] = field(default_factory=list)  #: page, resource it needs to be replayed
    links: list[LinksRow] = field(default_factory=list)
    lastmods: list[LastmodRow] = field(default_factory=list)
    rates: Rated | list[RatedRow] = field(default_factory=list)  #: asked for anew
    hints: list[tuple[PageId, Hints | None]] = field(default_factory=list)  #: of pages that were known without
    novelties: dict[PageId, NoveltyRow] = field(default_factory=dict)
    outside: list[OutsideRow] = field(default_factory=list)
    subsites: dict[tuple[int, int], SubsiteRow] = field(default_factory=dict)  #: by capture and number
    members: list[tuple[PageId, int]] = field(default_factory=list)  #: page, number of its part
    kept: dict[str, str] = field(default_factory=dict)  #: by name: what a driver needs to go on; the last word counts

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


class ExchangeRow(NamedTuple):
    """One exchange, or one URL that was refused without any (``attempt`` 0); numbered from 1 without gaps."""

    number: int
    site: str
    seed: str  #: the first of the capture
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
    verdict: str | None  #: as known by now
