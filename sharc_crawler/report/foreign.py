"""Untrusted text for terminals, and for command lines."""

from __future__ import annotations

from shlex import quote

from rich.text import Text

from sharc_crawler.report.words import printable


def foreign(text: str, style: str = "") -> Text:
    """Untrusted text as a rich Text: without control characters or markup."""
    return Text(printable(text), style)


def quoted(word: str) -> str:
    r"""A word quoted for a shell (bash, zsh, ksh); unprintable characters as escaped bytes.

    >>> print(quoted("a b"), quoted("new\nline"), quoted("lat\udcfcn's"), quoted("a\u202e\\b"))
    'a b' $'new\x0aline' $'lat\xfcn\'s' $'a\xe2\x80\xae\\b'
    """
    if word.isprintable():
        return quote(word)
    return "$'" + "".join(map(_letter, word)) + "'"


def _letter(letter: str) -> str:
    if letter in "\\'":
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return "".join(f"\\x{byte:02x}" for byte in letter.encode(errors="surrogateescape"))
