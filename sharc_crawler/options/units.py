"""Durations and sizes as people write them: a number and its unit."""

from __future__ import annotations

import re

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_536_000.0}
BYTES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def seconds_of(value: object, least: float = 0.0, *, bare: bool = True) -> float:
    """A duration in seconds; ``bare``: may its unit be left out? Raises ValueError.

    >>> seconds_of("90"), seconds_of("1.5m"), seconds_of("2h"), seconds_of(0.5)
    (90.0, 90.0, 7200.0, 0.5)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([smhdwy]?)", str(value).strip())
    if not found:
        raise ValueError("is no duration; write seconds, or 30s, 5m, 2h, 1d, none below 0")
    seconds = float(found[1]) * SECONDS[found[2]]
    if not bare and isinstance(value, str) and seconds and not found[2]:
        raise ValueError("has no unit; write it as {0}h, {0}m or {0}s".format(found[1]))
    if not least <= seconds <= 100 * SECONDS["y"]:
        raise ValueError(f"must be a duration of at least {least:g} s, at most 100y; write it as 30s, 5m, 1d")
    return seconds


def duration(seconds: float) -> str:
    """A duration in the largest unit that keeps it whole.

    >>> duration(300.0), duration(90.0), duration(0.0)
    ('5m', '90s', '0')
    """
    unit = next(unit for unit in "dhms" if unit == "s" or seconds % SECONDS[unit] == 0)
    return f"{seconds / SECONDS[unit]:g}{unit}" if seconds else "0"


def bytes_of(value: object, low: int = 0) -> int:
    """A number of bytes. Raises ValueError.

    >>> bytes_of("500M"), bytes_of("1.5G")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([kKMGT]?)B?", str(value).strip())
    if not found:
        raise ValueError("is no number of bytes; write it as 500k, 500M or 20G")
    number = float(found[1]) * BYTES[found[2].replace("K", "k")]
    if not low <= number < float("inf") or 0 < number < 1:
        raise ValueError(f"must be at least {low or 1} bytes")
    return int(number)


def size(number: int) -> str:
    """Bytes in the largest unit that keeps them whole.

    >>> size(100_000_000), size(1_500)
    ('100M', '1500')
    """
    unit = next(unit for unit in reversed(BYTES) if number % BYTES[unit] == 0) if number else ""
    return f"{number // BYTES[unit]}{unit}"
