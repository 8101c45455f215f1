r"""Extract the references of style sheets: ``url(…)``, ``@import``, and strings in ``image-set(…)``.

It scans for the tokens of CSS Syntax Level 3 that can contain or hide a reference, without parsing style rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import Match

from sharc_crawler.bodies.text import as_text
from sharc_crawler.links.found import Found, Resolver

_PATTERN = r"""
      /\*(?:[^*]+|\*(?!/))*+(?:\*/|\Z)                          # a comment
    | @namespace\b[^;]*                                       # a vocabulary, not a file
    | @import(?:\s|/\*(?:[^*]+|\*(?!/))*+\*/)*(?P<import>"(?:[^"\\\n]+|\\[\s\S])*+"?|'(?:[^'\\\n]+|\\[\s\S])*+'?)
    | (?<![\w-])url\(\s*(?:
          (?P<quoted>"(?:[^"\\\n]+|\\[\s\S])*+"?|'(?:[^'\\\n]+|\\[\s\S])*+'?)
        | (?P<bare>(?:[^"'()\\\s]+|\\(?:[0-9a-f]{1,6}\s?|[^\n]))*+)
      )
    | (?P<other>"(?:[^"\\\n]+|\\[\s\S])*+"?|'(?:[^'\\\n]+|\\[\s\S])*+'?)   # any other string
    """
_TOKEN = re.compile(_PATTERN, re.VERBOSE | re.IGNORECASE)
#: the same with tokens that tell where an ``image-set(`` ends; rarely needed
_TOKEN_OR_BRACKET = re.compile(_PATTERN + r"| (?P<set>image-set\() | (?P<bracket>[(){};])", re.VERBOSE | re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(\r\n|[\s\S])|\Z)", re.IGNORECASE)
_CHARSET = re.compile(rb'@charset "([\w:.-]{1,40})";', re.IGNORECASE)
_HIGHEST_CODE_POINT = 0x10FFFF


def references(text: str) -> Iterator[str]:
    r"""The references in a style sheet (or a ``style`` attribute), as written, in order.

    >>> list(references('@import "a.css"; b { background: url( c\\29.png ) } /* url(d) */'))
    ['a.css', 'c).png']
    """
    sets = "image-set(" in text.lower()
    for match in _in_image_sets(text) if sets else _TOKEN.finditer(text):
        if match.lastgroup == "bare":
            reference = match["bare"]
        elif match.lastgroup in ("import", "quoted") or (sets and match.lastgroup):
            reference = _unquoted(match[match.lastgroup])
        else:
            continue
        if reference:
            yield _ESCAPE.sub(_escaped_character, reference) if "\\" in reference else reference


def _in_image_sets(text: str) -> Iterator[Match[str]]:
    """Tokens with references; other strings only directly in an ``image-set(``."""
    depth = 0  #: 1: in an image-set; more: in a function within it, such as ``type(…)``
    for match in _TOKEN_OR_BRACKET.finditer(text):
        if match.lastgroup == "set":
            depth = 1
        elif match.lastgroup == "bracket":
            inner = {"(": 1, ")": -1}.get(match[0])
            depth = max(0, depth + inner) if depth and inner else 0
        elif match.lastgroup in ("quoted", "bare"):
            depth += bool(depth)  # url( includes a bracket
            yield match
        elif match.lastgroup == "import" or (match.lastgroup == "other" and depth == 1):
            yield match


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:
    """The references of a style sheet, all of them resources: imported sheets, fonts, images. Never raises.

    >>> extract(b"@font-face { src: url(f.woff2) }", "http://h/css/a.css").resources
    ('http://h/css/f.woff2',)
    """
    declared = _CHARSET.match(body)
    header = content_type if content_type and "charset" in content_type.lower() else None
    if header is None and declared:
        header = f"text/css; charset={declared[1].decode()}"
    resources, left_out = Resolver(url).all(references(as_text(body, header)[1]))
    return Found((), resources, url, left_out)


def _unquoted(string: str) -> str:
    """The text of a string token; empty if the end of a line cuts it off."""
    return string[1:-1] if len(string) > 1 and string[-1] == string[0] else ""


def _escaped_character(match: Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code <= _HIGHEST_CODE_POINT else "\ufffd"
    return "" if (match[2] or "\n")[0] in "\r\n\f" else match[2]
