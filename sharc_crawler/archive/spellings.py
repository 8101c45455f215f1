"""What replay shows of addresses that links spell otherwise than they were asked for, or that share an index key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from sharc_crawler.archive.cdxj import index_lines
from sharc_crawler.urls import _PARAMETERS

if TYPE_CHECKING:
    from pathlib import Path

_DROPPED = _PARAMETERS.pattern.replace(".*", "[^&]*")
_IN_PATH = ";jsessionid=[^/;?]*"
_BEFORE = "    url_normalize:\n"
_SAME = "".join(
    f"        - match: '(?i){expression}'\n          replace: ''\n"
    for expression in (_IN_PATH, rf"(?<=[?&])(?:{_DROPPED})&", rf"[?&](?:{_DROPPED})$")
)
#: pywb's own last rule looks for what differs in the query alone; ours in the path's session, too
_LAST = re.compile(r"(- url_prefix: ''\n +fuzzy_lookup:\n)( +)match: '\(\)'\n?")
_ANY = rf"(?i){_IN_PATH}|/?\?.*$"


def rules(program: Path) -> str:
    """The rules of pywb for addresses not in its index, and what a crawl drops of them; empty: it has other rules."""
    for path in program.resolve().parent.parent.glob("lib/python*/site-packages/pywb/rules.yaml"):
        own = path.read_text(encoding="utf-8")
        if _BEFORE in own and _LAST.search(own):
            return _LAST.sub(_last, own.replace(_BEFORE, _BEFORE + _SAME, 1))
    return ""


def _last(found: re.Match[str]) -> str:
    indent = found[2]
    return f"{found[1]}{indent}re_type: sub\n{indent}match: '{_ANY}'\n{indent}replace: ''\n"


def preferred(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a sorted index, without failures of one spelling of an address where another was answered.

    Keys fold case: ``MAIN.HTM``, which is not there, and ``main.htm``, which is, are one to a replay.
    """
    for _, group in groupby(lines, key=lambda line: line.partition(" ")[0]):
        alike = list(group)
        if len({line.split(" ", 4)[3] for line in alike}) > 1:  # each has its URL first
            entries = list(index_lines(alike))
            answered = {one.url for one in entries if (one.status or "")[:1] not in ("4", "5")}
            alike = [line for line, one in zip(alike, entries, strict=True) if not answered or one.url in answered]
        yield from alike
