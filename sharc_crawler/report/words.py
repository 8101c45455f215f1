"""Format durations, rates, sizes and untrusted text for readers."""

from __future__ import annotations

import math
from pathlib import Path
from shlex import join

from sharc_crawler.model import Rate, Seconds
from sharc_crawler.plural import counted

#: units of time and their length in seconds, largest first
UNITS = (("year", 31_557_600.0), ("day", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))
DEEP = 3  #: levels between a capture and its collection: COLLECTION/captures/SITE/TIME
LONG = {"h": "hour", "min": "minute", "s": "second"}  #: full names of abbreviated units


def span(seconds: Seconds) -> str:
    """A duration in its one or two largest units.

    >>> span(0.25), span(7.04), span(72.6), span(7_500), span(266_400)
    ('0.25 s', '7 s', '1 min 13 s', '2 h 5 min', '3 days 2 h')
    """
    if seconds < 10:
        return f"{seconds:.2g} s"
    rest, parts = round(seconds), []
    for name, length in UNITS:
        number, rest = divmod(rest, int(length))
        parts.append((number, name))
    first = next(place for place, (number, _) in enumerate(parts) if number)
    return " ".join(_counted(number, name) for number, name in parts[first : first + 2] if number)


def every(rate: Rate | None) -> str:
    """The mean time between the changes of a page, to two figures.

    >>> every(1 / 720), every(1 / 200_000), every(1 / 3600), every(0.0), every(2.0), every(None)
    ('every 12 min', 'every 2.3 days', 'every hour', 'never', 'every 0.5 s', 'not known')
    """
    if rate is None:
        return "not known"
    mean = 1 / rate if rate > 0 else math.inf
    if mean > 1e12:
        return "never"
    name, length = next((unit for unit in UNITS if mean >= unit[1] * 0.995), UNITS[-1])
    many = float(f"{mean / length:.2g}")
    if many == 1:
        return f"every {LONG.get(name, name)}"
    return f"every {many:,g} {name}{'' if name in LONG else 's'}"


def percent(part: float | None) -> str:
    """A share in percent, never rounded up to 100 or down to 0.

    >>> percent(0.9166), percent(0.99999), percent(0.00001), percent(1.0), percent(None)
    ('91.7 %', '> 99.9 %', '< 0.1 %', '100 %', '–')
    """
    if part is None:
        return "–"
    if part in (0.0, 1.0):
        return f"{100 * part:.0f} %"
    if part < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if part > 0.999 else f"{100 * part:.1f} %"


def size(number: int) -> str:
    """Bytes in the largest decimal unit, to three figures.

    >>> size(0), size(999), size(12_370_200), size(999_999)
    ('0 B', '999 B', '12.4 MB', '1 MB')
    """
    units = ("B", "kB", "MB", "GB", "TB")
    place = min(int(math.log10(number) // 3), len(units) - 1) if number else 0
    if round(number / 1000**place, 1) >= 1000 and place < len(units) - 1:
        place += 1
    return f"{number / 1000**place:.3g} {units[place]}"


def collected(folder: Path) -> bool:
    """Is it the folder of a capture in a collection?"""
    return len(folder.parents) > DEEP and (folder.parents[DEEP - 1] / "collection.yaml").is_file()


def next_line(*words: object) -> str:
    """The line ``Next: COMMAND``, with its words quoted for a shell."""
    text = join(map(str, words))
    if not text.isprintable():
        from sharc_crawler.report.foreign import quoted  # of names that no terminal shows

        text = " ".join(map(quoted, map(str, words)))
    return f"Next: {text}"


def printable(text: str) -> str:
    r"""Untrusted text, made safe to show: unprintable characters are spelled out.

    Direction marks and control characters could hide from a reader (or a terminal) what is really there.

    >>> printable("a\u202eb\x1b[2J")
    'a\\u202eb\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, limit: int = 160) -> str:
    """Untrusted text, :func:`printable`, without the middle of long text.

    >>> short("x" * 500, 9)
    'xxxx…xxxx'
    """
    if len(text) > limit:
        half = (limit - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return printable(text)


def _counted(number: int, unit: str) -> str:
    return counted(number, unit) if unit in ("year", "day") else f"{number} {unit}"
