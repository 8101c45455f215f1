"""Make patterns that fit two versions of a text or URL, with groups for the parts that vary.

Numbers that stayed match any number, as they may differ on other pages (an id, an edition). But only groups are ignored
(:class:`~sharc_crawler.changes.masks.Mask`), so a change of such a number is still noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from sharc_crawler.changes.masks import folded

_CLOCK = re.compile(r"\d{1,2}(?::\d|h\d|[時时点點시])")
#: shows that words next to a time are a date, in any language: a year, or a numeric date
_DATED = re.compile(r"(?<!\d)(?:(?:19|20)\d\d(?!\d)|\d{1,2}[./-]\d{1,2}[./-])")
_DAY = re.compile(r"\d{1,2}\W*")
_JOINT = 3  #: most letters of a word that joins the parts of a date (de, of, г.)
_NUMBER = r"\d[\d.,:/'+-]*"
_SIGN = "[+\u2212-]?"
_NUMBERS = re.compile(f"({_SIGN}{_NUMBER})")
#: a word of a date: if a text has a running clock, its date will change, too
_CALENDAR = re.compile(
    r"\W*(?:(?:at|on|of|the)|[\d./-]*\d(?:st|nd|rd|th)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|[ap]\.?m\.?)\W*",
    re.IGNORECASE,
)
_BESIDE = 2  #: number of words on each side of a varying one that identify the text
_TELLING = re.compile(r"[^\W\d_]{3}")
_DELIMITERS = re.compile(r"([/?=&;#])")
_ANY = "[^/?=&;#]*"
_PARAMETERS = re.compile(r"[&;]")


def of_texts(old: str, new: str) -> list[str]:
    r"""Patterns that fit both texts, narrowest first: with all words, then with those next to the varying ones.

    >>> of_texts("Post 8: seen 7 times", "Post 8: seen 9 times")[0]
    "Post \\d[\\d.,:/'+-]* seen (\\d[\\d.,:/'+-]*) times"
    >>> of_texts("Open until noon", "Open until a quarter past four"), of_texts("a b", "c")
    (['Open until (.*)'], [])
    """
    one, other = folded(old).split(), folded(new).split()
    if len(one) != len(other):
        return _between(one, other)
    differ = [a != b for a, b in zip(one, other, strict=True)]
    dates = _dates(one, differ)
    words = [
        _varied(a, b) if a != b else r"(\S+)" if date else _any_number(a)
        for a, b, date in zip(one, other, dates, strict=True)
    ]
    varies = [a or b for a, b in zip(differ, dates, strict=True)]
    return list(dict.fromkeys([" ".join(words), *_beside_what_varies(one, words, varies)]))


_ANY_NUMBER = re.compile(rf"\(?(?:{re.escape(_SIGN)})?{re.escape(_NUMBER)}\)?")


def merged(patterns: Iterable[str]) -> list[str]:
    r"""Merge patterns that differ only in which numbers vary.

    >>> merged([r"in (\d[\d.,:/'+-]*) s by \d[\d.,:/'+-]*", r"in \d[\d.,:/'+-]* s by (\d[\d.,:/'+-]*)"])
    ["in (\\d[\\d.,:/'+-]*) s by (\\d[\\d.,:/'+-]*)"]
    """
    alike: dict[str, list[list[str]]] = {}
    for pattern in patterns:
        numbers = _ANY_NUMBER.findall(pattern)
        alike.setdefault(_ANY_NUMBER.sub("\0", pattern), []).append(numbers)
    found = []
    for rest, several in alike.items():
        grouped = iter([max(numbers, key=lambda number: number[0] == "(") for numbers in zip(*several, strict=True)])
        found.append(re.sub("\0", lambda _: next(grouped), rest))  # noqa: B023 - used at once
    return found


def of_numbers(pattern: str) -> bool:
    """Do only numbers vary in a pattern?"""
    return not any(any_words in pattern for any_words in (r"(\S+)", "(.*)", "([^"))


def runs(text: str) -> bool:
    """Does a text contain a time of day? It may be the same on many pages."""
    return bool(_CLOCK.search(text))


def _any_number(word: str) -> str:
    """A pattern for a word that stayed, with any numbers in it."""
    return "".join(_number(part) if i % 2 else re.escape(part) for i, part in enumerate(_NUMBERS.split(word)))


def _between(one: list[str], other: list[str]) -> list[str]:
    """A pattern for texts of different length: anything between their common first and last words."""
    first = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    room = min(len(one), len(other)) - first
    pairs = zip(one[: -room - 1 : -1], other[: -room - 1 : -1], strict=False)
    last = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) if room else 0
    around = one[:first] + one[len(one) - last :]
    if not any(map(_TELLING.search, around)):
        return []
    start, end = (" ".join(map(_any_number, part)) for part in (one[:first], one[len(one) - last :] if last else []))
    return [f"{start}{' ' if start else ''}(.*){' ' if end else ''}{end}".replace(" (.*) ", " (.*)")]


def _beside_what_varies(one: list[str], words: list[str], varies: list[bool]) -> list[str]:
    """A pattern with only the words next to varying ones."""
    near = [any(varies[max(0, i - _BESIDE) : i + _BESIDE + 1]) for i in range(len(words))]
    told = [word for word, close, varied in zip(one, near, varies, strict=True) if close and not varied]
    if all(near) or not any(map(_TELLING.search, told)):
        return []
    parts: list[str] = []
    for word, close in zip(words, near, strict=True):
        if close:
            parts.append(word)
        elif not parts or parts[-1]:
            parts.append("")  # stands for any words
    text = " ".join(part or "\0" for part in parts)
    return [text.replace(" \0 ", " (?:.* )?").replace("\0 ", "(?:.* )?").replace(" \0", "(?: .*)?")]


def _dates(words: list[str], differ: list[bool]) -> list[bool]:
    """Which words belong to the date of a running clock."""
    clocks = [i for i, word in enumerate(words) if differ[i] and _CLOCK.search(word)]
    dates = {i for clock in clocks for step in (1, -1) for i in _beside(words, clock, step)}
    return [i in dates or i in clocks for i in range(len(words))]


def _beside(words: list[str], clock: int, step: int) -> list[int]:
    """The words of a date on one side of a clock: numbers with names between them, and perhaps a name at the end."""
    order = range(clock + step, len(words) if step > 0 else -1, step)
    calendar = list(takewhile(lambda i: _CALENDAR.fullmatch(words[i]), order))
    numbers, names = 0, 0
    for met, i in enumerate(order, 1):
        if any(map(str.isdigit, words[i])):
            numbers, names = met, 0
        else:
            names += len(words[i]) > _JOINT
        if names > 1:
            break
    date = list(order[:numbers])
    if not any(_DATED.search(words[i]) for i in date):
        named = step < 0 and any(words[i].strip(",.").isalpha() for i in calendar)
        return [i for i in calendar if named or not words[i].strip(",.").isdigit()]
    weekday = order[numbers : numbers + 1] if step < 0 and _DAY.fullmatch(words[date[-1]]) else ()
    return [*calendar, *date, *(i for i in weekday if not words[i].endswith(":"))]


def _varied(one: str, other: str) -> str:
    """A pattern for a varying word: for its numbers if only these differ, else for any word."""
    first, second = _NUMBERS.split(one), _NUMBERS.split(other)
    if first[::2] != second[::2]:
        return r"(\S+)"
    running = _CLOCK.search(one)  # all numbers of a clock may vary
    return "".join(
        (f"({_number(part)})" if running or part != second[i] else _number(part)) if i % 2 else re.escape(part)
        for i, part in enumerate(first)
    )


def _number(example: str) -> str:
    return _NUMBER if example[0].isdigit() else _SIGN + _NUMBER


def of_addresses(old: str, new: str) -> list[list[str]]:
    """Patterns for each part in which two URLs differ: parameters by name, else the text between delimiters.

    None if the URLs have another structure, so that they lead to different documents.

    >>> of_addresses("/l?u=/a&h=x1", "/l?u=/a&h=y2"), of_addresses("/out/x1/go", "/out/y2/go")
    ([['.*[?&;]h=([^&;#]*).*']], [['/out/([^/?=&;#]*)/go']])
    """
    one, other = (re.split(r"[?#]", address, maxsplit=1) for address in (old, new))
    if one[0] == other[0] and len(one) == len(other) == 2:
        before, after = (dict(_parameters(query)) for query in (one[1], other[1]))
        if before.keys() == after.keys() and all(before):
            return [[f".*[?&;]{re.escape(name)}=([^&;#]*).*"] for name in before if before[name] != after[name]]
    first, second = (_DELIMITERS.split(address) for address in (old, new))
    if first[1::2] != second[1::2]:
        return [[]]
    parts = zip(first, second, strict=True)
    return [["".join(_any_number(a) if a == b else _segment(a, b) for a, b in parts)]]


def _segment(one: str, other: str) -> str:
    """A pattern for a part of a URL, keeping its common beginning and end."""
    start = _common(one, other)
    room = min(len(one), len(other)) - start
    end = min(_common(one[::-1], other[::-1]), room)
    return f"{_any_number(one[:start])}({_ANY}){_any_number(one[len(one) - end :])}"


def _parameters(query: str) -> list[tuple[str, str]]:
    pairs = (pair.partition("=") for pair in _PARAMETERS.split(query))
    return [(name if equals else "", value) for name, equals, value in pairs]


def _common(one: str, other: str) -> int:
    """The length of the longest common beginning that ends with a delimiter."""
    pairs = enumerate(zip(one, other, strict=False))
    length = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return 1 + max(one.rfind(delimiter, 0, length) for delimiter in "-_.,")
