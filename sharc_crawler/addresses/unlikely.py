"""Made-up names: probes for them show how a site answers requests for missing pages."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAYS = "\nsays "
_PLAIN = r"(?<!%)(?<!%[0-9A-Fa-f])"  # not half an escape
#: escaped non-ASCII letters belong to words; other escapes (a space) separate them
_WORD = re.compile(rf"(?:{_PLAIN}[A-Za-z0-9]|%[89A-Fa-f][0-9A-Fa-f])+")
_NUMBER, _END = re.compile(rf"{_PLAIN}[0-9]+"), re.compile(r"\Z")
_NOBODYS = re.compile(r"no-such-page-[a-z]{10}|94[0-9]{7}(?=0*(?![0-9]))")


def unlikely(folder: str) -> str:
    """Return a name that no page of a folder has, the same each time; of letters only, since numbers are not compared.

    >>> unlikely("http://h/x")
    'no-such-page-euxmcqqecr'
    >>> unlikely("http://h/O'") == unlikely("http://h/O%27")
    True
    """
    return "no-such-page-" + "".join(chr(ord("a") + byte % 26) for byte in _hash(folder)[:10])


def look_at(url: str) -> str:
    """Return the probe's URL to see a page's links once more.

    >>> look_at("http://h/x"), look_at("http://h/x?b=c")
    ('http://h/x?no-such-page-euxmcqqecr', 'http://h/x?b=c&no-such-page-dxvxamzfyj')
    """
    return f"{url}{'&' if '?' in url else '?'}{unlikely(url)}"


def look_again_at(url: str) -> str:
    """Return the URL of a second such probe.

    >>> look_again_at("http://h/x")
    'http://h/x?no-such-page-olsvlqbvsa'
    """
    return f"{url}{'&' if '?' in url else '?'}{unlikely(f'{url}?')}"


def looked_at(url: str) -> str:
    """Return the page that such a probe is for; empty for a probe of a folder's error page.

    >>> looked_at("http://h/x?no-such-page-euxmcqqecr"), looked_at("http://h/x/no-such-page-euxmcqqecr")
    ('http://h/x', '')
    """
    page = re.match(r"(.*)[?&#]no-such-page-[a-z]+$", url)
    return page[1] if page else ""


def look_closely_at(look: str) -> str:
    """Return the probe's URL for a server that refuses unknown queries: a fragment is never sent.

    >>> look_closely_at("http://h/x?no-such-page-euxmcqqecr"), look_closely_at("http://h/x?no-such-page-olsvlqbvsa")
    ('http://h/x#no-such-page-euxmcqqecr', 'http://h/x#no-such-page-olsvlqbvsa')
    """
    page = looked_at(look)
    return f"{page}#{look[len(page) + 1 :]}"


def is_unlikely(url: str) -> bool:
    """Is it the URL of a probe for an error page, or for a page's links?

    >>> is_unlikely("http://h/x/no-such-page-euxmcqqecr"), is_unlikely("http://h/y/no-such-page-euxmcqqecr")
    (True, False)
    >>> is_unlikely("http://h/x?no-such-page-euxmcqqecr")
    True
    """
    known, sign, name = url[:-24], url[-24:-23], url[-23:]
    return (
        sign in {"/", "?", "&", "#"}
        and name.startswith("no-such-page-")
        and name in {unlikely(known), unlikely(f"{known}?")}
    )


def nobodys(url: str, like: str, more: str = "") -> str:
    """Return a made-up URL like the two given: the last word (or number) in which they differ is replaced.

    ``more``: digits that give further ones.

    >>> nobodys("http://h/photo/x7Gk2p?b=c", "http://h/photo/kqzv?b=c")
    'http://h/photo/no-such-page-nwnipukmgt?b=c'
    >>> nobodys("http://h/msg7.html", "http://h/msg12.html")
    'http://h/msg944898096.html'
    >>> nobodys("http://h/%E6%97%A5", "http://h/%E6%97%A6"), nobodys("http://h/a%20b", "http://h/a%20c")
    ('http://h/no-such-page-ratlkbhagi', 'http://h/a%20no-such-page-yjhofmyuxl')
    """
    words, others = (
        [*_WORD.finditer(text, text.find("/", len("https://")))] or [*_END.finditer(text)] for text in (url, like)
    )
    pairs = list(zip(words, others, strict=False))
    word, other = ([pair for pair in pairs if pair[0][0] != pair[1][0]] or [(words[-1], words[-1])])[-1]
    numbers = list(_NUMBER.finditer(url, *word.span()))
    if numbers and _NUMBER.sub("", word[0]) == _NUMBER.sub("", other[0]):
        word = numbers[-1]
    known = url[: word.start()] + more
    made = unlikely(known)
    if word[0].isdecimal():  # an offset is a multiple of ten
        made = _number(known) + "0" * (len(word[0]) - len(word[0].rstrip("0")))
    return f"{known}{made}{url[word.end() :]}"


def is_nobodys(url: str) -> bool:
    """Has a URL a name that :func:`nobodys` makes?

    >>> is_nobodys("http://h/photo/no-such-page-nwnipukmgt"), is_nobodys("http://h/photo/no-such-page-euxmcqqecr")
    (True, False)
    >>> is_nobodys("http://h/msg944898096.html"), is_nobodys("http://h/msg944898097.html")
    (True, False)
    """
    return bool(made_up_name(url))


def made_up_name(url: str) -> str:
    """Return the name that :func:`nobodys` made; empty if there is none.

    >>> made_up_name("http://h/msg944898096.html")
    '944898096'
    """
    known = ((found[0], url[: found.start()]) for found in _NOBODYS.finditer(url))
    return next((name for name, before in known if name in {unlikely(before), _number(before)}), "")


def _number(known: str) -> str:
    return f"94{int.from_bytes(_hash(known)[:4]) % 10**7:07}"


def _hash(text: str) -> bytes:
    """Hash a text however it is escaped: requested URLs may be escaped further."""
    return sha256(unquote_to_bytes(text)).digest()


def with_sayings(words: str | None, numbers: Iterable[int]) -> str:
    """Join a digest of a page's content and the numbers of its words."""
    return f"{words or ''}{_SAYS}{' '.join(f'{number:08x}' for number in numbers)}"


def without_sayings(content: str | None) -> str | None:
    """Return the digest alone; ``None`` if there is none.

    >>> one = with_sayings("sha1:A", [7, 8])
    >>> without_sayings(one), sayings_in(one), sayings_in("sha1:A")
    ('sha1:A', [7, 8], None)
    """
    return (content and content.partition(_SAYS)[0]) or None


def sayings_in(content: str | None) -> list[int] | None:
    """Return the numbers of the words; ``None`` if there are none."""
    _, mark, numbers = (content or "").partition(_SAYS)
    return [int(number, 16) for number in numbers.split()] if mark else None
