"""Every registered strategy, with every way of revisiting, keeps the contract of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler import plugins
from sharc_crawler.model import Slot, Visit
from sharc_crawler.strategies.base import Setting, Strategy
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.testing.strategies import Crawl, StrategyContract

if TYPE_CHECKING:
    from sharc_crawler.strategies.base import Candidates

OPTIONS = {
    name: [f"{name}:revisits={order}" for order in ("none", "fifo", "lifo")]
    for name in ("bfs", "dfs", "hottest-first", "hottest-last", "olston-pandey", "sharc-online")
}
OPTIONS["sharc-attested"] = ["sharc-attested:visits=1", "sharc-attested:visits=2"]
SLOW = ("sharc-attested:visits=2", "sharc-optimal")


def contract(spec: str) -> type[StrategyContract]:
    def make(self: StrategyContract, setting: Setting) -> Strategy:
        return make_strategy(spec, setting)

    name = "Test" + "".join(part.capitalize() for part in spec.replace(":", "-").replace("=", "-").split("-"))
    return type(name, (StrategyContract,), {"make": make, "pytestmark": [pytest.mark.slow] if spec in SLOW else []})


for _name in plugins.names("strategy"):
    for _spec in OPTIONS.get(_name, [_name]):
        _class = contract(_spec)
        globals()[_class.__name__] = _class


class Once(Strategy):
    """Single visits, as docs/strategies.md tells of them: where T is, the frontier says."""

    revisits = False

    def __init__(self, setting: Setting, page: type = int) -> None:
        super().__init__(setting)
        self.waiting: list[int] = []
        self.page = page

    def add(self, candidates: Candidates) -> None:
        self.waiting += map(self.page, candidates.pages)

    def next(self, now: float) -> Visit | None:
        return Visit(self.waiting.pop(0), Slot.ONLY) if self.waiting else None

    def finished(self, visit: Visit, captured: bool) -> None:
        if visit.page in self.waiting:
            self.waiting.remove(visit.page)

    def reprice(self, page: int, rate: float) -> None:
        pass

    def __len__(self) -> int:
        return len(self.waiting)


class TestOnce(StrategyContract):
    def make(self, setting: Setting) -> Strategy:
        return Once(setting)


@pytest.mark.parametrize(("page", "kind"), [(np.int64, "int64"), (float, "float")])
def test_what_a_crawl_would_stop_fails_the_contract_too(page: type, kind: str) -> None:
    with pytest.raises(AssertionError, match=f"page is {kind}, not int"):
        Crawl(Once(Setting(), page), [0.1, 0.2]).run()


def test_a_strategy_that_does_not_begin_as_one_fails_the_contract() -> None:
    with pytest.raises(AssertionError, match=r"super\(\)"):
        Crawl(Once.__new__(Once), [0.1])
