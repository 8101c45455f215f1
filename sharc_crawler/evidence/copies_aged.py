"""How old a copy from a cache is, by the headers of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sharc_crawler.model import Seconds

_HIT = re.compile(r";\s*hit\s*(?:[;,]|$)", re.IGNORECASE)
_STALE = re.compile(r"(?:^|,)\s*(?:11[0-3]|214)\s")
_TIMED = re.compile(r"(?:^|,)\s*cdn-cache\s*;\s*desc=\"?hit", re.IGNORECASE)
_COPY = re.compile(r"(?<![a-z])(?<!refresh_)(?<!no[ -])(hit|stale|updating)(?![a-z])", re.IGNORECASE)


def age(said: Mapping[bytes, Sequence[str]], called: Sequence[bytes], untold: Seconds) -> Seconds | None:
    """The age of a copy from a cache: ``untold`` where it says that it is one (RFC 9211; Warning of RFC 7234; by
    headers of no standard, ``called`` so), but not how old, or in no way that can be read; ``None``: it says nothing.

    A mere lookup (Squid's ``X-Cache-Lookup``) counts where no ``X-Cache`` says what came of it.
    """
    ages = [text.strip() for text in ",".join(said.get(b"age", ())).split(",") if text.strip()]
    if ages:
        return max(float(age) if age.isascii() and age.isdigit() else untold for age in ages)
    rules = ((_HIT, b"cache-status"), (_STALE, b"warning"), (_TIMED, b"server-timing"))
    if any(rule.search(", ".join(said.get(name, ()))) for rule, name in rules):
        return untold
    looked_up = {b"x-cache-lookup"} if b"x-cache" in called else set()
    words = ", ".join(text for name in called if name not in looked_up for text in said[name])
    return untold if _COPY.search(words) else None
