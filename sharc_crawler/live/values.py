"""The texts behind ``-a name=`` as values: numbers, shares, durations, bytes, URLs, expressions.

Each raises :class:`~sharc_crawler.errors.UsageError` that names the argument, its value and what is allowed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.urls import canonical, with_scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.model import Seconds

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
BYTES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if it is one of those."""
    if value not in allowed:
        raise unknown_name(name, value, allowed)
    return value


def flag(given: Mapping[str, str], name: str) -> bool | None:
    """Whether an argument is 1; ``None``: it was not given."""
    return one_of(name, given[name], ("0", "1")) == "1" if name in given else None


def number(given: Mapping[str, str], name: str, whole: bool = True) -> float | None:
    """A number of at least 0; ``None``: it was not given."""
    if name not in given:
        return None
    text = given[name]
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise UsageError(f"{name}={text!r} must be a {'whole ' if whole else ''}number of at least 0")
    return value


def share(given: Mapping[str, str], name: str) -> float | None:
    """A number from 0 to 1; ``None``: it was not given."""
    if name not in given:
        return None
    try:
        value = float(given[name])
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"{name}={given[name]!r} must be a number from 0 to 1")
    return value


def duration(name: str, text: str) -> Seconds:
    """Seconds from a number and a unit.

    >>> duration("every", "90"), duration("every", "1.5m"), duration("for", "2h")
    (90.0, 90.0, 7200.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not seconds:
        raise UsageError(f"{name}={text!r} is no duration; write it as 30s, 5m, 2h or 1d")
    return seconds


def bytes_of(name: str, text: str) -> float:
    """Bytes from a number and a unit.

    >>> bytes_of("max_bytes", "500M"), bytes_of("max_bytes", "1.5G")
    (500000000.0, 1500000000.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?", text.strip())
    if not found:
        raise UsageError(f"{name}={text!r} is no number of bytes; write it as 500M or 20G")
    return float(found[1]) * BYTES[found[2]]


def pattern(name: str, text: str | None) -> tuple[str, ...]:
    """The regular expression; none where it was not given."""
    if text is None:
        return ()
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(f"{name}={text!r} is not a regular expression: {error}") from error
    return (text,)


def urls(text: str) -> tuple[str, ...]:
    """Those of ``url=``, separated by commas or blanks."""
    return tuple(url("url", part) for part in re.split(r"[\s,]+(?=https?:|[^\s,]+\.)|\s+", text) if part)


def url(what: str, text: str) -> str:
    """A URL as it will be requested; ``https://`` is put before a bare host name."""
    whole = with_scheme(text)
    if canonical(whole) is None or not urlsplit(whole).hostname:
        raise UsageError(f"{what}={text!r} is not an http(s) URL; write it as https://www.example.org/")
    return whole


def seeds(name: str | None) -> tuple[str, ...]:
    """Those of a file, one a line."""
    if name is None:
        return ()
    try:
        lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"seeds={name!r} cannot be read: {error}") from error
    found = [
        url(f"seeds={name!r}, line {place}", line.strip())
        for place, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not found:
        raise UsageError(f"seeds={name!r} holds no URL")
    return tuple(found)


def sitemaps(text: str) -> tuple[str, ...] | None:
    """The URL of ``sitemap=``, none for ``off``; ``None`` for ``auto``: wherever the site says."""
    if text == "auto":
        return None
    if text == "off":
        return ()
    if "://" not in text:
        raise UsageError(f"sitemap={text!r} is none of auto, off or a URL such as https://www.example.org/sitemap.xml")
    return (url("sitemap", text),)
