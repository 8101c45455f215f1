"""The order for a site capture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sharc_crawler.addresses.scope import ScopeKind

AUDIT = 0.02  #: default of ``audit``

LAG = 86_400.0  #: default of ``lag``: many sites generate their sitemaps once a day

HINTS = 0.1  #: default of ``hints``

HOPS = 50  #: hardly any real page lies deeper, but endless trails do

PAGE_RESOURCES = 1_000  #: hardly any real page has more; at a second each they take 17 minutes

BOUNDS = ("max_requests", "max_bytes", "max_time")  #: bounds of the budget

Mode = Literal["capture", "continuous", "instant", "survey"]


@dataclass(frozen=True, slots=True)
class CaptureSpec:
    """The order for one site capture: plain values, stored as JSON."""

    site: str  #: name of the site, unique within a crawl
    seeds: tuple[str, ...]
    strategy: str = "sharc-selective"
    scope: ScopeKind = "host"
    include: tuple[str, ...] = ()  #: regular expressions, one of which a page's URL must match
    exclude: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] | None = None  #: None: from robots.txt and the well-known place; (): none
    size: int = 0  #: estimated number of pages; 0: not known
    limit: int = 0  #: maximum of pages; 0: no limit
    hops: int = 0  #: maximum of links in a row from a seed or sitemap; 0: no limit
    traps: bool = True  #: leave out pages that look like a trap's
    max_requests: int = 0  #: of any kind, revisits included; 0: no bound
    max_bytes: int = 0  #: of payload received; 0: no bound
    max_time: float = 0.0  #: seconds of running; 0: no bound
    discover: bool = True  #: follow links
    resources: bool = True  #: fetch what pages embed
    page_resources: int = PAGE_RESOURCES  #: maximum fetched of those a page is the first to embed; 0: no limit
    #: continuous: pages are visited again and again before T; instant: seeds are hubs, polled for new pages, and old
    #: pages are left; survey: no page is visited
    mode: Mode = "capture"
    audit: float = AUDIT  #: share, of pages claimed on the server's word, that is downloaded to check it
    skip: str = "off"  #: ``attested``: no request for pages that trusted lastmods call unchanged since a former capture
    lag: float = LAG  #: seconds within which sitemaps are assumed to show a change, before that is measured
    hints: float = HINTS  #: maximum share of slots for visiting pages again before T that hints call changed
    lasts: float = 0.0  #: seconds that a continuous capture goes on
    looks: float = 3600.0  #: visits per hour of a continuous capture
    upkeep: str = "coherent"  #: which page a continuous capture visits when
    session: str = ""  #: whose log-in session it runs in: log-out links are not followed; empty: none
    subsites: str = ""  #: capture part by part, each with its own T: how the site is divided
    settings: dict[str, object] = field(default_factory=dict)  #: further settings that the report shows
