"""Parse reasons: their codes, and their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sharc_crawler.evidence.reasons import Reason

_CODES = frozenset(Reason)
FEW = 3  #: targets of one host listed one by one


def code(reason: str) -> str:
    """Return the code of a reason; empty if there is none.

    >>> code("gone: 404"), code("equal-bytes"), code("because")
    ('gone', 'equal-bytes', '')
    """
    return Reason(first).value if (first := reason.partition(": ")[0]) in _CODES else ""


def in_words(reason: str) -> str:
    """Return a reason in words.

    >>> in_words("gone: 404"), in_words("never-revisited: no room"), in_words("because: so")
    ('not there (status 404)', 'the revisit was never made: no room', 'because: so')
    """
    first, _, detail = reason.partition(": ")
    if first not in _CODES:
        return reason
    words = Reason(first).words
    return words.replace("{}", detail) if "{}" in words else f"{words}: {detail}" if detail else words


def grouped(reasons: Iterable[tuple[str, int]]) -> Counter[str]:
    """Count reasons in words. Redirect targets that differ only in their query, or many of one host, are merged.

    >>> grouped([("redirected: http://h/login?to=/a", 1), ("redirected: http://h/login?to=/b", 2), ("gone: 404", 1)])
    Counter({'redirects to http://h/login?…': 3, 'not there (status 404)': 1})
    """
    counts: Counter[str] = Counter()
    for reason, number in reasons:
        place, query, _ = reason.partition("?")
        counts[f"{place}?…" if query and code(reason) == Reason.REDIRECTED else reason] += number
    hosts = {reason: f"{'/'.join(reason.split('/')[:3])}/…" for reason in counts if code(reason) == Reason.REDIRECTED}
    many, words = Counter(hosts.values()), Counter[str]()
    for reason, number in counts.items():
        words[in_words(hosts[reason] if many[hosts.get(reason, "")] > FEW else reason)] += number
    return words
