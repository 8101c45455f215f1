"""Names that nobody gives: what they show is how a site answers what it does not have."""

from __future__ import annotations

from hashlib import sha256


def unlikely(folder: str) -> str:
    """A name that no page of a folder has, the same each time; of letters, as what looks made up is not compared.

    >>> unlikely("http://h/x")
    'no-such-page-euxmcqqecr'
    """
    return "no-such-page-" + "".join(chr(ord("a") + byte % 26) for byte in sha256(folder.encode()).digest()[:10])


def is_unlikely(url: str) -> bool:
    """Is it one that nobody names, but for whoever wants to see an error page, or a page's links once more?

    >>> is_unlikely("http://h/x/no-such-page-euxmcqqecr"), is_unlikely("http://h/y/no-such-page-euxmcqqecr")
    (True, False)
    >>> is_unlikely("http://h/x?no-such-page-euxmcqqecr")
    True
    """
    known, sign, name = url[:-24], url[-24:-23], url[-23:]
    return sign in {"/", "?", "&"} and name.startswith("no-such-page-") and name == unlikely(known)
