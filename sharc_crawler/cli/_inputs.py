"""| What commands are given: folders to read, with suggestions for missing ones, and instants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import click

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

Read = TypeVar("Read", Path, tuple[Path, ...], None)

_DIGITS = re.compile(r"\d+")
_MISSING = re.compile(r"(?:Path|Directory|File) '(.+)' does not exist")


def regular(ctx: click.Context, parameter: click.Parameter, value: Read) -> Read:  # noqa: ARG001
    """For ``callback=`` of folders to read: refuse one with a named pipe or device in it."""
    from sharc_crawler.certificate.sources import require_regular  # only for commands with a folder

    folders: Iterable[Path] = value if isinstance(value, tuple) else filter(None, [value])
    for folder in folders:
        if folder.is_dir():
            require_regular(folder)
    return value


def require_capture(path: Path) -> None:
    """Refuse a folder that neither is a capture nor contains any; files are not checked."""
    from sharc_crawler.certificate.sources import captures_in, is_capture  # only then, too

    if path.is_dir() and captures_in(path) == [path] and not is_capture(path):
        raise UsageError(f"{str(path)!r} holds no capture; name a folder given as output=")


def near_to(path: Path) -> Path | None:
    """A similar name beside it that may have been meant; names that differ only in digits are of other captures."""
    plain = _DIGITS.sub("", path.name)
    beside = []
    with suppress(OSError):  # the name may be too long
        beside = [sibling.name for sibling in path.parent.glob("*") if _DIGITS.sub("", sibling.name) != plain]
    near = get_close_matches(path.name, beside, n=1, cutoff=0.8)
    return path.with_name(near[0]) if near else None


def with_near(message: str) -> str:
    """A message of click's on a missing path, with a suggestion."""
    found = _MISSING.search(message)
    near = near_to(Path(found[1])) if found else None
    return f"{message} Did you mean {str(near)!r}?" if near else message


def instant(text: str, what: str = "window") -> Instant:
    """Unix seconds from a date, a date with time (UTC by default), or unix seconds.

    >>> instant("2012-01-02"), instant("2012-01-01T01:00+01:00"), instant("1325376000")
    (1325462400.0, 1325376000.0, 1325376000.0)
    """
    with suppress(ValueError):
        if math.isfinite(seconds := float(text)):
            return seconds
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{what}: {text!r} is neither a date such as 2012-01-31 nor unix seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
