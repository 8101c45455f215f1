"""Tables 1 to 3 of the paper: which pages are downloaded and detected, step by step, on the site of its Fig. 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.lab.driver import crawl
from sharc_crawler.lab.graph import EventGraph
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes, Lives

if TYPE_CHECKING:
    from collections.abc import Callable

LINKS = {0: [1, 2], 1: [3, 4], 2: [5]}
SIZE = 6


class Example(NamedTuple):
    """An example table of the paper."""

    title: str
    strategy: str
    arrange: Callable[[list[int], list[int]], list[int]]  #: detected pages, and those new → as the paper lists them
    downloaded: str  #: the paper's order


EXAMPLES = {
    "1": Example("Depth-first", "dfs:revisits=none", lambda detected, new: new + detected, "p0 p1 p3 p4 p2 p5"),
    "2": Example("Breadth-first", "bfs:revisits=none", lambda detected, new: detected + new, "p0 p1 p2 p3 p4 p5"),
    "3": Example("SHARC-online", "sharc-online", lambda detected, new: sorted(detected + new), "p0 p1 p4 p3 p2 p5"),
}


def example_site() -> Site:
    """Fig. 3: six pages, the coldest first."""
    rates = np.arange(1.0, SIZE + 1)
    none = Changes.of([()] * SIZE)
    urls = [f"p{page}" for page in range(SIZE)]
    lives = Lives.forever(SIZE)
    return Site("Fig. 3", urls, 0, 0.0, 2.0 * SIZE, EventGraph(LINKS), lives, none, none, np.zeros(SIZE), rates, 1.0)


def example(number: str) -> str:
    """Table 1, 2 or 3 in Markdown."""
    table = EXAMPLES[number]
    site = example_site()
    visits = crawl(site, believe(site, "oracle"), table.strategy).schedule.visits
    order = np.argsort(visits).tolist()
    lines = [f"## Table {number}: {table.title}", "", "| I | downloaded | detected |", "|---|---|---|"]
    detected: list[int] = [0]
    for step in range(SIZE + 1):
        lines.append(f"| {step} | {_names(order[:step])} | {_names(detected)} |")
        if step < SIZE:
            page = order[step]
            detected = table.arrange([other for other in detected if other != page], LINKS.get(page, []))
    same = "as" if _names(order) == table.downloaded else "unlike"
    return "\n".join([*lines, "", f"Downloads {same} in the paper: {table.downloaded}."])


def _names(pages: list[int]) -> str:
    return " ".join(f"p{page}" for page in pages)
