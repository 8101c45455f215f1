"""Spans, rates, counts and foreign text as a reader wants them."""

from __future__ import annotations

import math
import re
from shlex import quote
from typing import TYPE_CHECKING, Any

from sharc_crawler.plural import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sharc_crawler.model import Rate, Seconds

#: unit, its length in seconds, largest first
UNITS = (("year", 31_557_600.0), ("day", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))
_URL = re.compile(r"https?://\S+")
LONG = {"h": "hour", "min": "minute", "s": "second"}  #: units that are written short beside a number


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


def kept_content(totals: Mapping[str, Any]) -> str:
    """How many pages kept their content, where that is more than are coherent (``coherence`` of a report); else empty.

    >>> kept_content({"captured": 40, "coherent": 1, "same_content": 39})
    '40 of 40 pages kept their content (1 to the byte)'
    """
    if not totals["same_content"]:
        return ""
    kept = totals["coherent"] + totals["same_content"]
    its = agreeing(totals["captured"], "their")
    return f"{kept:,} of {counted(totals['captured'], 'page')} kept {its} content ({totals['coherent']:,} to the byte)"


def how_kept(totals: Mapping[str, Any]) -> str:
    """By what is known of pages that they kept their content and not their bytes; empty where there are none.

    >>> how_kept({"same_content": 39, "by_masks": 4, "by_304": 0})
    '35 pages differ only in what is ignored (nonces, comments, masks), 4 in what this capture learned to ignore'
    """
    masked, told = totals["by_masks"], totals["by_304"]
    ignored = totals["same_content"] - masked - told
    parts = [
        (ignored, "what is ignored (nonces, comments, masks)"),
        (masked, "what this capture learned to ignore"),
    ]
    words = [
        f"{number:,} in {what}" if place else f"{counted(number, 'page', 'differ')} only in {what}"
        for place, (number, what) in enumerate([part for part in parts if part[0]])
    ]
    spoke = f"of {counted(told, 'page')} the server's 304 speaks of content, not of bytes" if told else ""
    return ", ".join(filter(None, [*words, spoke]))


def percent(part: float | None) -> str:
    """A share in percent, never rounded up to all or down to nothing.

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


def few(changes: float) -> str:
    """An average number of changes, never rounded down to none.

    >>> few(1.23456), few(0.0029), few(2.9e-06), few(0)
    ('1.235', '0.003', '< 0.001', '0.000')
    """
    return f"{changes:.3f}" if changes >= 0.001 or changes == 0 else "< 0.001"


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


def figure(value: object) -> str:
    """A setting or statistic as a reader wants it: whole numbers whole, others to three figures.

    >>> figure(600.0), figure(0.0021456), figure(None), figure(["a", "b"]), figure(True)
    ('600', '0.00215', '–', 'a, b', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(figure, value))
    return "–" if value in (None, "") else short(str(value), 400)


def going_on(folder: Path) -> str:
    """How an unfinished crawl goes on.

    >>> from pathlib import Path
    >>> going_on(Path("captures/example.org"))
    'the same command goes on, with -a output=captures/example.org'
    """
    return f"the same command goes on, with -a output={quote(str(folder))}"


def printable(text: str) -> str:
    r"""Text from outside, made safe to show: unprintable characters are spelled out.

    Direction marks and control characters could make a reader (or a terminal) see something else than what is there.

    >>> printable("a\u202eb\x1b[2J")
    'a\\u202eb\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, limit: int = 160) -> str:
    """Text from outside, :func:`printable`, the middle of long text left out.

    >>> short("x" * 500, 9)
    'xxxx…xxxx'
    """
    if len(text) > limit:
        half = (limit - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return printable(text)


def guessed(expected: Mapping[str, Any]) -> bool:
    """Whether nothing told the rates of most pages that the expectation is of."""
    return bool(2 * expected["guessed"] > expected["pages"])


def forecast(expected: Mapping[str, Any]) -> str:
    """How many pages were expected to stay as they were, and how far chance goes where more than a guess says so.

    >>> forecast({"pages": 9, "coherent": 8.04, "deviation": 0.9, "guessed": 1})
    '8.0 ± 0.9'
    >>> forecast({"pages": 9, "coherent": 8.97, "deviation": 0.1, "guessed": 9})
    '9.0'
    >>> forecast({"pages": 9, "coherent": 8.99, "deviation": 0.04, "guessed": 0})  # nothing is that sure
    '9.0'
    """
    words, more = f"{expected['coherent']:,.1f}", f"{expected['deviation']:.1f}"
    return words if guessed(expected) or more == "0.0" else f"{words} ± {more}"


def condition(expected: Mapping[str, Any]) -> str:
    """What the expectation rests on."""
    return "at rates that are only guessed" if guessed(expected) else "if the change rates hold"


def whole(text: str, limit: int = 600) -> str:
    """A sentence of ours with foreign parts, safe to show: long URLs are shortened within, the sentence at its end.

    >>> whole("http://h/a is read")
    'http://h/a is read'
    >>> whole("it is read: " + "word " * 20, 20)
    'it is read: word wo…'
    """
    text = _URL.sub(lambda url: short(url[0], 120), text)
    return short(text if len(text) <= limit else f"{text[: limit - 1]}…", limit)


def plain(value: object) -> Any:
    """A value as JSON can hold it; what it cannot hold becomes text, a number that is not finite None.

    >>> plain({"delay": 0.5, "until": float("inf"), "scope": (1, "host"), "path": 1j})
    {'delay': 0.5, 'until': None, 'scope': [1, 'host'], 'path': '1j'}
    """
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _counted(number: int, unit: str) -> str:
    return counted(number, unit) if unit in ("year", "day") else f"{number} {unit}"
