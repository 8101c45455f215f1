"""What a path was to be that is not there."""

from __future__ import annotations

import re
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

_DIGITS = re.compile(r"\d+")
_MISSING = re.compile(r"(?:Path|Directory|File) '(.+)' does not exist")


def near_to(path: Path) -> Path | None:
    """One beside it that is meant, as far as can be told: names that differ in digits are of several captures."""
    plain = _DIGITS.sub("", path.name)
    beside = []
    with suppress(OSError):  # of a name that is too long
        beside = [one.name for one in path.parent.glob("*") if _DIGITS.sub("", one.name) != plain]
    near = get_close_matches(path.name, beside, n=1, cutoff=0.8)
    return path.with_name(near[0]) if near else None


def with_near(message: str) -> str:
    """A message of click's, with what was meant where it says that a path does not exist."""
    found = _MISSING.search(message)
    near = near_to(Path(found[1])) if found else None
    return f"{message} Did you mean {str(near)!r}?" if near else message
