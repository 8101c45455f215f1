"""| The name of the output folder: from a pattern, as in ``FEEDS`` (``captures/%(name)s/%(time)s``), or by default."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sharc_crawler.errors import UsageError, nearest
from sharc_crawler.model import Instant

_PLACE = re.compile(r"%\((\w+)\)s")


def named(pattern: str | Path, known: Mapping[str, object], now: Instant) -> Path:
    """Fill in a pattern: ``%(time)s`` is the start of the crawl (UTC, with microseconds), other places come from
    ``known``.

    >>> named("captures/%(name)s/%(time)s", {"name": "news"}, 1795000000.0)
    PosixPath('captures/news/2026-11-18T11-06-40.000000')

    Raises UsageError for an unknown name.
    """
    places = {**known, "time": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H-%M-%S.%f}"}

    def place(found: re.Match[str]) -> str:
        if found[1] not in places:
            raise UsageError(f"SHARC_OUTPUT={str(pattern)!r}: {found[1]!r} is not known{nearest(found[1], places)}")
        return str(places[found[1]])

    return Path(_PLACE.sub(place, str(pattern)))


def check_pattern(pattern: str, *, goes_on: bool) -> None:
    """Raise UsageError if a spider that ``goes_on`` would never find its folder again."""
    if goes_on and "%(time)s" in pattern:
        raise UsageError(
            f"SHARC_OUTPUT={pattern!r} is another folder at each run, which SHARC_RESUME=True never finds again;"
            " leave %(time)s out of it, as in captures/%(name)s"
        )


def attributes(spider: object) -> dict[str, object]:
    """The names that a pattern may use: the spider's plain attributes, including its ``-a`` arguments."""
    names = (name for name in dir(spider) if not name.startswith("_"))
    values = {name: getattr(spider, name, None) for name in names if name not in ("logger", "state")}
    return {name: value for name, value in values.items() if isinstance(value, str | int) and value != ""}


def unnamed(urls: Sequence[str], now: Instant) -> str:
    """The default folder of a capture of these sites.

    >>> unnamed(["http://h:80/a", "http://i/"], 0)
    'captures/h-80-and-1-more-19700101T000000Z'
    """
    host = re.sub(r"[^A-Za-z0-9.-]+", "-", urlsplit(urls[0]).netloc)
    more = f"-and-{len(urls) - 1}-more" if len(urls) > 1 else ""
    return f"captures/{host}{more}-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"
