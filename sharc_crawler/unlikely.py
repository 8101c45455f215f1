"""Names that nobody gives: what they show is how a site answers what it does not have."""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import cycle

_WORD, _NUMBER = re.compile(r"[A-Za-z0-9]+"), re.compile(r"[0-9]+")
LEAST = 6  #: letters and digits of a word that is made so
_NOBODYS = re.compile(r"no-such-page-[a-z]{10}|94[0-9]{7}(?![0-9])")


def unlikely(folder: str) -> str:
    """A name that no page of a folder has, the same each time; of letters, as what looks made up is not compared.

    >>> unlikely("http://h/x")
    'no-such-page-euxmcqqecr'
    """
    return "no-such-page-" + "".join(chr(ord("a") + byte % 26) for byte in sha256(folder.encode()).digest()[:10])


def look_at(url: str) -> str:
    """What is asked for to see a page's links once more.

    >>> look_at("http://h/x"), look_at("http://h/x?b=c")
    ('http://h/x?no-such-page-euxmcqqecr', 'http://h/x?b=c&no-such-page-dxvxamzfyj')
    """
    return f"{url}{'&' if '?' in url else '?'}{unlikely(url)}"


def is_unlikely(url: str) -> bool:
    """Is it one that nobody names, but for whoever wants to see an error page, or a page's links once more?

    >>> is_unlikely("http://h/x/no-such-page-euxmcqqecr"), is_unlikely("http://h/y/no-such-page-euxmcqqecr")
    (True, False)
    >>> is_unlikely("http://h/x?no-such-page-euxmcqqecr")
    True
    """
    known, sign, name = url[:-24], url[-24:-23], url[-23:]
    return sign in {"/", "?", "&"} and name.startswith("no-such-page-") and name == unlikely(known)


def nobodys(url: str, like: str, more: str = "") -> str:
    """An address that nobody names, of the kind of two: the last word in which they differ, or its number, is another.

    ``more``: digits for others.

    >>> nobodys("http://h/photo/x7Gk2p?b=c", "http://h/photo/kqzv?b=c")
    'http://h/photo/no-such-page-nwnipukmgt?b=c'
    >>> nobodys("http://h/msg7.html", "http://h/msg12.html")
    'http://h/msg944898096.html'
    """
    words, others = ([*_WORD.finditer(one, one.find("/", len("https://")))] for one in (url, like))
    pairs = list(zip(words, others, strict=False))
    word, other = ([pair for pair in pairs if pair[0][0] != pair[1][0]] or [(words[-1], words[-1])])[-1]
    numbers = list(_NUMBER.finditer(url, *word.span()))
    if numbers and _NUMBER.sub("", word[0]) == _NUMBER.sub("", other[0]):
        word = numbers[-1]
    known = url[: word.start()] + more
    return f"{known}{_number(known) if word[0].isdecimal() else unlikely(known)}{url[word.end() :]}"


def is_nobodys(url: str) -> bool:
    """Whether a URL has a name that :func:`nobodys` makes.

    >>> is_nobodys("http://h/photo/no-such-page-nwnipukmgt"), is_nobodys("http://h/photo/no-such-page-euxmcqqecr")
    (True, False)
    >>> is_nobodys("http://h/msg944898096.html"), is_nobodys("http://h/msg944898097.html")
    (True, False)
    """
    return bool(made_up_name(url))


def made_up_name(url: str) -> str:
    """The name that :func:`nobodys` made; empty: there is none.

    >>> made_up_name("http://h/msg944898096.html")
    '944898096'
    """
    known = ((found[0], url[: found.start()]) for found in _NOBODYS.finditer(url))
    name = next((name for name, before in known if name in {unlikely(before), _number(before)}), "")
    words = ((word[0], url[: word.start()]) for word in _WORD.finditer(url) if len(word[0]) >= LEAST)
    return name or next((word for word, before in words if word == kindred(before, word)), "")


def kindred(known: str, like: str) -> str:
    """What nobody names, of letters and digits where another has them: who checks its form takes it for one.

    >>> kindred("http://h/s/", "x7Gk2p"), kindred("http://h/s/", "3f9a8b7c-0d1e")
    ('z5Tb7i', '7f1d7c8f-0a9c')
    """
    hexadecimal = re.fullmatch(r"[0-9A-Fa-f\W]+", like)
    letters = "abcdef" if hexadecimal else "abcdefghijklmnopqrstuvwxyz"
    made = ""
    for byte, one in zip(cycle(sha256(known.encode()).digest()), like, strict=False):
        letter = letters[byte % len(letters)]
        made += (
            str(byte % 10) if one.isdecimal() else letter.upper() if one.isupper() else letter if one.isalpha() else one
        )
    return made


def _number(known: str) -> str:
    return f"94{int.from_bytes(sha256(known.encode()).digest()[:4]) % 10**7:07}"
