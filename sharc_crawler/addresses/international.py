"""Host names with non-ASCII letters, encoded as in browsers: UTS 46, not transitional.

Python's own codec, and Scrapy's requests, turn ``straße.de`` into ``strasse.de``, which may be another site.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from idna import uts46_remap

_AUTHORITY = re.compile(r"\w+://([^/?#\\]+)")
_LONG_LABEL = re.compile(r"[^.]{64}")  #: Punycode takes quadratic time


def ascii_authority(authority: str) -> str:
    """Return host and port in ASCII; raise ValueError for an invalid name.

    >>> ascii_authority("Straße.de:81")
    'xn--strae-oqa.de:81'
    """
    if _LONG_LABEL.search(normalize("NFKC", authority)):
        raise ValueError(f"{authority!r} has a label of more than 63 letters")
    host, colon, port = authority.partition(":")
    host = uts46_remap(host, std3_rules=False, transitional=False)
    labels = (label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in host.split("."))
    return ".".join(labels) + colon + port


def with_ascii_host(url: str) -> str:
    """Return a URL as it is requested, with its host in ASCII.

    >>> with_ascii_host("http://straße.de/ä"), with_ascii_host("http://h/ä")
    ('http://xn--strae-oqa.de/ä', 'http://h/ä')
    """
    found = _AUTHORITY.match(url)
    if found is None or found[1].isascii():
        return url
    return url[: found.start(1)] + ascii_authority(found[1]) + url[found.end(1) :]
