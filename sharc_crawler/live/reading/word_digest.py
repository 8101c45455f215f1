"""A digest of a page's words: of the endless pages that a server makes up, most have the same.

Sites have many pages, so nothing is done word by word: a text is searched as a whole, and examined more closely only
where something is found.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sharc_crawler.changes.attributes import MADE_UP
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.noise import spaced_text

if TYPE_CHECKING:
    from sharc_crawler.links.dated import Dated

_ENOUGH = 16  #: characters, without white space, that distinguish one page from another
_YEAR = re.compile(r"(?<!\d)(?:19|20|21)\d\d")
_LEAST = 4  #: characters of a part of an address that is removed from the text: error pages repeat it
_PARTS = re.compile(rf"[^/?&=#:]{{{_LEAST},}}")
_SIGNS = string.punctuation.encode()
_NAMES = re.compile(rf"no-such-page-[a-z]{{10}}|[^\W_]{{{_LEAST},}}")
_SPACES = b" \t\n\v\f\r\x1c\x1d\x1e\x1f"
#: a UUID has four parts that are too short by themselves
FRAGMENT = re.compile(rb"\b[\da-f]{8}(-[\da-f]{4}){3}-|" + MADE_UP.pattern.encode(), re.IGNORECASE)
_DIGITS, _LETTERS = b"0123456789", b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Maps a text to its shape: digits to 0, letters to a (or hexadecimal digits to 0), all else to blanks.
_KINDS = bytes(ord("0" if byte in _DIGITS else "a" if byte in _LETTERS else " ") for byte in range(256))
_HEXADECIMAL = bytes(ord("0" if byte in b"0123456789abcdefABCDEF" else " ") for byte in range(256))
_WORDS = bytes(ord("0" if byte in _DIGITS else " " if byte in _SPACES else "a") for byte in range(256))
FIGURES = 200  #: digits: a table, or readings, has more
_LONG, _MANY_DIGITS = 6, 3  #: characters of a word with a number, and digits, from which on it may be made up
#: Whatever looks made up contains one of these: in the hexadecimal shape, in the other shape.
_NUMBER, _BY_TURNS = re.compile(b"00000000"), re.compile(b"0aa{0,3}0")
MANY = 2_000  #: runs that may be made up, above which the whole text is searched instead


def words(text: str, resources: Sequence[str], url: str) -> str | None:
    """Digest of a page's text and pictures, without what is made up for its visitor.

    In a second line that without its own address and long numbers, where these stand in it. White space does not
    count, nor do dates of a calendar's page, which may have no more. ``None`` where there is next to nothing: pages
    that differ in something else would look alike. But where something within an address looks made up, what is shown
    counts, however little.

    >>> words("log in", (), "http://h/3"), words("log in", (), "http://h/s/3f9a8b7c/p") is None
    (None, False)
    """
    text = spaced_text(text)
    path = unquote(url.partition("://")[2].partition("/")[2])
    other, date = text, None
    for own in (path, path.partition("?")[0].strip("/")):  # removed whole, so that no rest of them stays
        other = other.replace(own, " ") if len(own) >= _LEAST else other
    if _YEAR.search(url):
        from sharc_crawler.links.dated import dated  # rarely needed

        date = dated(url)
    words = _said(text, date)
    parts = sorted(set(_PARTS.findall(unquote(url))), key=len, reverse=True)
    bare = _without(parts, words if other == text else _said(other, date))
    if date is None and len(bare.decode(errors="replace")) < _ENOUGH:
        from sharc_crawler.traps.made_up import made_up  # rarely needed: few pages have so few words

        if not (bare or resources) or not made_up(url):
            return None
    if date is None and len(lasting := _lasting(other, unquote(url))) >= _ENOUGH:
        bare = lasting
    pictures = "".join(f"\n{one.partition('?')[0].rpartition('/')[2]}" for one in resources) + pictures_of(resources)
    return "\n".join(labelled_digest(one + pictures.encode()) for one in dict.fromkeys((words, bare)))


def _lasting(text: str, url: str) -> bytes:
    """A text without long numbers and without the words of its own address; empty if it is mostly numbers."""
    raw = text.encode(errors="replace")
    if len(raw) - len(raw.translate(None, _DIGITS)) > FIGURES:
        return b""
    own = {*_PARTS.findall(url), *_NAMES.findall(url)}
    words = _without(sorted(own, key=len, reverse=True), without_numbers(raw))
    return words.translate(None, _SIGNS)  # all signs, as some went with the words


def _without(parts: Sequence[str], words: bytes) -> bytes:
    """The text without these parts, and without white space."""
    words = words.translate(None, _SPACES)
    for part in parts:
        words = words.replace(part.encode().translate(None, _SPACES), b"")
    return words


def without_numbers(text: bytes) -> bytes:
    """Text without words that hold a three-digit number, or longer words with any number: they may be made up.

    >>> without_numbers(b"page 3 at 14:07 of incident A7K2P9")
    b'page 3 at  of incident '
    """
    kinds = text.translate(_WORDS)
    parts: list[bytes] = []
    done, at = 0, kinds.find(b"0")
    while at >= 0:
        start, end = kinds.rfind(b" ", 0, at) + 1, kinds.find(b" ", at)
        end = len(kinds) if end < 0 else end
        if end - start >= _LONG or kinds.count(b"0", at, end) >= _MANY_DIGITS:
            parts.append(text[done:start])
            done = end
        at = kinds.find(b"0", end)
    return b"".join((*parts, text[done:])) if parts else text


def _said(text: str, date: Dated | None) -> bytes:
    """The part of a text that counts, without white space."""
    words = without_made_up(text.encode(errors="replace"))
    if date:
        from sharc_crawler.links.dated import without_dates

        words = without_dates(words.decode(errors="replace"), date).encode()
    return words.translate(None, _SPACES)


def without_made_up(text: bytes) -> bytes:
    """Text without what looks made up.

    >>> without_made_up(b"page 3 of deadbeef00c0ffee")
    b'page 3 of  '
    >>> without_made_up(b"not here (5f1c3a9e-7b2d-4e61-9c0f-2a8d4b6e1f37, 17)")
    b'not here (  , 17)'
    """
    suspects = list(islice(_suspects(text), MANY))
    if len(suspects) == MANY:
        return FRAGMENT.sub(b" ", text)
    parts: list[bytes] = []
    done = 0
    for start, end in sorted(set(suspects)):
        if start < done:  # part of a UUID
            continue
        parts += text[done:start], FRAGMENT.sub(b" ", text[start:end])
        done = end
    return b"".join((*parts, text[done:])) if parts else text


def _suspects(text: bytes) -> Iterator[tuple[int, int]]:
    """Runs of letters and digits that may hold something made up."""
    kinds = text.translate(_KINDS)
    for shape, mark in ((text.translate(_HEXADECIMAL), _NUMBER), (kinds, _BY_TURNS)):
        end = 0
        while found := mark.search(shape, end):
            start, end = kinds.rfind(b" ", 0, found.start()) + 1, kinds.find(b" ", found.start())
            end = len(kinds) if end < 0 else end
            if text[end : end + 1] == b"-" and (made_up := FRAGMENT.match(text, start)):
                end = max(end, made_up.end())
            yield start, end


_FILE = r"\.(?!(?:php|cgi|pl|aspx?|jsp|do)\Z)\w{1,5}\Z"  #: its query may only be there for caches


def pictures_of(addresses: Sequence[str]) -> str:
    """Queries of embedded URLs that are scripts, without what looks made up.

    >>> pictures_of(["http://h/img.php?id=7", "http://h/logo.png?v=2"])
    '?id=7'
    """
    queries = (
        query for path, _, query in (one.partition("?") for one in addresses) if query and not re.search(_FILE, path)
    )
    return "".join(f"?{without_made_up(query.encode()).decode()}" for query in queries)
