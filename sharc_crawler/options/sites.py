"""Kinds of values that name what to crawl: URLs, lists of seeds, sitemaps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sharc_crawler.options.kinds import ValueKind, url

_CONTACT = re.compile(r"https?://[^\s()]+|(?:mailto:)?[^\s@()]+@[^\s@()]+")


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
    """``auto`` (None: wherever the site says), ``off`` (none), or a sitemap's URL."""

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
    """Whom a webmaster can turn to."""

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
    """What few crawls are given: read by a function of :mod:`sharc_crawler.options.mappings`, loaded then."""

    form: str
    reader: str

    def read(self, value: object) -> Any:
        return getattr(import_module("sharc_crawler.options.mappings"), self.reader)(value)


@dataclass(frozen=True)
class Pairs(ReadBy):
    """``{name: value}``, or that as JSON."""

    def show(self, value: tuple[tuple[str, object], ...]) -> str:
        return json.dumps(dict(value), ensure_ascii=False)
