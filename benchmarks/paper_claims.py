"""What the paper's text claims of its tables (section 9.6), in a form that can be checked on any rows of numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = tuple[float, ...]  #: a measure by each method, in the order of the paper's columns
    Rows = Mapping[float, Row]  #: by what varies

CLOSE = 0.02  #: "identical", "very close"


class Slack(NamedTuple):
    """How much worse a method may be than another and still be called not worse."""

    deviations: float  #: of numbers of pages: times the square root of the number
    share: float  #: of blur

    def pages(self, a: float, b: float) -> bool:
        """Is ``a`` pages not more than ``b``?"""
        return a <= b + self.deviations * math.sqrt(b)

    def blur(self, a: float, b: float) -> bool:
        """Is ``a`` not more blur than ``b``?"""
        return a <= b * (1 + self.share)


CHANCE = Slack(1.0, 0.01)  #: about one standard error: methods meet the same changes, but few of them
EXACT = Slack(0.01, 1e-4)  #: for expectations: less than a page of a site of 10,000 (greedy splits are not optimal)


class PaperClaim(NamedTuple):
    """A statement about some tables and how to check it on their rows."""

    tables: tuple[str, ...]
    text: str
    holds: Callable[..., bool]  #: of a slack and the tables' rows


def _fewest(*methods: int) -> Callable[[Slack, Rows], bool]:
    """These methods leave not more pages incoherent than any other, in all rows; nor does one than those after it."""

    def holds(slack: Slack, rows: Rows) -> bool:
        return all(
            slack.pages(row[method], row[other])
            for row in rows.values()
            for place, method in enumerate(methods)
            for other in range(len(row))
            if other not in methods[: place + 1]
        )

    return holds


def _least_blur(slack: Slack, rows: Rows) -> bool:
    return all(slack.blur(row[0], other) for row in rows.values() for other in row[1:])


def _online_wins(slack: Slack, rows: Rows) -> bool:
    return all(slack.blur(row[1], other) for row in rows.values() for other in row[2:])


def _online_wins_at_high_skew(slack: Slack, rows: Rows) -> bool:
    return _online_wins(slack, {skew: row for skew, row in rows.items() if skew > 1})


def _online_wins_but_for_dfs(slack: Slack, rows: Rows) -> bool:
    *shorter, longest = rows.values()
    others = all(slack.blur(longest[1], longest[k]) for k in (2, 3, 4, 6))
    return others and _online_wins(slack, dict(enumerate(shorter)))


def _gap_closes(_: Slack, cold: Rows, hot: Rows) -> bool:
    return all(hot[size][1] / hot[size][0] < cold[size][1] / cold[size][0] for size in cold.keys() & hot.keys())


def _gains_grow(slack: Slack, rows: Rows) -> bool:
    """What all others come to, as a multiple of the offline method, rises with what varies."""
    gains = [sum(row[2:]) / row[0] for _, row in sorted(rows.items())]
    return all(slack.blur(less, more) for less, more in pairwise(gains))


def _rises(_: Slack, rows: Rows) -> bool:
    return all(a < b for less, more in pairwise(rows.values()) for a, b in zip(less, more, strict=True))


def _falls(slack: Slack, rows: Rows) -> bool:
    return _rises(slack, dict(sorted(rows.items(), reverse=True)))


def _offline_first(slack: Slack, rows: Rows) -> bool:
    return all(slack.pages(row[0], row[1]) for row in rows.values())


def _close(_: Slack, rows: Rows) -> bool:
    return all(abs(row[1] - row[0]) <= max(CLOSE * row[0], math.sqrt(row[0])) for row in rows.values())


def _close_at_high_skew(slack: Slack, rows: Rows) -> bool:
    return _close(slack, {skew: row for skew, row in rows.items() if skew > 1})


CLAIMS = (
    *(PaperClaim((n,), "SHARC-offline has the least blur of all", _least_blur) for n in ("11", "12", "15", "16")),
    *(PaperClaim((n,), "SHARC-online outperforms all baselines", _online_wins) for n in ("11", "12", "16")),
    *(
        PaperClaim((n,), "At high skew (above 1) SHARC-online outperforms all baselines", _online_wins_at_high_skew)
        for n in ("19a", "19b")
    ),
    PaperClaim(
        ("11", "12"), "SHARC-online is closer to SHARC-offline with hot leaves than with cold ones", _gap_closes
    ),
    PaperClaim(
        ("15",), "SHARC-online outperforms all baselines, but for DFS in the longest crawl", _online_wins_but_for_dfs
    ),
    *(
        PaperClaim((n,), "With the duration of the crawl, the blur of every method increases", _rises)
        for n in ("15", "16")
    ),
    *(
        PaperClaim((n,), "The gains of SHARC-offline over the baselines grow with the skew", _gains_grow)
        for n in ("19a", "19b")
    ),
    *(
        PaperClaim((n,), "Blur is high for low skew and low for high skew, for every method", _falls)
        for n in ("19a", "19b")
    ),
    *(
        PaperClaim((n,), "Both selective strategies outperform all others", _fewest(0, 1))
        for n in ("13", "14", "17", "18", "20", "21")
    ),
    *(PaperClaim((n,), "Selective offline outperforms online", _offline_first) for n in ("14", "18")),
    *(PaperClaim((n,), "Their gains grow with the size of the site", _gains_grow) for n in ("13", "14")),
    *(PaperClaim((n,), "Selective online is as good as offline", _close) for n in ("13", "17")),
    PaperClaim(("21",), "For a skew above 1, selective online is as good as offline", _close_at_high_skew),
)


def check(tables: Mapping[str, Rows], slack: Slack) -> list[tuple[PaperClaim, bool]]:
    """The claims about the tables at hand, and whether they hold there."""
    return [
        (claim, claim.holds(slack, *(tables[number] for number in claim.tables)))
        for claim in CLAIMS
        if all(number in tables for number in claim.tables)
    ]
