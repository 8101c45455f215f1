"""What in an address is made anew for each request, by its looks: signatures, click ids, times.

A made-up value may as well say which document is meant (``?v=``, ``?id=``), so by itself it counts. It does not beside
a whole address that the link leads on to, nor under a name that nothing but a signature or a click id has.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_LONG = 16  #: characters of a value that nobody typed, at least
_MIXED = 0.25  #: of its characters, at least so many follow one of another kind (letter or digit, large or small)
_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_ALPHABET = re.compile(r"[\w.~%+/=-]+", re.ASCII)
_LEADS_ON = re.compile(r"(?:https?:)?//[\w.-]+\.", re.IGNORECASE)
#: click ids of advertisers, which name who clicked, not what
_CLICK = re.compile(
    r"(?:fb|g|d|y|w|tt|li_|msclk|igsh|mc_e)(?:cl|fat_|)id|gclsrc|_ga|_gl|__\w+__(?:\[\d*\])?", re.IGNORECASE
)
_SIGNATURE = re.compile(r"sig|hmac|mac", re.IGNORECASE)
_TIME = re.compile(r"1\d{9}(?:\d{3})?")  #: unix seconds or milliseconds, without a name
_APART = re.compile(r"([&;])")


def looks_made_up(value: str) -> bool:
    """Whether a value is no word, number or slug: letters and digits, all mixed.

    >>> [looks_made_up(text) for text in ("AT0kq7Zx91mPq2sLw8", "the-river-and-the-bridge-2024", "20261120103107")]
    [True, False, False]
    """
    if len(value) < _LONG or not _ALPHABET.fullmatch(value):
        return False
    kinds = [kind for part in re.split(r"[\W_]+", value) for kind in _KINDS.findall(part)]
    letters, digits = (any(one[0].isdigit() is number for one in kinds) for number in (False, True))
    return letters and digits and len(kinds) - 1 >= _MIXED * len(value)


def without_tokens(query: str) -> str:
    """A query without the parameters that are tokens by their looks.

    >>> without_tokens("u=https%3A%2F%2Fexample.org%2Fa&h=AT0kq7Zx91mPq2sLw8"), without_tokens("v=AT0kq7Zx91mPq2sLw8")
    ('u=https%3A%2F%2Fexample.org%2Fa', 'v=AT0kq7Zx91mPq2sLw8')
    """
    parts = _APART.split(query)
    pairs = [pair.partition("=") for pair in parts[::2]]
    leads_on = any(_LEADS_ON.match(unquote(value)) for _, _, value in pairs)
    kept = [pair for pair, one in zip(parts[::2], pairs, strict=True) if not _is_token(*one, leads_on=leads_on)]
    return query if len(kept) == len(pairs) else "&".join(kept)


def _is_token(name: str, equals: str, value: str, *, leads_on: bool) -> bool:
    if not equals:
        return bool(_TIME.fullmatch(name))
    if _CLICK.fullmatch(unquote(name)):
        return True
    plain = unquote(value)
    signs = leads_on and not _LEADS_ON.match(plain)
    return (signs or bool(_SIGNATURE.fullmatch(name))) and looks_made_up(plain)
