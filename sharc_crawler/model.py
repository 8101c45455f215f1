"""The records that every part shares: frozen values, without behaviour that needs a clock, a socket or a disk.

Times are :data:`Instant` (unix seconds, UTC), durations :data:`Seconds`, rates :data:`Rate` (changes per second).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, NewType

from sharc_crawler.bodies.spool import Octets
from sharc_crawler.evidence.kinds import Evidence

Url = NewType("Url", str)  #: a canonical URL (:mod:`sharc_crawler.addresses.urls`)
Instant = float  #: unix seconds, UTC
Seconds = float
Rate = float  #: changes per second
PageId = int  #: dense within one frontier, from 0, in the order of discovery


class Kind(StrEnum):
    """What a URL is to a capture (decided by how it was found)."""

    PAGE = "page"  #: named by links and sitemaps, admitted by the scope: one of the N pages
    RESOURCE = "resource"  #: embedded in a page: fetched after it, once per capture
    DATA = "data"  #: fetched by a page's scripts, and part of its state; else as a resource
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    PROBE = "probe"  #: a name that nobody gave, asked for to see an error page: no page, and counts nowhere
    HUB = "hub"  #: polled by an instant crawl for what it newly names: a seed, a feed, a news sitemap


EMBEDDED = frozenset({Kind.RESOURCE, Kind.DATA})  #: fetched with the page that brings it


class Slot(StrEnum):
    """Which of its downloads a page is given. A page owns one slot (``ONLY``) or two."""

    ONLY = "only"
    FIRST = "first"
    SECOND = "second"


class Plan(StrEnum):
    """What the strategy expects of a page (not what came of it: that is the judgement)."""

    HOPEFUL = "hopeful"
    HOPELESS = "hopeless"


class Result(StrEnum):
    """How a fetch ended."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"  #: 304 to a conditional request
    REDIRECTED = "redirected"
    GONE = "gone"  #: 404, 410
    REFUSED = "refused"  #: by robots.txt, or by another 4xx
    FAILED = "failed"  #: 5xx, time-out, reset, unreachable: may be tried again


class Change(StrEnum):
    """Three answers, never two: what was not seen is not called unchanged."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """What came of a page: was it, for sure, in one state at the reference instant?"""

    COHERENT = "coherent"
    CHANGED = "changed"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    """The phase of a site capture."""

    OPENING = "opening"  #: robots.txt and sitemaps are read
    VISIT = "visit"
    REVISIT = "revisit"
    CHECK = "check"  #: all is visited; what is claimed on the server's word is audited
    DONE = "done"


class HowMade(str):
    """A note that only tells how a capture was made: nothing in it speaks against the capture."""

    __slots__ = ()


class Hints(NamedTuple):
    """What a sitemap (or feed) says of a URL; ``None`` where it says nothing."""

    lastmod: Instant | None = None  #: start of the interval the text denotes
    lastmod_precision: Seconds = 0.0  #: its length: a bare date is 86,400
    changefreq: str | None = None
    priority: float | None = None  #: 0..1
    published: Instant | None = None  #: when the page came to be, by a feed or news sitemap: start of an interval, too
    published_precision: Seconds = 0.0  #: its length


class Sighting(NamedTuple):
    """A URL was seen: in a link, a sitemap, a redirect, a seed list."""

    url: str  #: absolute, as found; the frontier makes it canonical and requests the original
    kind: Kind = Kind.PAGE
    via: str = "seed"  #: URL of the page or sitemap it was found on, or ``seed``
    hints: Hints | None = None
    key: str | None = None  #: identity where the URL is not enough (a POST); default: the canonical URL
    host: str = ""  #: under whose politeness it is asked for, where that is not its URL's (a project's download slot)
    canonical: str | None = None  #: its canonical URL, where that took long and is known


class Visit(NamedTuple):
    """A strategy's decision: this page, in this slot."""

    page: PageId
    slot: Slot
    plan: Plan = Plan.HOPEFUL


class RateEstimate(NamedTuple):
    """A page's change rate and how well it is known."""

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
    """A request and its answer, as bytes on the wire (or rebuilt, and then said so)."""

    url: str
    started: Instant
    ended: Instant
    request: bytes  #: request line, headers, body
    response: Octets  #: status line, headers, body as received (chunked stays chunked)
    ip: str | None = None
    truncated: str | None = None  #: WARC-Truncated reason: ``length``, ``time``, ``disconnect``
    normalised: str = ""  #: what of it is not as it was on the wire; empty: nothing
    error: str | None = None  #: the exchange failed: what happened
    untrusted: str = ""  #: what is wrong with the TLS certificate of who answered; empty: nothing, or no TLS
    surplus: bytes = b""  #: beyond the end that the response announced, and not believed; blank lines before it
    sent: Instant = 0.0  #: by when the request had left; 0: unknown
    before: int = 0  #: times that it was sent before, over idle connections that were closed without an answer
    evidence: bool = False  #: of other pages: stored in this capture, even where a former one holds the same payload


class Validators(NamedTuple):
    """What a conditional request of this URL may carry."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


NO_VALIDATORS = Validators()


class Document(NamedTuple):
    """What the markup of a document holds, counted."""

    images: int
    tables: int
    outlinks: int  #: different http(s) URLs that it links to, of whatever site
    by_script: bool = False  #: it has scripts, and without them nothing to show
    words: str | None = None  #: digest of its text and pictures, without what is made up for each address or visitor


class Outcome(NamedTuple):
    """How a fetch ended and what it showed."""

    result: Result
    started: Instant  #: of the exchange that finished it
    ended: Instant
    status: int | None = None
    digest: str | None = None  #: payload digest, ``sha1:BASE32``: entity body, transfer-decoded, content-encoded
    fingerprint: str | None = None  #: digest of what counts as content
    validators: Validators = NO_VALIDATORS
    decoded: str | None = None  #: digest of the payload without its content coding, where it has one
    location: str | None = None  #: where a redirect points, absolute
    length: int = 0  #: bytes of payload
    media_type: str | None = None
    charset: str | None = None  #: as the server said, in lower case
    document: Document | None = None  #: None: not read, or no document
    date: Instant | None = None  #: the server's own clock when it answered
    age: Seconds | None = None  #: of a copy from a cache, as the cache says
    part: bool = False  #: its ``Content-Range`` says that it is a part, whatever its status
    capture: CaptureRef | None = None
    error: str | None = None
    retry_after: Seconds | None = None  #: asked for by the server
    robots: str | None = None  #: text of a robots.txt, for that fetch alone
    sent: Instant = 0.0  #: by when the request had left, where that is known: pauses count from it. Not kept


class Fetch(NamedTuple):
    """A lease: fetch this, now, and say how it ended. An expired lease is queued again."""

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
    """What two fetches of one URL say about the time between them."""

    change: Change
    evidence: Evidence
    reason: str  #: a code, with or without a detail (:mod:`sharc_crawler.evidence.reasons`)

    @classmethod
    def unknown(cls, reason: str) -> Comparison:
        """A comparison that shows nothing, for this reason."""
        return cls(Change.UNKNOWN, Evidence.NONE, reason)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a page, and on what grounds."""

    verdict: Verdict
    evidence: Evidence
    reason: str  #: a code, with or without a detail (:mod:`sharc_crawler.evidence.reasons`)
