"""| Rarely given options: lists in files, regular expressions, mappings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sharc_crawler import extras
from sharc_crawler.archive.warcinfo import OWN_FIELDS
from sharc_crawler.errors import MALFORMED, nearest
from sharc_crawler.options.kinds import url
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES

_FIELD_NAME = re.compile(r"[A-Za-z0-9-]+")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_SEVERAL = re.compile(r"\t|[\s,;]+https?:", re.IGNORECASE)
_OURS = {name.lower() for name in OWN_FIELDS}


def lines_of(file: Path) -> dict[int, str]:
    """The lines of a list by number, without empty lines and ``#`` comments; raises ValueError."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot be read: {error}; save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error}") from error
    bare = (_COMMENT.split(line, maxsplit=1)[0].strip() for line in text.splitlines())
    return {place: line for place, line in enumerate(bare, 1) if line}


def is_several(line: str) -> bool:
    """Whether a line has more than one address, or columns."""
    return bool(_SEVERAL.search(line))


def seeds_of_file(value: object) -> tuple[str, ...]:
    """The URLs of a file, one per line, with ``#`` comments."""
    if isinstance(value, tuple):
        return value
    lines = lines_of(Path(str(value)))
    if not lines:
        raise ValueError("holds no URL; write one a line")
    for place, line in lines.items():
        if is_several(line):
            raise ValueError(f"has in line {place} {line!r}, which is more than one URL; write one a line")
    return tuple(url(line, f"has in line {place} {line!r}, which ") for place, line in lines.items())


def patterns(value: object) -> tuple[str, ...]:
    """Regular expressions: one as text, any number from a settings file."""
    texts = value if isinstance(value, tuple) else (str(value),)
    try:
        for text in texts:
            re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return texts


def periods(value: object) -> tuple[tuple[str, float], ...]:
    """Seconds for classes of changefreq."""
    try:
        periods = dict(json.loads(value) if isinstance(value, str) else value)  # type: ignore[arg-type]
    except MALFORMED as error:
        raise ValueError("must map classes of changefreq to seconds") from error
    for name, seconds in periods.items():
        if name not in CHANGEFREQ_RATES:
            raise ValueError(f"names the class {name!r}, which is not known{nearest(name, CHANGEFREQ_RATES)}")
        if not isinstance(seconds, int | float) or not seconds > 0:
            raise ValueError(f"has {name}={seconds!r}, which must be the seconds between two changes")
    return tuple(periods.items())


def authority(value: object) -> str:
    """The URL of a time stamp authority."""
    extras.check("timestamp=", "rfc3161_client")
    return url(str(value))


def fields_told(value: object) -> tuple[tuple[str, str], ...]:
    """Further fields of warcinfo records."""
    try:
        fields = json.loads(value) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]
        pairs = tuple((str(name), str(text)) for name, text in fields.items())
    except MALFORMED as error:
        raise ValueError("must map names of fields to text") from error
    for name, text in pairs:
        if name.lower() in _OURS:
            raise ValueError(f"has the field {name!r}, which is written by the crawl itself; leave it out")
        if not _FIELD_NAME.fullmatch(name):
            raise ValueError(f"has the field {name!r}; a name has letters, digits and hyphens, nothing else")
        if not text.strip() or not text.isprintable():
            raise ValueError(f"has {name}={text!r}, which must be one line of text")
    return pairs
