"""| All settings of a live crawl, ours and the ones of Scrapy that matter, read and checked once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.options import FORMER
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.live.wire.addresses import AddressRules
from sharc_crawler.options.reading import ROWS, SETTINGS, read_settings
from sharc_crawler.options.table import Options
from sharc_crawler.storage.opening import trust

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(Options):
    """A live crawl's settings, checked."""

    politeness: Politeness
    user_agent: str | None

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Config:
        """Read and check; raises :class:`~sharc_crawler.errors.UsageError` naming the setting and its value."""
        ours = Options(**read_settings(settings))
        if settings.get("SHARC_STRATEGY") == "":  # the default would be used instead of the one that was meant
            raise UsageError(f"SHARC_STRATEGY='' names no strategy; name one, or leave it out: {ours.strategy}")
        AddressRules.of(ours.allowed_addresses)
        trust(ours.store)
        if ours.dedup in FORMER and not ours.history:
            raise UsageError(
                f"dedup={ours.dedup!r} needs history=FILE (or collection=DIR), which knows what former captures of the"
                " site have stored"
            )
        if ours.objects and not (ours.output and ours.warc):
            raise UsageError(f"objects={ours.objects!r} needs output=FOLDER, the working copy, and SHARC_WARC=True")
        if ours.sign and not ours.timestamp:
            from sharc_crawler.certificate.identities import read_identity  # only for a signature without a domain

            read_identity(Path(ours.sign), stamped=False)
        known = {row.field: getattr(ours, row.field) for row in SETTINGS.values()}
        return cls(**known, politeness=_politeness(settings, ours), user_agent=settings.get("USER_AGENT"))


def _politeness(settings: BaseSettings, ours: Options) -> Politeness:
    slots = settings.getdict("DOWNLOAD_SLOTS")
    at_once = settings.get("CONCURRENT_REQUESTS_PER_DOMAIN")
    if not str(at_once).isdecimal() or not int(at_once):
        raise UsageError(f"CONCURRENT_REQUESTS_PER_DOMAIN={at_once!r} must be a whole number of at least 1")
    return Politeness(
        **{row.field: getattr(ours, row.field) for row in ROWS if row.field in Politeness.__dataclass_fields__},
        concurrency=int(at_once),
        agent=settings.get("ROBOTSTXT_USER_AGENT") or product_token(settings.get("USER_AGENT") or ""),
        hosts={host: float(slot["delay"]) for host, slot in slots.items() if "delay" in slot},
        at_once={host: int(slot["concurrency"]) for host, slot in slots.items() if "concurrency" in slot},
    )


def product_token(user_agent: str) -> str:
    """The name that robots.txt rules are matched against (RFC 9309, 2.2.1).

    >>> product_token("sharc-crawler/1.0 (+https://library.example)")
    'sharc-crawler'
    """
    found = re.match(r"[A-Za-z_-]+", user_agent)
    return found[0] if found else user_agent
