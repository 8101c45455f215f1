"""What was expected of a capture, where more than guesses told the change rates, beside what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sharc_crawler.plural import agreeing, counted


def forecast(expected: Mapping[str, Any]) -> str:
    """How many pages were expected to stay as they were, and between what four of five such captures lie.

    >>> forecast({"coherent": 1008.04, "low": 1007, "high": 1009})
    '1,008 (80 %: 1,007 to 1,009)'
    >>> forecast({"coherent": 8.99, "low": 9, "high": 9})  # nothing is that sure
    '9'
    """
    words, low, high = f"{expected['coherent']:,.1f}".removesuffix(".0"), expected["low"], expected["high"]
    return words if low == high else f"{words} (80 %: {low:,} to {high:,})"


def came(expected: Mapping[str, Any]) -> str:
    """What came of the pages that :func:`forecast` tells of.

    >>> came({"pages": 9, "counted": 7, "same_content": 7}), came({"pages": 9, "counted": 1, "same_content": 8})
    ('7 of 9 pages judged were coherent', '8 of 9 pages judged kept their content, 1 its bytes, too')
    """
    judged, kept, same = f"{counted(expected['pages'], 'page')} judged", expected["same_content"], expected["counted"]
    if kept == same:
        return f"{same:,} of {judged} {agreeing(same, 'were')} coherent"
    bytes_too = f"{same:,} {agreeing(same, 'their')} bytes, too"
    return f"{kept:,} of {judged} kept {agreeing(kept, 'their')} content, {bytes_too}"
