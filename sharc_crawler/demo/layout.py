"""| The pages of a demo site, their rates and links, and the odd corners that real sites have."""

from __future__ import annotations

import random
from dataclasses import dataclass

from sharc_crawler.demo.content import WORDS
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Rate, Seconds

HOUR = 3600.0
BRANCHING = 8  #: pages below itself that an index or page links to
FEWEST, MOST = 20, 50_000

SLOW = "/slow.html"
QUERY = "/search?q=tides"
FLAKY = "/flaky.html"  #: answers the first request with 500
_BY_SERVER = {"/", SLOW, QUERY, FLAKY}
PRIVATE = "/private/diary.html"  #: forbidden by robots.txt
MISSING = "/docs/missing.html"  #: linked, but not there
HOP = "/older/docs.html"  #: the middle of a redirect chain, linked from nowhere
REDIRECTS = {"/index.html": (301, "/"), "/latest": (302, "/news/"), "/old/docs.html": (301, HOP), HOP: (301, "/docs/")}
CHANGING_IMAGES = 20  #: one in so many images changes, once a day of the site's time


@dataclass(frozen=True, slots=True)
class Section:
    """A folder of pages."""

    name: str
    share: float  #: of the site's pages
    heat: float  #: how likely its pages are to be hot
    listed: bool = True  #: in the sitemap; otherwise found by links only


SECTIONS = (
    Section("news", 0.3, 4.0),
    Section("docs", 0.4, 0.5),
    Section("people", 0.1, 1.0, listed=False),
    Section("projects", 0.2, 1.0),
)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of a living site: equal ones make equal worlds.

    Rates follow Zipf's law: the page of rank r changes scale/3600 · r^-skew times a second. By default the hottest page
    changes every 5 seconds, a tenth of the pages within 14 minutes, and most hardly within an hour.
    """

    seed: int = 1
    pages: int = 300  #: pages that answer 200, from 20 to 50,000
    skew: float = 1.5  #: Zipf's exponent
    scale: float = 720.0  #: how many times faster than a real site it lives; 1: its hottest page changes hourly
    no_validators: float = 0.2  #: share of pages without ETag and Last-Modified
    script: float = 0.0  #: share of pages made by script from data; home and the odd ones are not
    lying: float = 0.0  #: share of pages whose validators and lastmod stay as of midnight UTC
    crawl_delay: Seconds | None = None  #: asked for in robots.txt
    slow: Seconds = 1.0  #: time the slow page takes to answer
    news: float = 0.0  #: articles that the newsroom publishes per hour of real time; 0: there is none
    news_sections: int = 12
    news_skew: float = 1.0  #: Zipf's exponent of the sections' rates; 0: equal rates
    news_feeds: bool = True  #: the newsroom has a feed and a news sitemap

    def __post_init__(self) -> None:
        self._check("pages", f"from {FEWEST} to {MOST}", FEWEST <= self.pages <= MOST)
        self._check("skew", "from 0 to 4", 0 <= self.skew <= 4)
        self._check("scale", "above 0, up to 1,000,000", 0 < self.scale <= 1e6)
        self._check("no_validators", "a share from 0 to 1", 0 <= self.no_validators <= 1)
        self._check("script", "a share from 0 to 1", 0 <= self.script <= 1)
        self._check("lying", "a share from 0 to 1", 0 <= self.lying <= 1)
        self._check("crawl_delay", "0 or more seconds", self.crawl_delay is None or 0 <= self.crawl_delay < 1e6)
        self._check("news", "from 0 to 100,000", 0 <= self.news <= 1e5)
        self._check("news_sections", f"from 1 to {len(WORDS)}", 1 <= self.news_sections <= len(WORDS))
        self._check("news_skew", "from 0 to 4", 0 <= self.news_skew <= 4)
        self._check("slow", "0 or more seconds", 0 <= self.slow < 1e6)

    def _check(self, name: str, allowed: str, holds: bool) -> None:
        if not holds:
            raise UsageError(f"{name}={getattr(self, name)!r} is no living site: it must be {allowed}")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site, independent of its state."""

    target: str  #: path, with its query where it has one
    title: str
    rate: Rate
    section: str  #: the sitemap that lists it; "": none
    priority: float
    links: tuple[str, ...]
    images: tuple[str, ...]
    validators: bool  #: whether it sends them
    lying: bool
    scripted: bool = False  #: its document is a constant shell, whose script fetches the content


