"""The kinds of option values: how they are read from text or a settings file, and shown.

``read`` accepts its own results, and raises ValueError with the end of a sentence: what is wrong, and what is allowed.
The caller puts the option's name and value before it.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from sharc_crawler.addresses.urls import canonical, with_scheme
from sharc_crawler.errors import nearest

T = TypeVar("T")

_BARE_PORT = re.compile(r"[\w.-]+:\d+(/|$)")
_CONTACT = re.compile(r"https?://[^\s()]+|(?:mailto:)?[^\s@()]+@[^\s@()]+")
_FLAGS = {"0": False, "1": True, "false": False, "true": True}


class ValueKind(ABC, Generic[T]):
    """A kind of value."""

    form: str  #: how it is written, in a few words

    @abstractmethod
    def read(self, value: object) -> T:
        """The value; ValueError says what is wrong."""

    def show(self, value: T) -> str:
        """The value as a user would write it."""
        return str(value)


@dataclass(frozen=True)
class Text(ValueKind[str]):
    """Any text that ``check`` accepts; it raises UsageError."""

    form: str = "text"
    check: Callable[[str], object] = str

    def read(self, value: object) -> str:
        self.check(str(value))
        return str(value)


@dataclass(frozen=True)
class Choice(ValueKind[str]):
    """One of a few words."""

    allowed: tuple[str, ...]

    @property
    def form(self) -> str:  # type: ignore[override]
        return ", ".join(f"`{name}`" for name in self.allowed)

    def read(self, value: object) -> str:
        if value not in self.allowed:
            raise ValueError(f"is not known{nearest(str(value), self.allowed)}")
        return str(value)


@dataclass(frozen=True)
class Words(ValueKind[tuple[str, ...]]):
    """A list of allowed words, separated by commas; ``off``: none."""

    allowed: tuple[str, ...]

    @property
    def form(self) -> str:  # type: ignore[override]
        return ", ".join(f"`{name}`" for name in (*self.allowed, "off"))

    def read(self, value: object) -> tuple[str, ...]:
        names = tuple(_parts(value))
        if names == ("off",):
            return ()
        if "off" in names:
            raise ValueError("names 'off' and others: off stands alone")
        for name in (one for one in names if one not in self.allowed):
            raise ValueError(f"names {name!r}, which is not known{nearest(name, (*self.allowed, 'off'))}")
        return names

    def show(self, value: tuple[str, ...]) -> str:
        return ",".join(value) or "off"


@dataclass(frozen=True)
class Flag(ValueKind[bool]):
    """Yes or no."""

    form: str = "`1`, `0`"

    def read(self, value: object) -> bool:
        known = _FLAGS.get(str(value).lower())
        if known is None:
            raise ValueError("must be 1 or 0 (True or False)")
        return known

    def show(self, value: bool) -> str:
        return str(int(value))


@dataclass(frozen=True)
class FlagOr(ValueKind[str]):
    """Yes, no, or a word; "": no."""

    word: str

    @property
    def form(self) -> str:  # type: ignore[override]
        return f"`1`, `0`, `{self.word}`"

    def read(self, value: object) -> str:
        word = str(value).lower()
        if word not in {self.word, *_FLAGS}:
            raise ValueError(f"must be 1, 0 or {self.word}")
        return word if word == self.word else "1" if _FLAGS[word] else ""

    def show(self, value: str) -> str:
        return value or "0"


@dataclass(frozen=True)
class Whole(ValueKind[int]):
    """A whole number."""

    low: float = 0
    high: float = float("inf")
    form: str = "whole number"

    def read(self, value: object) -> int:
        return int(_number(value, int, "whole number", self.low, self.high))


@dataclass(frozen=True)
class Real(ValueKind[float]):
    """A number."""

    low: float = 0.0
    high: float = float("inf")
    form: str = "number"

    def read(self, value: object) -> float:
        return _number(value, float, "number", self.low, self.high)

    def show(self, value: float) -> str:
        return f"{value:g}"


@dataclass(frozen=True)
class RealOrAuto(ValueKind[float | Literal["auto"] | None]):
    """A number, or ``auto``."""

    low: float = 0.0
    high: float = float("inf")
    form: str = "number, `auto`"

    def read(self, value: object) -> float | Literal["auto"]:
        return "auto" if value == "auto" else Real(self.low, self.high).read(value)


@dataclass(frozen=True)
class Duration(ValueKind[float]):
    """Seconds, as a number with a unit (default: seconds)."""

    least: float = 0.0  #: smaller values are refused; 0: zero is allowed
    bare: bool = True  #: whether the unit may be omitted
    form: str = "time, as `30s`, `5m`, `2h`, `1d`"

    def read(self, value: object) -> float:
        from sharc_crawler.options.units import seconds_of  # few are given

        return seconds_of(value, self.least, bare=self.bare)

    def show(self, value: float) -> str:
        from sharc_crawler.options.units import duration

        return duration(value)


@dataclass(frozen=True)
class Bytes(ValueKind[int]):
    """Bytes, as a number with a decimal unit."""

    low: int = 0
    form: str = "bytes, as `500M`, `20G`"

    def read(self, value: object) -> int:
        from sharc_crawler.options.units import bytes_of

        return bytes_of(value, self.low)

    def show(self, value: int) -> str:
        from sharc_crawler.options.units import size

        return size(value)


@dataclass(frozen=True)
class Folder(ValueKind[Path]):
    """A folder, which need not exist."""

    form: str = "folder"

    def read(self, value: object) -> Path:
        if not str(value):
            raise ValueError("names no folder")
        return Path(str(value))


@dataclass(frozen=True)
class TextList(ValueKind[tuple[str, ...]]):
    """Several texts, separated by commas."""

    form: str

    def read(self, value: object) -> tuple[str, ...]:
        return tuple(_parts(value))

    def show(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def _parts(value: object) -> list[str]:
    if isinstance(value, list | tuple | set):
        return [str(part) for part in value]
    return [part.strip() for part in str(value).split(",") if part.strip()]


def _number(value: object, kind: Callable[[str], float], what: str, low: float, high: float) -> float:
    """A finite number within its bounds."""
    try:
        number = kind(str(value))
    except ValueError:
        number = float("nan")
    if not (low <= number <= high and number < float("inf")):
        bounds = f" from {low:g} to {high:g}" if high < float("inf") else f" of at least {low:g}"
        raise ValueError(f"must be a {what}{bounds if low > -float('inf') else ''}")
    return number


def url(text: str, where: str = "") -> str:
    """A URL as it will be requested, with ``https://`` before a bare host name; with a port that would be a guess.

    >>> url("www.example.org")
    'https://www.example.org'
    >>> url("127.0.0.1:8000")
    Traceback (most recent call last):
    ValueError: says neither http nor https; write http://127.0.0.1:8000 or https://127.0.0.1:8000
    """
    whole = with_scheme(text)
    if canonical(whole) is None:
        raise ValueError(
            f"{where}is not an http(s) URL, or has a user or password (netrc=FILE is for these); write it as"
            " https://www.example.org/"
        )
    if _BARE_PORT.match(text):
        raise ValueError(f"{where}says neither http nor https; write http://{text} or https://{text}")
    return whole


# -- what to crawl: URLs, lists of seeds, sitemaps ---------------------------------------------------------------------


@dataclass(frozen=True)
class Urls(ValueKind[tuple[str, ...]]):
    """URLs, separated by commas or blanks."""

    form: str = "URL or host name"

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        texts = [text for text in re.split(r"[\s,]+(?=https?:|[^\s,]+\.)|\s+", str(value)) if text]
        return tuple(url(text, "" if len(texts) == 1 else f"has {text!r}, which ") for text in texts)


@dataclass(frozen=True)
class Sitemaps(ValueKind[tuple[str, ...] | None]):
    """``auto`` (None: as the site says), ``off`` (none), or a sitemap's URL."""

    form: str = "`auto`, `off`, URL"

    def read(self, value: object) -> tuple[str, ...] | None:
        if value is None or isinstance(value, tuple):
            return value
        if value in ("auto", "off"):
            return None if value == "auto" else ()
        if "://" not in str(value):
            raise ValueError("is none of auto, off or a URL such as https://www.example.org/sitemap.xml")
        return (url(str(value)),)

    def show(self, value: tuple[str, ...] | None) -> str:
        return "auto" if value is None else " ".join(value) or "off"


@dataclass(frozen=True)
class Contact(ValueKind[str | None]):
    """A contact for webmasters."""

    form: str = "URL or mail address"

    def read(self, value: object) -> str | None:
        if not _CONTACT.fullmatch(str(value)):
            raise ValueError(
                "must be a web page or a mail address that a webmaster can turn to, as in"
                " https://library.example/crawls or crawls@library.example"
            )
        return str(value)


@dataclass(frozen=True)
class ReadBy(ValueKind[Any]):
    """A rarely given value, read by a function of :mod:`sharc_crawler.options.mappings`, which is loaded then."""

    form: str
    reader: str

    def read(self, value: object) -> Any:
        return getattr(import_module("sharc_crawler.options.mappings"), self.reader)(value)


@dataclass(frozen=True)
class Pairs(ReadBy):
    """``{name: value}``, or that as JSON."""

    def show(self, value: tuple[tuple[str, object], ...]) -> str:
        return json.dumps(dict(value), ensure_ascii=False)
