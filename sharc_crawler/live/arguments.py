"""The arguments of ``scrapy crawl site -a …``: checked before the first request, then settings and site captures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args
from urllib.parse import urlsplit

from sharc_crawler.archive.options import DEDUP
from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.frontier.scope import ScopeKind, site_of
from sharc_crawler.frontier.spec import AUDIT, HOPS, CaptureSpec
from sharc_crawler.frontier.subsites import check
from sharc_crawler.frontier.urls import canonical, with_scheme
from sharc_crawler.live import instant
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
        typed = _urls(given.get("url", ""))
        urls = (*typed, *_seeds(given.get("seeds")))
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
            sitemaps=_sitemaps(given.get("sitemap", "auto")),
            scope=cast("ScopeKind", _one_of("scope", given.get("scope", "host"), SCOPES)),
            size=int(_number(given, "size") or 0),
            include=_pattern("include", given.get("include")),
            exclude=_pattern("exclude", given.get("exclude")),
            limit=int(_number(given, "limit") or 0),
            hops=None if (hops := _number(given, "hops")) is None else int(hops),
            traps=_one_of("traps", given.get("traps", "1"), ("0", "1")) == "1",
            bounds=_bounds(given),
            delay=_number(given, "delay", whole=False),
            output=given.get("output"),
            rates=given.get("rates"),
            history=given.get("history"),
            choice=parse_choice(given),
            dedup=_one_of("dedup", given["dedup"], DEDUP) if "dedup" in given else None,
            wacz=_one_of("wacz", given["wacz"], ("0", "1")) == "1" if "wacz" in given else None,
            control=_one_of("control", given["control"], ("0", "1")) == "1" if "control" in given else None,
            audit=_share(given, "audit", AUDIT),
            masks=given.get("masks"),
            dry_run=_one_of("dry_run", given.get("dry_run", "0"), ("0", "1")) == "1",
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


def _urls(text: str) -> tuple[str, ...]:
    return tuple(_url("url", part) for part in re.split(r"[\s,]+(?=https?:|[^\s,]+\.)|\s+", text) if part)


def _url(what: str, text: str) -> str:
    """A URL as it will be requested; ``https://`` is put before a bare host name."""
    url = with_scheme(text)
    if canonical(url) is None or not urlsplit(url).hostname:
        raise UsageError(f"{what}={text!r} is not an http(s) URL; write it as https://www.example.org/")
    return url


def _seeds(name: str | None) -> tuple[str, ...]:
    if name is None:
        return ()
    try:
        lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"seeds={name!r} cannot be read: {error}") from error
    urls = []
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip() if line.lstrip().startswith("#") else line.strip()
        if text:
            urls.append(_url(f"seeds={name!r}, line {number}", text))
    if not urls:
        raise UsageError(f"seeds={name!r} holds no URL")
    return tuple(urls)


def _sitemaps(text: str) -> tuple[str, ...] | None:
    if text == "auto":
        return None
    if text == "off":
        return ()
    if "://" not in text:
        raise UsageError(f"sitemap={text!r} is none of auto, off or a URL such as https://www.example.org/sitemap.xml")
    return (_url("sitemap", text),)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise unknown_name(name, value, allowed)
    return value


def _number(given: Mapping[str, str], name: str, whole: bool = True) -> float | None:
    if name not in given:
        return None
    value = given[name]
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise UsageError(f"{name}={value!r} must be a {'whole ' if whole else ''}number of at least 0")
    return number


def _bounds(given: Mapping[str, str]) -> dict[str, float]:
    bounds: dict[str, float] = {}
    if (requests := _number(given, "max_requests")) is not None:
        bounds["max_requests"] = requests
    if "max_bytes" in given:
        bounds["max_bytes"] = _bytes("max_bytes", given["max_bytes"])
    if "max_time" in given:
        bounds["max_time"] = instant.duration("max_time", given["max_time"])
    return bounds


def _bytes(name: str, text: str) -> float:
    """Bytes from a number and a unit.

    >>> _bytes("max_bytes", "500M"), _bytes("max_bytes", "1.5G")
    (500000000.0, 1500000000.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?", text.strip())
    if not found:
        raise UsageError(f"{name}={text!r} is no number of bytes; write it as 500M or 20G")
    return float(found[1]) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found[2]]


def _share(given: Mapping[str, str], name: str, default: float) -> float:
    try:
        share = float(given.get(name, default))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{name}={given[name]!r} must be a share from 0 to 1, such as {default}")
    return share


def _pattern(name: str, text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(f"{name}={text!r} is not a regular expression: {error}") from error
    return (text,)
