"""The age of a cache's copy, by the headers of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sharc_crawler.model import Seconds

_HIT = re.compile(r";\s*hit\s*(?:[;,]|$)", re.IGNORECASE)
_STALE = re.compile(r"(?:^|,)\s*(?:11[0-3]|214)\s")
_TIMED = re.compile(r"(?:^|,)\s*cdn-cache\s*;\s*desc=\"?hit", re.IGNORECASE)
_COPY = re.compile(r"(?<![a-z])(?<!refresh_)(?<!no[ -])(hit|stale|updating)(?![a-z])", re.IGNORECASE)


def age(values: Mapping[bytes, Sequence[str]], called: Sequence[bytes], untold: Seconds) -> Seconds | None:
    """Return the age of a cache's copy; ``untold`` if its age is missing or unreadable; ``None`` if it is no copy.

    Copies are told by ``Age``, by RFC 9211, by the ``Warning`` of RFC 7234, and by the non-standard headers ``called``.
    A mere lookup (Squid's ``X-Cache-Lookup``) counts only if there is no ``X-Cache``.
    """
    ages = [text.strip() for text in ",".join(values.get(b"age", ())).split(",") if text.strip()]
    if ages:
        return max(float(age) if age.isascii() and age.isdigit() else untold for age in ages)
    rules = ((_HIT, b"cache-status"), (_STALE, b"warning"), (_TIMED, b"server-timing"))
    if any(rule.search(", ".join(values.get(name, ()))) for rule, name in rules):
        return untold
    looked_up = {b"x-cache-lookup"} if b"x-cache" in called else set()
    words = ", ".join(text for name in called if name not in looked_up for text in values[name])
    return untold if _COPY.search(words) else None
