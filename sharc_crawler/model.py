"""Records shared by all rooms: immutable values that need no clock, socket or disk.

Times are :data:`Instant` (unix seconds, UTC), durations :data:`Seconds`, rates :data:`Rate` (changes per second).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat
from typing import Any, NamedTuple, NewType

from sharc_crawler.bodies.spool import Octets
from sharc_crawler.evidence.kinds import Evidence

Url = NewType("Url", str)  #: a canonical URL (:mod:`sharc_crawler.addresses.urls`)
Instant = float  #: unix seconds, UTC
Seconds = float
Rate = float  #: changes per second
PageId = int  #: dense within one frontier, from 0, in the order of discovery


class Kind(StrEnum):
    """The role of a URL in a capture, by how it was found."""

    PAGE = "page"  #: named by links or sitemaps, and in scope
    RESOURCE = "resource"  #: embedded in a page: fetched after it, once per capture
    DATA = "data"  #: fetched by a page's scripts, and part of its state; else like a resource
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    PROBE = "probe"  #: a made-up URL, requested to see an error page; not counted
    HUB = "hub"  #: polled for new or changed pages: a seed, a feed, a news sitemap


EMBEDDED = frozenset({Kind.RESOURCE, Kind.DATA})  #: fetched with their page


class Slot(StrEnum):
    """Which of a page's downloads a visit is. A page has one slot (``ONLY``) or two."""

    ONLY = "only"
    FIRST = "first"
    SECOND = "second"


class Plan(StrEnum):
    """What the strategy expects of a page."""

    HOPEFUL = "hopeful"
    HOPELESS = "hopeless"


class Result(StrEnum):
    """How a fetch ended."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"  #: 304 to a conditional request
    REDIRECTED = "redirected"
    GONE = "gone"  #: 404, 410
    REFUSED = "refused"  #: by robots.txt, or by another 4xx
    FAILED = "failed"  #: 5xx, time-out, reset, unreachable: may be retried


class Change(StrEnum):
    """Did a page change? What was not seen is unknown, never unchanged."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """Was a page surely in one state from visit to revisit?"""

    COHERENT = "coherent"
    CHANGED = "changed"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    """The phase of a site capture."""

    OPENING = "opening"  #: robots.txt and sitemaps are read
    VISIT = "visit"
    REVISIT = "revisit"
    CHECK = "check"  #: all visits are made; claims on the server's word are audited
    DONE = "done"


class HowMade(str):
    """A note on how a capture was made, which is not a problem."""

    __slots__ = ()


class Hints(NamedTuple):
    """What a sitemap (or feed) says of a URL; ``None``: nothing."""

    lastmod: Instant | None = None  #: start of the interval the text denotes
    lastmod_precision: Seconds = 0.0  #: its length: a bare date is 86,400
    changefreq: str | None = None
    priority: float | None = None  #: 0..1
    published: Instant | None = None  #: publication date in a feed or news sitemap: start of an interval, too
    published_precision: Seconds = 0.0  #: its length


class Sighting(NamedTuple):
    """A URL seen in a link, a sitemap, a redirect or a seed list."""

    url: str  #: absolute, as found; the frontier makes it canonical and requests the original
    kind: Kind = Kind.PAGE
    via: str = "seed"  #: URL of the document that named it, or ``seed``
    hints: Hints | None = None
    key: str | None = None  #: identity, if the URL is not enough (a POST); default: the canonical URL
    host: str = ""  #: whose politeness applies, if not that of the URL's host (a project's download slot)
    canonical: str | None = None  #: the canonical URL, if computed already


@dataclass(slots=True, eq=False)
class LinkColumns(Sequence[Sighting]):
    """The links of one document, in columns; a sighting is made only of a link that is looked at by itself."""

    via: str
    urls: Sequence[str]
    kinds: Sequence[Kind]
    hints: Sequence[Hints | None] = ()  #: none, or one of each
    canonical: Mapping[str, str | None] = field(default_factory=dict)  #: of URLs whose canonical form took long

    def __len__(self) -> int:
        return len(self.urls)

    def __iter__(self) -> Iterator[Sighting]:
        told = self.hints or repeat(None), repeat(None), repeat(""), map(self.canonical.get, self.urls)
        return map(tuple.__new__, repeat(Sighting), zip(self.urls, self.kinds, repeat(self.via), *told, strict=False))

    def __getitem__(self, at: Any) -> Any:
        if type(at) is slice:
            return LinkColumns(self.via, self.urls[at], self.kinds[at], self.hints[at], self.canonical)
        hints = self.hints[at] if self.hints else None
        return Sighting(self.urls[at], self.kinds[at], self.via, hints, canonical=self.canonical.get(self.urls[at]))


Columns = tuple[Sequence[str], Sequence[Kind], Sequence[Hints | None], Sequence[str | None], Mapping[str, str | None]]


def columns_of(links: Sequence[Sighting]) -> Columns:
    """Return URLs, kinds, hints (none, or one of each), keys (the same); and canonical URLs, of some."""
    if type(links) is LinkColumns:
        return links.urls, links.kinds, links.hints, (), links.canonical
    urls, kinds, _, hints, keys, _, canonical = zip(*links, strict=True) if links else [()] * 7
    told = dict(zip(urls, canonical, strict=True)) if any(canonical) else {}
    return urls, kinds, hints if any(hints) else (), keys if any(keys) else (), told


class Visit(NamedTuple):
    """A strategy's decision: this page, in this slot."""

    page: PageId
    slot: Slot
    plan: Plan = Plan.HOPEFUL


