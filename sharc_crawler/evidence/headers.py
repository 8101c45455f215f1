"""What the headers of an answer say that a judgement needs: one reading, for the crawl and for its verification."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sharc_crawler.changes.http import CUT, http_date
from sharc_crawler.model import Outcome, Result, Seconds, Validators

_ODD = re.compile(r',|"[^"]*;[^"]*"')  #: in a Content-Type: readers differ on what it says
_CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s;"]+)', re.IGNORECASE)
UNTOLD: Seconds = 1e9  #: age of a copy of which nobody says how old it is: any
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.IGNORECASE | re.ASCII)
_PARTIAL, REWRITTEN = 206, 203  #: the latter by a proxy, which does not say when it had it
#: names of no standard that tell of a cache between the site and us (``X-Cache``, ``CF-Cache-Status``): systems call
#: what they keep within the site ``X-…-Cache``, too
_BETWEEN = rb"77|akamai|cdn|cf|edge|fastcgi|kinsta|nginx|proxy|sucuri|vercel"
_CALLED = re.compile(rb"(?:x-|(?:x-)?(?:" + _BETWEEN + rb")-)cache(?:-(?:status|lookup|remote))?")
_OF_COPIES = {b"age", b"cache-status", b"server-timing", b"warning"}


def header_text(value: bytes | None) -> str | None:
    r"""A header's value as text, a character for each byte; ``None`` for none, and for an empty one.

    The one reading of writer, index and verifier. Other bytes are another text: :func:`header_bytes` gives them back.

    >>> header_text(b" image/png\xc3\xa9"), header_text(b"image/png\xe9"), header_text(b"")
    ('image/pngÃ©', 'image/pngé', None)
    """
    return (value.strip().decode("latin-1") or None) if value else None


def header_bytes(text: str) -> bytes:
    """The bytes that :func:`header_text` read."""
    return text.encode("latin-1")


def of_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, Any]:
    """Fields of an :class:`~sharc_crawler.model.Outcome`; ``headers``: names and values.

    A header that is there twice says what is least favourable to a claim: both ETags and types, the latest
    Last-Modified, the oldest Date and Age.
    """
    said: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, value in headers:
        if text := header_text(value):
            said[name.lower()].append(text)
    kind, *others = dict.fromkeys(said[b"content-type"]) or [""]
    others += said[b"refresh"]  # the same bytes lead elsewhere
    odd = others or _ODD.search(kind)
    charset = _CHARSET.search(kind)
    modified = max(said[b"last-modified"], key=lambda text: http_date(text) or -math.inf, default=None)
    called = [name for name in said if b"cache" in name and _CALLED.fullmatch(name)]
    dates = [date for text in said[b"date"] if (date := http_date(text)) is not None]
    return {
        "validators": Validators(", ".join(said[b"etag"]) or None, modified),
        "media_type": kind.split(";")[0].strip(" \t").lower() or None,
        "charset": ", ".join((kind, *others)).lower() if odd else charset[1].lower() if charset else None,
        "date": min(dates, default=None),
        "age": _age(said, called) if called or said.keys() & _OF_COPIES else None,
        "part": any(map(_of_a_part, said[b"content-range"])),
    }


def _of_a_part(text: str) -> bool:
    """Does a ``Content-Range`` not say that all is there? Only a 206 should bring one (RFC 9110, 14.4)."""
    found = _RANGE.fullmatch(text)
    return found is None or int(found[1]) > 0 or int(found[2]) + 1 < int(found[3])


def is_part(outcome: Outcome) -> bool:
    """Does an answer show a part of the page alone? No request of ours asks for one, and servers break off.

    >>> from sharc_crawler.model import Outcome, Result
    >>> [is_part(Outcome(Result.OK, 0, 1, status=status, part=part)) for status, part in ((206, False), (200, True))]
    [True, True]
    """
    cut = outcome.result is Result.OK and (outcome.decoded or "").startswith(CUT)
    return cut or outcome.part or outcome.status == _PARTIAL


def _age(said: Mapping[bytes, Sequence[str]], called: Sequence[bytes]) -> Seconds | None:
    from sharc_crawler.evidence.copies_aged import age  # of answers by caches

    return age(said, called, UNTOLD)
