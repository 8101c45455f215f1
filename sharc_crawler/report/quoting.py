"""Words of a command that no terminal shows as they are, written so that a shell takes them for these."""

from __future__ import annotations

from shlex import quote


def quoted(word: str) -> str:
    r"""A word for a shell (bash, zsh, ksh): what cannot be printed as its bytes.

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
