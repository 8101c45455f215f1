"""What the headers of an answer say that a judgement needs: one reading, for the crawl and for its verification."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sharc_crawler.changes.http_date import http_date
from sharc_crawler.model import Validators

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.model import Outcome

_CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s;"]+)', re.IGNORECASE)
#: a Last-Modified that lies so little before the Date is weak (RFC 9110, 8.8.2.2), or made on request
_TOO_FRESH = 1.0


def header_text(value: bytes | None) -> str | None:
    r"""A header's value as text, a character for each byte; ``None`` for none, and for an empty one.

    The one reading of writer, index and verifier. Other bytes are another text: :func:`header_bytes` gives them back.

    >>> header_text(b" image/png\xc3\xa9"), header_text(b"image/png\xe9"), header_text(b"")
    ('image/pngÃ©', 'image/pngé', None)
    """
    return (value.strip().decode("latin-1") or None) if value else None


def header_bytes(text: str) -> bytes:
    r"""The bytes that :func:`header_text` read.

    >>> header_bytes(header_text(b'"\xc3\xa0"'))
    b'"\xc3\xa0"'
    """
    return text.encode("latin-1")


def of_headers(header: Callable[[str], str | None]) -> dict[str, Any]:
    """Fields of an :class:`~sharc_crawler.model.Outcome`; ``header`` gives a header's first value as text.

    >>> of_headers({"Age": "7", "Content-Type": "Text/HTML; charset=UTF-8"}.get)["charset"]
    'utf-8'
    """
    kind = header("Content-Type") or ""
    charset = _CHARSET.search(kind)
    age = (header("Age") or "").partition(",")[0].strip()
    return {
        "validators": Validators(header("ETag"), header("Last-Modified")),
        "media_type": kind.split(";")[0].strip(" \t").lower() or None,
        "charset": charset[1].lower() if charset else None,
        "date": http_date(header("Date")),
        "age": float(age) if age.isascii() and age.isdigit() else None,
    }


def made_on_request(outcome: Outcome) -> bool:
    """Does its Last-Modified lie within a second of its Date?"""
    modified = http_date(outcome.validators.last_modified)
    return modified is not None and outcome.date is not None and modified >= outcome.date - _TOO_FRESH


def weak(outcome: Outcome) -> bool:
    """May its validators stay the same though bytes change?

    >>> from sharc_crawler.model import Outcome, Result
    >>> [weak(Outcome(Result.OK, 0, 1, validators=Validators(etag))) for etag in ('"1"', 'W/"1"')]
    [False, True]
    """
    etag = outcome.validators.etag
    if etag:
        return etag.startswith("W/")
    return outcome.validators.last_modified is not None and (outcome.date is None or made_on_request(outcome))
