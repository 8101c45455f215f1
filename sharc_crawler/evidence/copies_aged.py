"""How old a copy from a cache is, by the headers of an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from sharc_crawler.model import Seconds

_HIT = re.compile(r";\s*hit\s*(?:[;,]|$)", re.IGNORECASE)
_STALE = re.compile(r"(?:^|,)\s*(?:11[0-3]|214)\s")
_COPY = re.compile(r"(?<![a-z])(?<!refresh_)(hit|stale|updating)(?![a-z])", re.IGNORECASE)


def age(said: Mapping[bytes, Sequence[str]], called: Set[bytes], untold: Seconds) -> Seconds | None:
    """The age of a copy from a cache: ``untold`` where it says that it is one (RFC 9211; Warning of RFC 7234; by
    headers of no standard, ``called`` so), but not how old, or in no way that can be read; ``None``: it says nothing.
    """
    ages = [text.strip() for text in ",".join(said.get(b"age", ())).split(",") if text.strip()]
    if ages:
        return max(float(age) if age.isascii() and age.isdigit() else untold for age in ages)
    status, warning = (", ".join(said.get(name, ())) for name in (b"cache-status", b"warning"))
    words = ", ".join(text for name in said.keys() & called for text in said[name])
    return untold if _HIT.search(status) or _STALE.search(warning) or _COPY.search(words) else None
