"""Reasons as they are read: their codes, and what they mean in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sharc_crawler.evidence.reasons import Reason

_CODES = frozenset(Reason)
FEW = 3  #: places of one host that are told one by one


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
    return words.replace("{}", detail) if "{}" in words else f"{words}: {detail}" if detail else words


def grouped(reasons: Iterable[tuple[str, int]]) -> Counter[str]:
    """How often each reason was met, in words; places that differ in their query alone are one, and many of a host.

    >>> grouped([("redirected: http://h/login?to=/a", 1), ("redirected: http://h/login?to=/b", 2), ("gone: 404", 1)])
    Counter({'redirects to http://h/login?…': 3, 'not there (status 404)': 1})
    """
    met: Counter[str] = Counter()
    for reason, number in reasons:
        place, query, _ = reason.partition("?")
        met[f"{place}?…" if query and code(reason) == Reason.REDIRECTED else reason] += number
    hosts = {one: f"{'/'.join(one.split('/')[:3])}/…" for one in met if code(one) == Reason.REDIRECTED}
    many, told = Counter(hosts.values()), Counter[str]()
    for reason, number in met.items():
        told[in_words(hosts[reason] if many[hosts.get(reason, "")] > FEW else reason)] += number
    return told