def build_pages(site: Parameters) -> dict[str, Page]:
    """The pages by target, home first, then section by section; all are reached by links from home.

    >>> len(build_pages(Parameters(pages=50)))
    50
    """
    rng = random.Random(f"{site.seed} layout")
    links = _links(rng, _sections(rng, site.pages))
    rates = _rates(rng, site, list(links))
    pictures = list(build_images(site))
    return {
        target: Page(
            target=target,
            title=_title(target),
            rate=rates[target],
            section=_listed_in(target),
            priority=_priority(target),
            links=links[target],
            images=tuple(rng.sample(pictures, 2)),
            validators=random.Random(f"{site.seed} {target} validators").random() >= site.no_validators,
            lying=random.Random(f"{site.seed} {target} lying").random() < site.lying,
            scripted=target not in _BY_SERVER and random.Random(f"{site.seed} {target} script").random() < site.script,
        )
        for target in links
    }


def data_of(target: str) -> str:
    """The path of the data from which a page's script makes it.

    >>> data_of("/news/"), data_of("/docs/tide-7.html")
    ('/data/news/index.json', '/data/docs/tide-7.json')
    """
    return f"/data{target.removesuffix('.html')}{'index' if target.endswith('/') else ''}.json"


def build_images(site: Parameters) -> dict[str, Rate]:
    """Path and change rate of the images: one for four pages, hardly any of them ever changing."""
    a_day = site.scale / (24 * HOUR)
    return {
        f"/images/{WORDS[i % len(WORDS)]}-{i}.png": a_day if i % CHANGING_IMAGES == 0 else 0.0
        for i in range(site.pages // 4)
    }


def _sections(rng: random.Random, pages: int) -> list[list[str]]:
    """Targets by section, each section's index first, without home and three odd pages."""
    sections, begun, share = [], 0, 0.0
    for section in SECTIONS:
        share += section.share
        end = round((pages - 4) * share)
        names = [f"/{section.name}/{rng.choice(WORDS)}-{rng.choice(WORDS)}-{i}.html" for i in range(1, end - begun)]
        sections.append([f"/{section.name}/", *names])
        begun = end
    return sections


def _links(rng: random.Random, sections: list[list[str]]) -> dict[str, tuple[str, ...]]:
    """A tree below each section's index, links up, and some links across."""
    odd = [SLOW, QUERY, FLAKY]
    everything = [target for section in sections for target in section]
    moved = [path for path in REDIRECTS if path != HOP]
    links = {"/": (*(section[0] for section in sections), *odd, *moved, PRIVATE, MISSING)}
    for section in sections:
        for i, target in enumerate(section):
            below = section[BRANCHING * i + 1 : BRANCHING * (i + 1) + 1]
            links[target] = tuple(dict.fromkeys(["/", section[0], *below, *rng.sample(everything, 3)]))
    return links | dict.fromkeys(odd, ("/",))


def _rates(rng: random.Random, site: Parameters, targets: list[str]) -> dict[str, Rate]:
    """Zipf's law over ranks drawn by heat, without replacement (Efraimidis and Spirakis, 2006)."""
    heat = {section.name: section.heat for section in SECTIONS}
    keys = {target: rng.random() ** (1 / _heat(target, heat)) for target in targets}
    ranked = sorted(targets, key=keys.__getitem__, reverse=True)
    return {target: site.scale / HOUR * rank**-site.skew for rank, target in enumerate(ranked, 1)}


def _heat(target: str, heat: dict[str, float]) -> float:
    """The heat of a page; an index changes with any of its pages."""
    return heat.get(target.split("/")[1], 1.0) * (100 if target.endswith("/") else 1)


def _listed_in(target: str) -> str:
    folder = target.split("/")[1] if target.count("/") > 1 else "site"
    return "" if target == FLAKY or folder in {s.name for s in SECTIONS if not s.listed} else folder


def _priority(target: str) -> float:
    if target == "/":
        return 1.0
    return 0.8 if target.endswith("/") else 0.5


def _title(target: str) -> str:
    return (
        target.strip("/").replace(".html", "").replace("?q=", ": ").replace("/", ": ").replace("-", " ").capitalize()
        or "Home"
    )
