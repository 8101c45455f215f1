"""Tell which URLs are pages: those captured as HTML, or without media type unless their name says otherwise."""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.fingerprint import is_html

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.hacs.captures import Captures

UNSAID, OTHER, HTML = 0, 1, 2  #: kinds of captures; a URL has the greatest of its captures' kinds
_UNSAID = {"", "-", "unk", "no-type", "warc/revisit"}
_FOR_ROBOTS = re.compile(r"/robots\.txt$|/[^/]*sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$")
_NAMES = mimetypes.MimeTypes()  # without the system's list, so that it is the same everywhere


class MediaTypes(dict[bytes, int]):
    """The kinds of captures by the media type in an index, cached.

    >>> kinds = MediaTypes()
    >>> [kinds[text] for text in (b"text/html; charset=utf-8", b"image/png", b"warc/revisit")]
    [2, 1, 0]
    """

    def __missing__(self, text: bytes) -> int:
        name = text.decode("latin-1").partition(";")[0].strip().lower()
        return self.setdefault(text, UNSAID if name in _UNSAID else HTML if is_html(name) else OTHER)


def why_no_page(key: str, kind: int) -> str:
    """Why a URL is not a page, by its sort key and kind; empty: it is one.

    >>> [why_no_page(f"org,a)/{name}", UNSAID) for name in ("", "b.php", "b.png?v=2", "robots.txt")]
    ['', '', 'not HTML', 'robots.txt or a sitemap']
    >>> why_no_page("org,a)/b.png", HTML), why_no_page("org,a)/feed", OTHER)
    ('', 'not HTML')
    """
    path = key.partition(")")[2].partition("?")[0]
    if _FOR_ROBOTS.search(path):
        return "robots.txt or a sitemap"
    named = _NAMES.guess_type(path)[0]
    html = named is None or is_html(named) if kind == UNSAID else kind == HTML
    return "" if html else "not HTML"


def pages_among(captures: Captures, kinds: NDArray[np.int8]) -> tuple[list[int], Counter[str]]:
    """The URLs that are pages, and the numbers of others by reason; ``kinds``: the kind of each URL."""
    held = np.diff(captures.offsets) > 0
    reasons = [
        why_no_page(key, kind) if some else "no capture with status 200"
        for key, kind, some in zip(captures.keys, kinds.tolist(), held.tolist(), strict=True)
    ]
    return [url for url, reason in enumerate(reasons) if not reason], Counter(filter(None, reasons))
