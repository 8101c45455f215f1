"""All settings of a live crawl, read once, checked once, then frozen. Every name is prefixed ``SHARC_``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.options import DEDUP
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.frontier.hosts import MAX_DELAY, Politeness
from sharc_crawler.frontier.spec import BOUNDS
from sharc_crawler.live.addresses import AddressRules
from sharc_crawler.live.values import bytes_of
from sharc_crawler.rates.make import make_sources
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES, SitemapRules
from sharc_crawler.report.log import FORMATS
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from sharc_crawler.changes.masks import Mask

#: every setting with its default; what a profile or a user does not set is this
DEFAULTS: dict[str, object] = {
    "SHARC_STRATEGY": "sharc-online",  # an order alone doubles nobody's traffic; the profiles choose sharc-selective
    "SHARC_OUTPUT": None,  # folder of the capture: state, WARCs, report; None: nothing is kept
    "SHARC_HISTORY": None,  # file with the history of the archive's sites: learned from, and added to
    "SHARC_MASKS": None,  # file of what does not count as a change of content
    "SHARC_MIN_FREE": 100_000_000,  # bytes on the disk of SHARC_OUTPUT, below which the crawl pauses
    "SHARC_WARC": True,  # write WARCs into the output folder
    "SHARC_WARC_LEVEL": 6,  # gzip level, 0 (stored) to 9
    "SHARC_WARC_SIZE": 1_000_000_000,  # bytes after which a new WARC file is begun
    "SHARC_DEDUP": "capture",  # equal payloads are stored once per capture, per site (needs SHARC_HISTORY), or off
    "SHARC_LOG": "json",  # formats of the log in the output folder: json, heritrix, both, or off
    "SHARC_LOG_SIZE": 100_000_000,  # bytes after which a new log file is begun
    "SHARC_WACZ": False,  # package the captures as one WACZ file, too, when they are complete
    "SHARC_SIZE": 0,  # estimated pages per site; 0: as many as are known
    "SHARC_MAX_REQUESTS": 0,  # of one site capture, revisits included; 0: no bound
    "SHARC_MAX_BYTES": 0,  # of payload received for one site capture
    "SHARC_MAX_TIME": 0,  # seconds that one site capture may run
    "SHARC_RATES": "captures,sitemap",  # sources of change rates, in the order in which they are asked
    "SHARC_CHANGEFREQ": {},  # class → seconds between changes, where a sitemap's daily is not a day
    "SHARC_OBEY_ROBOTS": True,
    "SHARC_MAX_DELAY": MAX_DELAY,  # seconds between two requests; a host whose robots.txt asks for more is left out
    "SHARC_ATTEMPTS": 3,  # of one fetch, in all
    "SHARC_BACK_OFF": 5.0,  # seconds before the second attempt, doubled for each further one
    "SHARC_ALLOWED_ADDRESSES": [],  # private networks that may be contacted, as 127.0.0.0/8
    "SHARC_OPERATOR_REQUIRED": False,  # the live profile's: no public site is crawled without SHARC_OPERATOR
    "SHARC_OPERATOR": None,  # contact of who runs the crawl: URL or mail address; goes into User-Agent and From
    "SHARC_REVISIT_CALLBACKS": False,  # hand revisits to the project's callbacks too
    "SHARC_CONTROL": False,  # obey `sharc control`, by a file in the output folder
    "SHARC_PROGRESS": True,
}


@dataclass(frozen=True, slots=True)
class Config:
    """A live crawl's settings, checked."""

    strategy: str
    output: Path | None
    history: str | None
    masks: tuple[Mask, ...]
    masks_file: str  #: as named; empty: none
    min_free: int
    warc: bool
    warc_level: int
    warc_size: int
    dedup: str
    log: tuple[str, ...]  #: formats
    log_size: int
    wacz: bool
    size: int
    bounds: Mapping[str, float]  #: max_requests, max_bytes, max_time of a site capture
    rates: str  #: names of sources, comma-separated
    sitemap_rules: SitemapRules
    politeness: Politeness
    operator: str | None
    user_agent: str | None
    revisit_callbacks: bool
    control: bool
    progress: bool

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Config:
        """Read and check; raises :class:`~sharc_crawler.errors.UsageError` naming the setting and its value."""
        _refuse_unknown(settings)
        settings = with_defaults(settings)
        AddressRules.of(settings.getlist("SHARC_ALLOWED_ADDRESSES"))
        make_strategy(settings.get("SHARC_STRATEGY"), Setting())
        make_sources(settings.get("SHARC_RATES"), {})
        return cls(
            strategy=settings.get("SHARC_STRATEGY"),
            output=_folder(settings.get("SHARC_OUTPUT")),
            history=settings.get("SHARC_HISTORY"),
            masks=load_masks(Path(settings["SHARC_MASKS"])) if settings.get("SHARC_MASKS") else (),
            masks_file=settings.get("SHARC_MASKS") or "",
            min_free=int(_bytes(settings, "SHARC_MIN_FREE")),
            warc=_flag(settings, "SHARC_WARC"),
            warc_level=int(_number(settings, "SHARC_WARC_LEVEL", 0, 9)),
            warc_size=int(_bytes(settings, "SHARC_WARC_SIZE", 10_000)),
            dedup=_dedup(settings),
            log=_log(settings),
            log_size=int(_bytes(settings, "SHARC_LOG_SIZE", 10_000)),
            wacz=_flag(settings, "SHARC_WACZ"),
            size=int(_number(settings, "SHARC_SIZE", 0)),
            bounds={
                name: (_bytes if name == "max_bytes" else _number)(settings, f"SHARC_{name.upper()}") for name in BOUNDS
            },
            rates=settings.get("SHARC_RATES"),
            sitemap_rules=_sitemap_rules(settings.getdict("SHARC_CHANGEFREQ")),
            politeness=_politeness(settings),
            operator=settings.get("SHARC_OPERATOR"),
            user_agent=settings.get("USER_AGENT"),
            revisit_callbacks=_flag(settings, "SHARC_REVISIT_CALLBACKS"),
            control=_flag(settings, "SHARC_CONTROL"),
            progress=_flag(settings, "SHARC_PROGRESS"),
        )


