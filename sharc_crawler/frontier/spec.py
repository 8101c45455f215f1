"""What a site capture is asked to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

AUDIT = 0.02  #: share of what is claimed on the server's word that is checked by bytes, where nobody says otherwise

LAG = 86_400.0  #: seconds, where nobody says otherwise: many sites make their sitemaps anew once a day

HINTS = 0.1  #: share of the slots that second looks before T may take, where nobody says otherwise

HOPS = 50  #: hardly any real page lies deeper, any endless trail does

PAGE_RESOURCES = 1_000  #: hardly any real page has more; a second each, they take 17 minutes

BOUNDS = ("max_requests", "max_bytes", "max_time")  #: of a site capture's budget

ScopeKind = Literal["host", "domain", "prefix"]
Mode = Literal["capture", "continuous", "instant", "survey"]


@dataclass(frozen=True, slots=True)
class CaptureSpec:
    """The order for one site capture; plain values, kept as JSON in the store."""

    site: str  #: its name: unique within a frontier
    seeds: tuple[str, ...]
    strategy: str = "sharc-selective"
    scope: ScopeKind = "host"
    include: tuple[str, ...] = ()  #: regular expressions, one of which a page's URL must match
    exclude: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] | None = None  #: None: from robots.txt and the well-known place; (): none
    size: int = 0  #: estimated number of pages; 0: not known
    limit: int = 0  #: pages captured at most; 0: no limit
    hops: int = 0  #: links followed in a row, from a seed or sitemap, at most; 0: no limit
    traps: bool = True  #: leave what looks like a trap's pages
    max_requests: int = 0  #: of any kind, revisits included; 0: no bound
    max_bytes: int = 0  #: of payload received; 0: no bound
    max_time: float = 0.0  #: seconds that it may run; 0: no bound
    discover: bool = True  #: follow links
    resources: bool = True  #: fetch what pages embed
    page_resources: int = PAGE_RESOURCES  #: that are fetched of what one page was the first to embed; 0: no limit
    #: continuous: all pages are looked at again and again before T; instant: the seeds are hubs, polled for new pages,
    #: all else is left; survey: no page is visited
    mode: Mode = "capture"
    audit: float = AUDIT  #: share of the pages claimed on the server's word that is checked by bytes
    skip: str = "off"  #: ``attested``: no request for a page that by a trusted word is as a former capture has it
    lag: float = LAG  #: seconds after a change, at most, that sitemaps tell of it, as far as is known before
    hints: float = HINTS  #: share of the slots, at most, that pages said to have changed are visited again in before T
    lasts: float = 0.0  #: seconds from its beginning, where it is continuous
    looks: float = 3600.0  #: an hour, of such a one
    upkeep: str = "coherent"  #: which page such a one looks at when
    session: str = ""  #: whose it is made in, in a word: nothing that would end it is asked for; empty: nobody's
    subsites: str = ""  #: capture part by part, each with its own T: how the site is divided
    settings: dict[str, object] = field(default_factory=dict)  #: what else the report should name
