"""Reasons as they are read: their codes, and what they mean in words."""

from __future__ import annotations

from sharc_crawler.evidence.reasons import Reason

_CODES = frozenset(Reason)


def code(reason: str) -> str:
    """The code of a reason; empty for what is none.

    >>> code("gone: 404"), code("equal-bytes"), code("because")
    ('gone', 'equal-bytes', '')
    """
    return Reason(first).value if (first := reason.partition(": ")[0]) in _CODES else ""


def in_words(reason: str) -> str:
    """A reason's code as a sentence.

    >>> in_words("gone: 404"), in_words("never-revisited: no room"), in_words("because: so")
    ('not there (status 404)', 'the revisit was never made: no room', 'because: so')
    """
    first, _, detail = reason.partition(": ")
    if first not in _CODES:
        return reason
    words = Reason(first).words
    if "{}" in words:
        return words.replace("{}", detail)
    return f"{words}: {detail}" if detail else words
