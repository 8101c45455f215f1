"""Headers that judgements need: one reading, for the crawl and for its verification."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sharc_crawler.changes.http import CUT, http_date
from sharc_crawler.model import Outcome, Result, Seconds, Validators

_ODD = re.compile(r',|"[^"]*;[^"]*"')  #: an ambiguous Content-Type
_CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s;"]+)', re.IGNORECASE)
UNTOLD: Seconds = 1e9  #: age of a copy of unknown age
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.IGNORECASE | re.ASCII)
_PARTIAL, REWRITTEN = 206, 203  #: the latter by a proxy, at an unknown time
#: non-standard header names of caches between the site and us (``X-Cache``, ``CF-Cache-Status``); other ``X-…-Cache``
#: headers may be of caches within the site
_BETWEEN = rb"77|akamai|cdn|cf|edge|fastcgi|kinsta|nginx|proxy|sucuri|vercel"
_CALLED = re.compile(rb"(?:x-|(?:x-)?(?:" + _BETWEEN + rb")-)cache(?:-(?:status|lookup|remote))?")
_OF_COPIES = {b"age", b"cache-status", b"server-timing", b"warning"}


def header_text(value: bytes | None) -> str | None:
    r"""Decode a header's value, one character per byte; ``None`` if it is missing or empty.

    Writer, index and verifier all use this. :func:`header_bytes` is its inverse.

    >>> header_text(b" image/png\xc3\xa9"), header_text(b"image/png\xe9"), header_text(b"")
    ('image/pngÃ©', 'image/pngé', None)
    """
    return (value.strip().decode("latin-1") or None) if value else None


def header_bytes(text: str) -> bytes:
    """Encode a value that :func:`header_text` decoded."""
    return text.encode("latin-1")


def of_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, Any]:
    """Return fields of an :class:`~sharc_crawler.model.Outcome`; ``headers``: names and values.

    Of a repeated header the value least favourable to a claim is taken: both ETags and types, the latest Last-Modified,
    the oldest Date and Age.
    """
    values: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, value in headers:
        if text := header_text(value):
            values[name.lower()].append(text)
    kind, *others = dict.fromkeys(values[b"content-type"]) or [""]
    others += values[b"refresh"]  # with another one, equal bytes redirect elsewhere
    odd = others or _ODD.search(kind)
    charset = _CHARSET.search(kind)
    modified = max(values[b"last-modified"], key=lambda text: http_date(text) or -math.inf, default=None)
    called = [name for name in values if b"cache" in name and _CALLED.fullmatch(name)]
    dates = [date for text in values[b"date"] if (date := http_date(text)) is not None]
    return {
        "validators": Validators(", ".join(values[b"etag"]) or None, modified),
        "media_type": kind.split(";")[0].strip(" \t").lower() or None,
        "charset": ", ".join((kind, *others)).lower() if odd else charset[1].lower() if charset else None,
        "date": min(dates, default=None),
        "age": _age(values, called) if called or values.keys() & _OF_COPIES else None,
        "part": any(map(_of_a_part, values[b"content-range"])),
    }


def _of_a_part(text: str) -> bool:
    """Does a ``Content-Range`` not cover the whole? Only a 206 should have one (RFC 9110, 14.4)."""
    found = _RANGE.fullmatch(text)
    return found is None or int(found[1]) > 0 or int(found[2]) + 1 < int(found[3])


def is_part(outcome: Outcome) -> bool:
    """Does an answer show only a part of the page? We never request one, but servers break off.

    >>> from sharc_crawler.model import Outcome, Result
    >>> [is_part(Outcome(Result.OK, 0, 1, status=status, part=part)) for status, part in ((206, False), (200, True))]
    [True, True]
    """
    cut = outcome.result is Result.OK and (outcome.decoded or "").startswith(CUT)
    return cut or outcome.part or outcome.status == _PARTIAL


def _age(values: Mapping[bytes, Sequence[str]], called: Sequence[bytes]) -> Seconds | None:
    from sharc_crawler.evidence.copies_aged import age  # only for answers of caches

    return age(values, called, UNTOLD)
