"""What the paper's text claims of its tables (section 9.6), in a form that can be checked on ours.

All methods meet the same changes, but few of them: "not worse" means by no more than one standard error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = tuple[float, ...]  #: a measure by each method, in the order of the paper's columns
    Rows = Mapping[float, Row]  #: by what varies

BLUR_ERROR = 0.01  #: standard error of an average blur, relative
CLOSE = 0.02  #: "identical", "very close"


class Claim(NamedTuple):
    """A statement about some tables and how to check it on their rows."""

    tables: tuple[str, ...]
    text: str
    holds: Callable[..., bool]  #: of the tables' rows


def _count(a: float, b: float) -> bool:
    return a <= b + math.sqrt(b)


def _blur(a: float, b: float) -> bool:
    return a <= b * (1 + BLUR_ERROR)


def _best(not_worse: Callable[[float, float], bool], *methods: int) -> Callable[[Rows], bool]:
    """These methods are not worse than any other, in all rows; the first of them not worse than the others of them."""

    def holds(rows: Rows) -> bool:
        return all(
            not_worse(row[method], row[other])
            for row in rows.values()
            for place, method in enumerate(methods)
            for other in range(len(row))
            if other not in methods[: place + 1]
        )

    return holds


def _online_wins(rows: Rows) -> bool:
    return all(_blur(row[1], other) for row in rows.values() for other in row[2:])


def _online_wins_but_for_dfs(rows: Rows) -> bool:
    *shorter, longest = rows.values()
    return _online_wins(dict(enumerate(shorter))) and all(_blur(longest[1], longest[k]) for k in (2, 3, 4, 6))


def _gap_closes(cold: Rows, hot: Rows) -> bool:
    return all(hot[size][1] / hot[size][0] < cold[size][1] / cold[size][0] for size in cold)


def _gains_grow(rows: Rows) -> bool:
    gains = [sum(row[2:]) / row[0] for _, row in sorted(rows.items())]
    return gains == sorted(gains)


def _close(rows: Rows) -> bool:
    return all(abs(row[1] - row[0]) <= max(CLOSE * row[0], math.sqrt(row[0])) for row in rows.values())


def _close_at_high_skew(rows: Rows) -> bool:
    return _close({skew: row for skew, row in rows.items() if skew > 1})


CLAIMS = (
    *(Claim((n,), "SHARC-offline has the least blur of all", _best(_blur, 0)) for n in ("11", "12", "15", "16")),
    *(Claim((n,), "SHARC-online outperforms all baselines", _online_wins) for n in ("11", "12", "16", "19a", "19b")),
    Claim(("11", "12"), "SHARC-online is closer to SHARC-offline with hot leaves than with cold ones", _gap_closes),
    Claim(
        ("15",), "SHARC-online outperforms all baselines, but for DFS in the longest crawl", _online_wins_but_for_dfs
    ),
    *(
        Claim((n,), "The gains of SHARC-offline over the baselines grow with the skew", _gains_grow)
        for n in ("19a", "19b")
    ),
    *(
        Claim((n,), "Both selective strategies outperform all others", _best(_count, 0, 1))
        for n in ("13", "14", "17", "18", "20", "21")
    ),
    *(Claim((n,), "Selective online is as good as offline", _close) for n in ("13", "17")),
    Claim(("21",), "For a skew above 1, selective online is as good as offline", _close_at_high_skew),
)


def check(tables: Mapping[str, Rows]) -> list[tuple[Claim, bool]]:
    """The claims about the tables at hand, and whether they hold there."""
    return [
        (claim, claim.holds(*(tables[number] for number in claim.tables)))
        for claim in CLAIMS
        if all(number in tables for number in claim.tables)
    ]
