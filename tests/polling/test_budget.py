"""The budget holds over every stretch of time, whatever is asked of it."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.polling.budget import HOUR, Budget


@given(st.floats(1, 5000), st.lists(st.floats(0, 600), min_size=1, max_size=200))
def test_no_stretch_holds_more_than_its_share_and_a_burst(hourly, pauses):
    budget, now, sent = Budget(hourly), 0.0, []
    for pause in pauses:
        now = max(now + pause, budget.ready(now + pause))
        budget.spend(now)
        sent.append(now)
    for i, first in enumerate(sent):
        for j in range(i, len(sent)):
            assert j - i + 1 <= (sent[j] - first) * hourly / HOUR + budget.burst + 1e-6


def test_without_a_budget_nothing_waits():
    budget = Budget(math.inf)
    for _ in range(1000):
        budget.spend(5.0)
    assert budget.ready(5.0, spare=budget.burst) == 5.0
