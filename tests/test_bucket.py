"""The budget holds over every stretch of time, whatever is asked of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.bucket import TokenBucket
from sharc_crawler.polling.polls import HOUR, budget_of


@given(st.floats(1, 5000), st.lists(st.floats(0, 600), min_size=1, max_size=200))
def test_no_stretch_holds_more_than_its_share_and_a_burst(hourly, pauses):
    budget, now, sent = budget_of(hourly), 0.0, []
    for pause in pauses:
        now = max(now + pause, budget.ready(now + pause))
        budget.spend(now)
        sent.append(now)
    for i, first in enumerate(sent):
        for j in range(i, len(sent)):
            assert j - i + 1 <= (sent[j] - first) * hourly / HOUR + budget.burst + 1e-6


def test_without_a_budget_nothing_waits():
    budget = budget_of(math.inf)
    for _ in range(1000):
        budget.spend(5.0)
    assert budget.ready(5.0, spare=budget.burst) == 5.0


def test_the_bucket_keeps_the_rate_whatever_happens():
    bucket, now, taken = TokenBucket(rate=0.4, burst=4), 0.0, []
    for _ in range(40):
        while wait := bucket.take(now):
            now += wait
        taken.append(now)
    assert taken[3] == 0.0
    assert taken[-1] == pytest.approx((40 - 4) / 0.4)
    bucket.close(now + 60)
    assert bucket.take(now + 1) == pytest.approx(59)


def test_after_a_pause_there_is_no_burst():
    bucket = TokenBucket(rate=0.5, burst=4)
    assert [bucket.take(0.0), bucket.take(0.0)] == [0.0, 0.0]
    bucket.close(60.0)
    assert bucket.take(59.0) == 1.0
    assert [bucket.take(60.0), bucket.take(60.0)] == [0.0, 2.0]
    assert [bucket.take(80.0) for _ in range(5)] == [0.0, 0.0, 0.0, 0.0, 2.0]
