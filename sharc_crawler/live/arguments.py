"""The arguments of ``scrapy crawl site -a …``: checked before the first request, then settings and site captures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from sharc_crawler.archive.options import DEDUP
from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.frontier.modes.subsites import check
from sharc_crawler.frontier.scope import ScopeKind, site_of
from sharc_crawler.frontier.spec import AUDIT, HOPS, CaptureSpec
from sharc_crawler.live import instant, values
from sharc_crawler.live.seeding.arguments import SEEDING, parse_choice
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.subsites.make import make_division

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.seeds.hacs.selection import Choice

SCOPES: tuple[str, ...] = get_args(ScopeKind)
#: every argument, with what it is
ARGUMENTS = {
    "url": "site to capture: one URL, or several separated by commas or blanks",
    "seeds": "file with one URL a line (# begins a comment)",
    **instant.ARGUMENTS,
    "strategy": "order of visits and revisits",
    "subsites": "capture part by part, each around a reference instant of its own: by path, sitemap or links",
    "sitemap": "auto (robots.txt and the well-known place), off, or the sitemap's URL",
    "scope": f"what belongs to a site: {', '.join(SCOPES)}",
    "size": "estimated number of pages per site",
    "include": "regular expression: only pages whose URL it finds",
    "exclude": "regular expression: no pages whose URL it finds",
    "limit": "pages captured per site at most",
    "hops": "links followed in a row from a seed or sitemap at most; 0: no limit",
    "traps": "0: pages of one template are followed even where most of them repeat a few contents",
    "max_requests": "requests per site at most, revisits included",
    "max_bytes": "bytes of payload per site at most, as 500M or 20G",
    "max_time": "how long a site is captured at most, as 30m, 8h or 2d",
    "delay": "seconds between two requests to a host",
    "output": "folder for WARCs, state and report",
    "rates": "where change rates come from: names, comma-separated",
    "history": "file with the archive's history of the site: rates, known pages, size",
    **SEEDING,
    "dedup": f"equal payloads are stored once per: {', '.join(DEDUP)}",
    "wacz": "1: package the captures as one WACZ file, too, when they are complete",
    "audit": "share of the pages claimed on the server's word (sharc-attested) that is checked by bytes, ten at least",
    "masks": "file of what does not count as a change of content, as `sharc masks` writes it",
    "control": "1: take orders while running, by `sharc control`",
    "dry_run": "1: check everything, show the plan, send nothing",
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments, checked; raises :class:`~sharc_crawler.errors.UsageError` for the first that is not right."""

    urls: tuple[str, ...]
    typed: tuple[str, ...]  #: those of ``url=``, as opposed to a file's
    instant: Terms | None
    strategy: str | None
    subsites: str
    sitemaps: tuple[str, ...] | None
    scope: ScopeKind
    size: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    limit: int
    hops: int | None
    traps: bool
    bounds: dict[str, float]  #: of the budget, those given
    delay: float | None
    output: str | None
    rates: str | None
    history: str | None
    choice: Choice | None
    dedup: str | None
    wacz: bool | None
    control: bool | None
    audit: float
    masks: str | None
    dry_run: bool

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Arguments:
        """From what stands behind ``-a``.

        >>> Arguments.parse({"url": "https://example.org", "limit": "10"}).limit
        10
        >>> Arguments.parse({"url": "https://example.org", "strat": "bfs"})
        Traceback (most recent call last):
        sharc_crawler.errors.UsageError: argument='strat' is not known; did you mean 'strategy'? Allowed: ...
        """
        for name in given:
            if name not in ARGUMENTS:
                raise unknown_name("argument", name, ARGUMENTS)
        typed = values.urls(given.get("url", ""))
        urls = (*typed, *values.seeds(given.get("seeds")))
        if not urls:
            raise UsageError("nothing to capture: give -a url=https://… or -a seeds=FILE")
        if (strategy := given.get("strategy")) is not None:
            make_strategy(strategy, Setting())
        if subsites := given.get("subsites", ""):
            make_division(subsites)
        return cls(
            urls=tuple(dict.fromkeys(urls)),
            typed=typed,
            instant=instant.terms(given),
            strategy=strategy,
            subsites=subsites,
            sitemaps=values.sitemaps(given.get("sitemap", "auto")),
            scope=cast("ScopeKind", values.one_of("scope", given.get("scope", "host"), SCOPES)),
            size=int(values.number(given, "size") or 0),
            include=values.pattern("include", given.get("include")),
            exclude=values.pattern("exclude", given.get("exclude")),
            limit=int(values.number(given, "limit") or 0),
            hops=None if (hops := values.number(given, "hops")) is None else int(hops),
            traps=values.flag(given, "traps") is not False,
            bounds=_bounds(given),
            delay=values.number(given, "delay", whole=False),
            output=given.get("output"),
            rates=given.get("rates"),
            history=given.get("history"),
            choice=parse_choice(given),
            dedup=values.one_of("dedup", given["dedup"], DEDUP) if "dedup" in given else None,
            wacz=values.flag(given, "wacz"),
            control=values.flag(given, "control"),
            audit=AUDIT if (audit := values.share(given, "audit")) is None else audit,
            masks=given.get("masks"),
            dry_run=bool(values.flag(given, "dry_run")),
        )

    def specs(self, strategy: str, settings: dict[str, object]) -> list[CaptureSpec]:
        """One site capture per scope: seeds of one site are captured together.

        Raises :class:`~sharc_crawler.errors.UsageError` for a strategy that cannot capture part by part.
        """
        check(make_strategy(strategy, Setting()), self.subsites)
        sites: dict[str, list[str]] = {}
        for url in self.urls:
            sites.setdefault(site_of(url, self.scope), []).append(url)
        specs = [
            CaptureSpec(
                site=site,
                seeds=tuple(urls),
                strategy=strategy,
                scope=self.scope,
                include=self.include,
                exclude=self.exclude,
                sitemaps=self.sitemaps,
                size=self.size,
                limit=self.limit,
                hops=_hops(strategy) if self.hops is None else self.hops,
                traps=self.traps,
                audit=self.audit,
                subsites=self.subsites,
                settings=settings,
            )
            for site, urls in sites.items()
        ]
        return [instant.as_instant(spec, self.instant) for spec in specs] if self.instant else specs


def _hops(strategy: str) -> int:
    """Deep first, the way by which a page was found says nothing of how far from the seed it lies."""
    return 0 if strategy.partition(":")[0] == "dfs" else HOPS


def _bounds(given: Mapping[str, str]) -> dict[str, float]:
    bounds: dict[str, float] = {}
    if (requests := values.number(given, "max_requests")) is not None:
        bounds["max_requests"] = requests
    if "max_bytes" in given:
        bounds["max_bytes"] = values.bytes_of("max_bytes", given["max_bytes"])
    if "max_time" in given:
        bounds["max_time"] = values.duration("max_time", given["max_time"])
    return bounds
