"""Kinds of values that name what to crawl: URLs, lists of seeds, sitemaps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sharc_crawler.archive.options import OWN_FIELDS
from sharc_crawler.errors import nearest
from sharc_crawler.options.kinds import ValueKind
from sharc_crawler.urls import canonical, with_scheme

_BARE_PORT = re.compile(r"[\w.-]+:\d+(/|$)")
_FIELD_NAME = re.compile(r"[A-Za-z0-9-]+")
_OURS = {name.lower() for name in OWN_FIELDS}
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
class SeedFile(ValueKind[tuple[str, ...]]):
    """The URLs of a file, one a line; ``#`` begins a comment line."""

    form: str = "file"

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        try:
            lines = Path(str(value)).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot be read: {error}") from error
        found = [
            url(line.strip(), f"has in line {place} {line.strip()!r}, which ")
            for place, line in enumerate(lines, 1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
        if not found:
            raise ValueError("holds no URL; write one a line")
        return tuple(found)


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
class Authority(ValueKind[str | None]):
    """The URL of a time stamp authority."""

    form: str = "URL"

    def read(self, value: object) -> str:
        from sharc_crawler import extras  # only where one is asked

        extras.check("timestamp=", "rfc3161_client")
        return url(str(value))


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
class Changefreq(ValueKind[tuple[tuple[str, float], ...]]):
    """``{class: seconds}``, or that as JSON."""

    form: str = '`{"daily": SECONDS}`'

    def read(self, value: object) -> tuple[tuple[str, float], ...]:
        from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES  # only where they are given

        try:
            periods = json.loads(value) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]
        except (TypeError, ValueError) as error:
            raise ValueError("must map classes of changefreq to seconds") from error
        for name, seconds in periods.items():
            if name not in CHANGEFREQ_RATES:
                raise ValueError(f"names the class {name!r}, which is not known{nearest(name, CHANGEFREQ_RATES)}")
            if not isinstance(seconds, int | float) or not seconds > 0:
                raise ValueError(f"has {name}={seconds!r}, which must be the seconds between two changes")
        return tuple(periods.items())

    def show(self, value: tuple[tuple[str, float], ...]) -> str:
        return json.dumps(dict(value))


@dataclass(frozen=True)
class WarcinfoFields(ValueKind[tuple[tuple[str, str], ...]]):
    """``{name: text}``, or that as JSON: fields that a WARC file's first record has besides ours."""

    form: str = '`{"publisher": "…"}`'

    def read(self, value: object) -> tuple[tuple[str, str], ...]:
        try:
            fields = json.loads(value) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]
            told = tuple((str(name), str(text)) for name, text in fields.items())
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError("must map names of fields to text") from error
        for name, text in told:
            if name.lower() in _OURS:
                raise ValueError(f"has the field {name!r}, which is written by the crawl itself; leave it out")
            if not _FIELD_NAME.fullmatch(name):
                raise ValueError(f"has the field {name!r}; a name has letters, digits and hyphens, nothing else")
            if not text.strip() or not text.isprintable():
                raise ValueError(f"has {name}={text!r}, which must be one line of text")
        return told

    def show(self, value: tuple[tuple[str, str], ...]) -> str:
        return json.dumps(dict(value), ensure_ascii=False)


def url(text: str, where: str = "") -> str:
    """A URL as it will be requested; ``https://`` is put before a bare host name. Before a port nobody can tell.

    >>> url("www.example.org")
    'https://www.example.org'
    >>> url("127.0.0.1:8000")
    Traceback (most recent call last):
    ValueError: says neither http nor https; write http://127.0.0.1:8000 or https://127.0.0.1:8000
    """
    whole = with_scheme(text)
    if canonical(whole) is None or not urlsplit(whole).hostname:
        raise ValueError(f"{where}is not an http(s) URL; write it as https://www.example.org/")
    if _BARE_PORT.match(text):
        raise ValueError(f"{where}says neither http nor https; write http://{text} or https://{text}")
    return whole
