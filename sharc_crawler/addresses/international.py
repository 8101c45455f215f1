"""Names of hosts with letters that are not ASCII, as browsers have them: UTS 46, not transitional.

Python's own codec, and Scrapy's requests, have ``strasse.de`` for ``straße.de``, which may be somebody else's.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from idna import uts46_remap

_AUTHORITY = re.compile(r"\w+://([^/?#\\]+)")
_LONG_LABEL = re.compile(r"[^.]{64}")  #: Punycode takes the square of its length


def ascii_authority(authority: str) -> str:
    """Host and port in ASCII; ValueError where there is no such name.

    >>> ascii_authority("Straße.de:81")
    'xn--strae-oqa.de:81'
    """
    if _LONG_LABEL.search(normalize("NFKC", authority)):
        raise ValueError(f"{authority!r} has a label of more than 63 letters")
    host, colon, port = authority.partition(":")
    host = uts46_remap(host, std3_rules=False, transitional=False)
    labels = (one if one.isascii() else f"xn--{one.encode('punycode').decode()}" for one in host.split("."))
    return ".".join(labels) + colon + port


def with_ascii_host(url: str) -> str:
    """A URL as it is requested.

    >>> with_ascii_host("http://straße.de/ä"), with_ascii_host("http://h/ä")
    ('http://xn--strae-oqa.de/ä', 'http://h/ä')
    """
    found = _AUTHORITY.match(url)
    if found is None or found[1].isascii():
        return url
    return url[: found.start(1)] + ascii_authority(found[1]) + url[found.end(1) :]