class RateEstimate(NamedTuple):
    """A page's change rate and its uncertainty."""

    rate: Rate
    source: str  #: ``sitemap``, ``history``, ``predictor``, ``prior``…
    shape: float = math.inf  #: of the Gamma posterior whose mean is ``rate``; inf: a point estimate
    observations: int = 0
    spread: float = 0.0  #: standard deviation, changes per second


class CaptureRef(NamedTuple):
    """The place of an exchange's response (or revisit) record."""

    file: str  #: name of the WARC file, without folder
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, as bytes on the wire (or rebuilt, and marked so)."""

    url: str
    started: Instant
    ended: Instant
    request: bytes  #: request line, headers, body
    response: Octets  #: status line, headers, body as received (chunked stays chunked)
    ip: str | None = None
    truncated: str | None = None  #: WARC-Truncated reason: ``length``, ``time``, ``disconnect``
    normalised: str = ""  #: what differs from the bytes on the wire; empty: nothing
    error: str | None = None  #: the exchange failed: what happened
    untrusted: str = ""  #: what is wrong with the server's TLS certificate; empty: nothing, or no TLS
    surplus: bytes = b""  #: bytes beyond the announced end of the response; blank lines before it
    sent: Instant = 0.0  #: when the request had left; 0: unknown
    before: int = 0  #: times it was sent before, over idle connections closed without an answer
    evidence: bool = False  #: evidence for other pages: stored even if a former capture has the same payload


class Validators(NamedTuple):
    """Validators for a conditional request."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


NO_VALIDATORS = Validators()


class Document(NamedTuple):
    """Counts of a document's markup."""

    images: int
    tables: int
    outlinks: int  #: different http(s) URLs that it links to, of any site
    by_script: bool = False  #: it shows nothing without its scripts
    words: str | None = None  #: digest of its text and pictures, without parts generated per URL or visitor


class Outcome(NamedTuple):
    """How a fetch ended, and what it showed."""

    result: Result
    started: Instant  #: of the exchange that finished it
    ended: Instant
    status: int | None = None
    digest: str | None = None  #: payload digest, ``sha1:BASE32``: entity body, transfer-decoded, content-encoded
    fingerprint: str | None = None  #: digest of what counts as content
    validators: Validators = NO_VALIDATORS
    decoded: str | None = None  #: digest of the payload without its content coding, if any
    location: str | None = None  #: target of a redirect, absolute
    length: int = 0  #: bytes of payload
    media_type: str | None = None
    charset: str | None = None  #: as stated by the server, in lower case
    document: Document | None = None  #: None: not read, or no document
    date: Instant | None = None  #: the server's clock at the answer
    age: Seconds | None = None  #: stated age of a cache's copy
    part: bool = False  #: by its ``Content-Range`` it is only a part, whatever its status
    capture: CaptureRef | None = None
    error: str | None = None
    retry_after: Seconds | None = None  #: the server's Retry-After
    robots: str | None = None  #: text of a robots.txt
    sent: Instant = 0.0  #: when the request had left, if known: pauses count from it. Not stored


class Fetch(NamedTuple):
    """A lease: fetch this now, and report how it ended. An expired lease is queued again."""

    lease: int
    page: PageId
    site: str  #: name of the site capture
    url: str  #: what to request (the original, not the canonical URL)
    kind: Kind
    slot: Slot
    plan: Plan
    host: str
    attempt: int  #: from 1
    validators: Validators  #: of the first visit, for a revisit
    decided: Instant


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may be fetched before ``until`` (inf: not before something is finished or scheduled)."""

    until: Instant


@dataclass(frozen=True, slots=True)
class Done:
    """Every capture is complete and nothing is in flight."""


class Comparison(NamedTuple):
    """The result of comparing two fetches of a URL."""

    change: Change
    evidence: Evidence
    reason: str  #: a code, perhaps with a detail (:mod:`sharc_crawler.evidence.reasons`)

    @classmethod
    def unknown(cls, reason: str) -> Comparison:
        """Make a comparison that shows nothing."""
        return cls(Change.UNKNOWN, Evidence.NONE, reason)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A page's verdict and its evidence."""

    verdict: Verdict
    evidence: Evidence
    reason: str  #: a code, with or without a detail (:mod:`sharc_crawler.evidence.reasons`)
