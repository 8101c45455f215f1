"""Recognise pages of calendars: find the date in a URL, and remove dates from a page's text.

Calendars have endless pages for months or days. Without events, they differ only in dates: in years, names of months
and days, and the numbers of a month's grid.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

#: in English, German, French, Spanish, Italian, Portuguese and Dutch
_MONTHS = """
january januar janvier enero gennaio janeiro januari
february februar février fevrier febrero febbraio fevereiro februari
march märz maerz mars marzo março maart
april avril abril aprile
may mai mayo maggio maio mei
june juni juin junio giugno junho
july juli juillet julio luglio julho
august août aout agosto augustus
september septembre septiembre settembre setembro
october oktober octobre octubre ottobre outubro
november novembre noviembre novembro
december dezember décembre decembre diciembre dicembre dezembro
"""
_NUMBERS = {
    name[:length]: number
    for number, names in enumerate(_MONTHS.strip().splitlines(), 1)
    for name in names.split()
    for length in (3, 4, len(name))
}
_NUMBERED = (
    r"(?<![0-9])((?:19|20|21)[0-9]{2})"
    r"(?:[-/._](0?[1-9]|1[0-2])(?:[-/._](0?[1-9]|[12][0-9]|3[01]))?|(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])?)"
)
#: perhaps a month's name, before or behind the year
_NAMED = r"(?<![^\W_])(?:([A-Za-z]{3,10})[-/._]((?:19|20|21)[0-9]{2})|((?:19|20|21)[0-9]{2})[-/._]([A-Za-z]{3,10}))"
#: a date at the end of a path, or as a parameter's value
_DATE = re.compile(rf"(?:{_NUMBERED}|{_NAMED})(?=/?(?:\.[a-z]{{1,5}})?(?:[?&]|\Z))")
_YEAR = re.compile(
    r"(?<=[?&])([^=&]*?(?:y|yr|year|yyyy|jahr|annee|anno)=)((?:19|20|21)[0-9]{2})(?![^&])", re.IGNORECASE
)
_MONTH = re.compile(
    rf"(?<=[?&])([^=&]*?(?:m|mo|mon|month|mm|monat|mois)=)(0?[1-9]|1[0-2]|{'|'.join(_NUMBERS)})(?![^&])", re.IGNORECASE
)
_DAY = re.compile(r"(?<=[?&])([^=&]*?(?:d|day|dd)=)(0?[1-9]|[12][0-9]|3[01])(?![^&])", re.IGNORECASE)
_TOKENS = re.compile(r"[^\W\d_]+|[0-9]+")
MONTH = 32  #: size of a month in ``Dated.order``, which is a multiple of it without a day
_GRID = frozenset(map(str, range(1, 29)))  #: the numbers of the days that every month has
_IN_GRID = frozenset(map(str, range(1, 54)))  #: numbers of days and weeks
_ORDINALS = ("st", "nd", "rd", "th")
#: in the same languages
_DAYS = """
monday tuesday wednesday thursday friday saturday sunday
montag dienstag mittwoch donnerstag freitag samstag sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miércoles jueves viernes sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica
segunda terça quarta quinta sexta
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""
_NAMES = frozenset(name[:length] for name in (_MONTHS + _DAYS).split() for length in (3, 4, len(name))) | {
    name[:2] for name in _DAYS.split()
}
#: their checksums, as those of a page's words; and with the numbers of a month's grid
DATE_WORDS = {crc32(one.encode()) for name in _NAMES for one in (name, name.capitalize())}
GRID_WORDS = DATE_WORDS | {crc32(one.encode()) for number in _IN_GRID for one in (number, number.zfill(2))}


class Dated(NamedTuple):
    """A URL with a date in it."""

    place: str  #: the URL without the date
    order: int  #: larger for later dates
    numbers: frozenset[str]  #: the numbers in the date, and in neighbouring dates


@lru_cache(50)  # several rules ask for the same page
def dated(url: str) -> Dated | None:
    """The date in a URL; ``None``: it has none.

    >>> dated("http://h/cal/2026/11").place, dated("http://h/cal?d=7&month=2&year=2026").place
    ('http://h/cal/*', 'http://h/cal?d=*&month=*&year=*')
    >>> dated("http://h/2026/11/a-story") is None, dated("http://h/cal/march-2026").place
    (True, 'http://h/cal/*')
    """
    if "20" not in url and "19" not in url and "21" not in url:  # no year
        return None
    start = url.find("/", len("https://"))
    for found in _DATE.finditer(url, start) if start > 0 else ():
        if not (month := _month(found[2] or found[4] or found[6] or found[9])):
            continue  # /conference-2026/?day=2026-11-03
        year, day = int(found[1] or found[7] or found[8]), int(found[3] or found[5] or 0)
        return Dated(f"{url[: found.start()]}*{url[found.end() :]}", *_date(year, month, day))
    in_query = [pattern.search(url) for pattern in (_YEAR, _MONTH, _DAY)] if "=" in url else [None, None]
    if not (in_query[0] and in_query[1]):
        return None
    for pattern in (_YEAR, _MONTH, _DAY):
        url = pattern.sub(r"\1*", url)
    return Dated(url, *_date(int(in_query[0][2]), _month(in_query[1][2]), int(in_query[2][2]) if in_query[2] else 0))


def _month(name: str) -> int:
    """The number of a month; 0: it is none."""
    return int(name) if name.isdecimal() else _NUMBERS.get(name.lower(), 0)


def has_day(url: str) -> bool:
    """Is it the URL of a day?

    >>> has_day("http://h/cal/2026/11/23"), has_day("http://h/cal/2026/11"), has_day("http://h/about")
    (True, False, False)
    """
    date = dated(url)
    return date is not None and date.order % MONTH > 0


def _date(year: int, month: int, day: int) -> tuple[int, frozenset[str]]:
    beside = {*range(year - 1, year + 2), *range(month - 1, month + 2), 1, 12}
    beside.update(range(day - 1, day + 2) if day else ())
    return (year * 12 + month) * MONTH + day, frozenset(map(str, beside))


def without_dates(text: str, date: Dated) -> str:
    """The text of a calendar's page without dates.

    >>> grid = " ".join(map(str, range(1, 32)))
    >>> without_dates(f"November 2026. Mo Tu We {grid}. No events", dated("http://h/cal/2026/11"))
    'No events'
    """
    tokens = _TOKENS.findall(text)
    grid = set(tokens) >= _GRID
    return " ".join(one for one in tokens if not _tells_a_date(one, date, grid=grid))


def _tells_a_date(token: str, date: Dated, *, grid: bool) -> bool:
    if not token.isdecimal():
        return token.lower() in _NAMES or token in _ORDINALS
    plain = token.lstrip("0")
    return plain in date.numbers or (grid and plain in _IN_GRID)
