"""Every registered strategy, with every way of revisiting, keeps the contract of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler import plugins
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.testing.strategies import StrategyContract

if TYPE_CHECKING:
    from sharc_crawler.strategies.base import Setting, Strategy

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
