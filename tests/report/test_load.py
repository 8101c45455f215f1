"""What a capture's stored state tells its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.report.load import capture_facts
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.cut_off import LINKS, ROOT, answer, run_answered

if TYPE_CHECKING:
    from sharc_crawler.model import Fetch


@pytest.mark.parametrize(
    ("ahead", "age", "said"),
    [
        (7200.0, None, "that it is 2 h later than by this machine's clock: one of the two clocks is wrong. All"),
        (
            -7200.0,
            None,
            "2 h earlier than by this machine's clock: one of the two clocks is wrong, or these",
        ),
        (-7200.0, 7200.0, ""),
        (-60.0, None, ""),
        (None, None, "in 3 of its answers (Date) that it is 2 h later than by this machine's clock: one of the two"),
    ],
)
def test_clocks_that_are_far_apart_are_noted(ahead: float | None, age: float | None, said: str) -> None:
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.open(CaptureSpec("a.example", (ROOT,)), 1000.0)
    asked: list[Fetch] = []

    def answered(fetch, now):
        asked.append(fetch)
        off = (7200.0 if len(asked) < 4 else 0.0) if ahead is None else ahead  # None: ours is set right meanwhile
        return answer(fetch, now)._replace(date=now + off, age=age), LINKS.get(fetch.url, ())

    run_answered(frontier, 1000.0, 500, answered)
    (facts,) = capture_facts(store)
    (told,) = [note for note in facts.notes if "clock" in note] or [""]
    assert said in told
    assert bool(said) == bool(told)
