"""Find URLs in ``data-`` attributes for lazy loading.

The attributes are those of lazysizes, vanilla-lazyload, lozad, jQuery Lazy Load, Slick, Swiper and plug-ins of
WordPress. Other values in them (flags, URL templates) are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_SOURCES = {
    "img": ("data-src", "data-original", "data-lazy-src", "data-lazy"),
    "source": ("data-src",),
    "iframe": ("data-src", "data-lazy-src"),
    "video": ("data-src", "data-poster"),
}
_CANDIDATES = {"img": ("data-srcset", "data-lazy-srcset"), "source": ("data-srcset",)}
_ADDRESS = re.compile(r"/|\.[a-z]\w{1,4}(?:[?#\s]|\Z)", re.IGNORECASE)  #: a slash, or a file's extension
_TEMPLATE = re.compile(r"[{}<>]")


def references(element: Any, tag: str) -> Iterator[str]:
    """The URLs that are loaded lazily into an element."""
    found = [address for name in _SOURCES.get(tag, ()) if (address := element.get(name))]
    for name in _CANDIDATES.get(tag, ()):
        if srcset := element.get(name):
            found.extend(srcset_candidates(srcset))
    return filter(is_address, found)


def is_address(text: str) -> bool:
    """Is it a URL, rather than a flag or template?"""
    return _ADDRESS.search(text) is not None and _TEMPLATE.search(text) is None


#: A URL, which a comma may end; otherwise descriptors follow, up to the next comma outside of brackets.
_CANDIDATE = re.compile(r"([^\s,]\S*+)(?:(?<=,)|(?:[^,(]++|\([^)]*+\)?)*+)")


def srcset_candidates(srcset: str) -> Iterator[str]:
    """The image URLs of a ``srcset`` attribute, by the HTML Standard's rules.

    >>> list(srcset_candidates("a.png, b,c.png 2x, data:image/png;base64,xx 3x"))
    ['a.png', 'b,c.png', 'data:image/png;base64,xx']
    """
    for match in _CANDIDATE.finditer(srcset):
        yield match[1].rstrip(",")
