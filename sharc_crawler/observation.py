"""Records of an archive's history: what captures learned of URLs."""

from __future__ import annotations

from dataclasses import dataclass

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Document, Instant, Kind, Result, Seconds, Url


@dataclass(frozen=True, slots=True)
class Observation:
    """What one capture learned of a URL at one instant; rates, seeds and plans read it."""

    site: str
    url: Url
    time: Instant
    result: Result
    change: Change = Change.UNKNOWN  #: against the observation before
    evidence: Evidence = Evidence.NONE
    digest: str | None = None
    fingerprint: str | None = None
    etag: str | None = None
    last_modified: Instant | None = None
    lastmod: Instant | None = None  #: in a sitemap
    lastmod_precision: Seconds = 0.0
    kind: Kind = Kind.PAGE  #: only pages count for a site's size
    media_type: str | None = None
    document: Document | None = None
    decoded: str | None = None  #: digest of the payload without its content coding, if any


@dataclass(frozen=True, slots=True)
class Linked:
    """The pages that a document linked to at one instant."""

    url: Url
    time: Instant
    targets: tuple[Url, ...]
