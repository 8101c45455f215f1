"""How often a server that watches the audits of its 304s beats their bound: the best it can do, exactly.

    python benchmarks/bench_watched_audit.py --pages 100 --drawn 10

One kind of pages. Page by page the server answers with a true 304, or with one that is a lie, and sees at once whether
the page is audited. A lie that is drawn comes to be unshown. It may stop lying whenever it likes. By dynamic
programming over what it has seen: true 304s, audits that confirmed, lies, and lies that were drawn.
"""

from __future__ import annotations

import argparse
import sys
import threading
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from sharc_crawler.evidence.audit import WATCHED, Stratum, bound

STACK = 512 * 2**20  #: bytes: each page is a call deeper


def beaten(pages: int, drawn: int, confidence: float) -> float:
    """The probability that more is wrong than the bound says."""

    @cache
    def stated(claimed: int, confirmed: int, unshown: int) -> int:
        return bound([Stratum(claimed, confirmed, unshown)], confidence=confidence)

    @cache
    def best(true: int, confirmed: int, wrong: int, unshown: int) -> float:
        left, lots = pages - true - wrong - unshown, drawn - confirmed - unshown
        if wrong and (confirmed or unshown) and wrong > stated(true + wrong - confirmed, confirmed, unshown):
            return 1.0
        if not left:
            return 0.0
        hit = lots / left
        honest = (hit * best(true + 1, confirmed + 1, wrong, unshown) if lots else 0.0) + (
            (1 - hit) * best(true + 1, confirmed, wrong, unshown) if lots < left else 0.0
        )
        lie = (hit * best(true, confirmed, wrong, unshown + 1) if lots else 0.0) + (
            (1 - hit) * best(true, confirmed, wrong + 1, unshown) if lots < left else 0.0
        )
        return max(honest, lie)

    return best(0, 0, 0, 0)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--drawn", type=int, default=10)
    parser.add_argument("--confidence", type=float, default=WATCHED)
    given = parser.parse_args()
    print(f"{beaten(given.pages, given.drawn, given.confidence):.2%} of captures, where 5 % are stated")


if __name__ == "__main__":
    sys.setrecursionlimit(10**6)
    threading.stack_size(STACK)
    threading.Thread(target=main).start()
