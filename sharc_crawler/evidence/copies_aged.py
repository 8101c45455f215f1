"""How old a copy from a cache is, by the headers of an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sharc_crawler.evidence.headers import CALLED, UNTOLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.model import Seconds

_HIT = re.compile(r";\s*hit\s*(?:[;,]|$)", re.IGNORECASE)
_STALE = re.compile(r"(?:^|,)\s*(?:11[0-3]|214)\s")
_COPY = re.compile(r"(?<![a-z])(?<!refresh_)(hit|stale|updating)(?![a-z])", re.IGNORECASE)


def age(said: Mapping[bytes, Sequence[str]]) -> Seconds | None:
    """The age of a copy from a cache: :data:`UNTOLD` where it says that it is one (RFC 9211; Warning of RFC 7234; by
    headers of no standard), but not how old, or in no way that can be read; ``None``: it says nothing.
    """
    ages = [text.strip() for text in ",".join(said.get(b"age", ())).split(",") if text.strip()]
    if ages:
        return max(float(age) if age.isascii() and age.isdigit() else UNTOLD for age in ages)
    status, warning = (", ".join(said.get(name, ())) for name in (b"cache-status", b"warning"))
    called = ", ".join(text for name in said.keys() & CALLED for text in said[name])
    return UNTOLD if _HIT.search(status) or _STALE.search(warning) or _COPY.search(called) else None
