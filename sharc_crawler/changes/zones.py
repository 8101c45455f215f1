"""Convert instants in pages to UTC, as servers behind one host may show them in different time zones.

If a text names its zone, it becomes the instant in UTC. If ``<time datetime="...">`` states the instant and its text is
the day, it becomes the day in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_HOURS = {"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3} | {
    f"{zone}{kind}": hours + (kind == "DT")
    for zone, hours in (("E", -5), ("C", -6), ("M", -7), ("P", -8))
    for kind in ("ST", "DT")
}
_ZONE = rf"(?P<zone>[+-]\d\d:?\d\d|(?:{'|'.join(sorted(_HOURS, key=len, reverse=True))})\b)"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?(?: ?(?P<half>[ap])\.?m\b\.?)?"
_TAIL = rf"(?:,| at)? ?{_CLOCK} ?\(?{_ZONE}\)?"
_SHAPES = tuple(
    re.compile(rf"\b{day}{_TAIL}", re.IGNORECASE)
    for day in (
        r"(?P<year>\d{4})-(?P<digits>\d\d)-(?P<day>\d\d)T?",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})\.? {_MONTH},? (?P<year>\d{{4}})",
        rf"{_WEEKDAY}{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
    )
)
#: the end of each of these, from its first colon on: a search for it takes a hundredth of the time
_ZONED = re.compile(rf":\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]\.?m\b\.?)? ?\(?{_ZONE}", re.IGNORECASE)
_LEAST, _BEFORE = 10, 64  #: least and most characters of day and hour before that colon
_NUMBERS = re.compile(r"\d+")
_WORDS = 6  #: most words of a day that is spelled out
_ZONES = (timedelta(hours=-12), timedelta(hours=14))  #: the outermost time zones


def in_utc(text: str) -> str:
    """A text with all instants that name their zone converted to UTC.

    >>> in_utc("Edited 5 Mar 2021, 00:30 +0100."), in_utc("Edited March 4, 2021 3:30 PM PST.")
    ('Edited 2021-03-04T23:30:00Z.', 'Edited 2021-03-04T23:30:00Z.')
    """
    parts, done, begin = list[str](), 0, 0
    for zoned in _ZONED.finditer(text):  # only the text before a zone is searched for an instant
        begin, end = max(begin, zoned.start() - _BEFORE), zoned.end() + 1
        wide = zoned.start() - begin >= _LEAST
        if wide and (found := next(filter(None, (shape.search(text, begin, end) for shape in _SHAPES)), None)):
            parts += text[done : found.start()], _instant(found)
            done = found.end()
        begin = max(done, end - 1)
    return "".join((*parts, text[done:])) if parts else text


def _instant(found: re.Match[str]) -> str:
    parts = found.groupdict()
    month = int(parts["digits"]) if "digits" in parts else 1 + _MONTHS.index(parts["month"].lower())
    hour = int(parts["hour"]) % 12 + 12 * (parts["half"].lower() == "p") if parts["half"] else int(parts["hour"])
    try:
        local = datetime(
            int(parts["year"]), month, int(parts["day"]), hour, int(parts["minute"]), int(parts["second"] or 0),
            tzinfo=timezone(_offset(parts["zone"].upper())),
        )  # fmt: skip
        return local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):  # no such day
        return found[0]


def _offset(zone: str) -> timedelta:
    if zone in _HOURS:
        return timedelta(hours=_HOURS[zone])
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return timedelta(minutes=minutes if zone[0] == "+" else -minutes)


def plain_day(element: Any) -> None:
    """Convert the day in a ``time`` element with a stated instant to UTC, in place."""
    if len(element) == 0 and (stated := _stated(element.get("datetime", ""))) and _is_day(element.text or "", stated):
        element.text = stated.astimezone(UTC).strftime("%Y-%m-%d")


def _stated(value: str) -> datetime | None:
    try:
        stated = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return stated if stated.tzinfo and stated.year > 1 else None


def _is_day(text: str, stated: datetime) -> bool:
    """Is a text the day of an instant, in any zone and language (day and year, without time)?"""
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    if ":" in text or len(text.split()) > _WORDS or not 2 <= len(numbers) <= 3:
        return False
    try:
        days = [(stated.astimezone(UTC) + shift).date() for shift in (*_ZONES, timedelta())]
    except OverflowError:
        return False
    return any({day.day, day.year} <= {*numbers} and {*numbers} <= {day.day, day.month, day.year} for day in days)