def _refuse_unknown(settings: BaseSettings) -> None:
    for name in settings:
        if name.startswith("SHARC_") and name not in DEFAULTS:
            raise unknown_name("setting", name, DEFAULTS)


def with_defaults(settings: BaseSettings) -> BaseSettings:
    """The settings, with ours at their defaults where nobody has set them."""
    known = settings.copy()
    known.frozen = False
    for name, value in DEFAULTS.items():
        if name not in known:
            known.set(name, value, "default")
    return known


def _politeness(settings: BaseSettings) -> Politeness:
    slots = settings.getdict("DOWNLOAD_SLOTS")
    return Politeness(
        delay=_number(settings, "DOWNLOAD_DELAY", 0),
        concurrency=int(_number(settings, "CONCURRENT_REQUESTS_PER_DOMAIN", 1)),
        attempts=int(_number(settings, "SHARC_ATTEMPTS", 1)),
        back_off=_number(settings, "SHARC_BACK_OFF", 0),
        obey_robots=_flag(settings, "SHARC_OBEY_ROBOTS"),
        max_delay=_number(settings, "SHARC_MAX_DELAY", 0),
        agent=settings.get("ROBOTSTXT_USER_AGENT") or product_token(settings.get("USER_AGENT") or ""),
        hosts={host: float(slot["delay"]) for host, slot in slots.items() if "delay" in slot},
    )


def product_token(user_agent: str) -> str:
    """The name that robots.txt is read for (RFC 9309, 2.2.1).

    >>> product_token("sharc-crawler/1.0 (+https://library.example)")
    'sharc-crawler'
    """
    found = re.match(r"[A-Za-z_-]+", user_agent)
    return found[0] if found else user_agent


def _flag(settings: BaseSettings, name: str) -> bool:
    try:
        return settings.getbool(name)
    except ValueError as error:
        raise UsageError(f"{name}={settings.get(name)!r} must be True or False") from error


def _sitemap_rules(periods: dict[str, Any]) -> SitemapRules:
    for name, seconds in periods.items():
        if name not in CHANGEFREQ_RATES:
            raise unknown_name("class in SHARC_CHANGEFREQ", name, CHANGEFREQ_RATES)
        if not isinstance(seconds, int | float) or not seconds > 0:
            raise UsageError(f"SHARC_CHANGEFREQ: {name}={seconds!r} must be the seconds between two changes")
    return SitemapRules(changefreq={**CHANGEFREQ_RATES, **{name: 1 / period for name, period in periods.items()}})


def _dedup(settings: BaseSettings) -> str:
    value: str = settings.get("SHARC_DEDUP")
    if value not in DEDUP:
        raise unknown_name("SHARC_DEDUP", str(value), DEDUP)
    if value == "site" and not settings.get("SHARC_HISTORY"):
        raise UsageError("dedup='site' needs history=FILE, which knows what former captures of the site have stored")
    return value


def _log(settings: BaseSettings) -> tuple[str, ...]:
    names = tuple(settings.getlist("SHARC_LOG"))
    if names == ("off",):
        return ()
    for name in names:
        if name not in FORMATS:
            raise unknown_name("SHARC_LOG", name, [*FORMATS, "off"])
    return names


def _bytes(settings: BaseSettings, name: str, low: float = 0) -> float:
    value = settings.get(name)
    if not isinstance(value, str):
        return _number(settings, name, low)
    size = bytes_of(name, value)
    if size < low:
        raise UsageError(f"{name}={value!r} must be at least {low:g} bytes")
    return size


def _number(settings: BaseSettings, name: str, low: float = 0, high: float = float("inf")) -> float:
    value = settings.get(name)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not low <= number <= high:
        bounds = f"from {low:g} to {high:g}" if high < float("inf") else f"of at least {low:g}"
        raise UsageError(f"{name}={value!r} must be a number {bounds}")
    return number


def _folder(value: str | None) -> Path | None:
    return Path(value) if value else None
