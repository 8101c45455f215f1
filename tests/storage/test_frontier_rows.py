"""Rows of the frontier's tables."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.rows import PageRow, VisitRow
from sharc_crawler.model import Hints, Kind, Outcome, Plan, Result, Slot
from sharc_crawler.storage.frontier_rows import hints_value, page_values, visit_values

NUMBERS = st.floats(allow_nan=False)


TOLD = st.none() | NUMBERS


@pytest.mark.slow
@given(st.builds(Hints, TOLD, NUMBERS, st.none() | st.text(), TOLD, TOLD, NUMBERS))
def test_hints_are_the_json_that_they_were(hints):
    text = hints_value(hints)
    assert text == json.dumps(hints)
    assert Hints(*json.loads(text)) == hints
    assert hints_value(None) is None


def test_rows_have_no_type_that_sqlite_looks_for_an_adapter_of():
    ended = Outcome(Result.OK, 1.0, 2.0)
    visit = VisitRow(0, Slot.FIRST, Plan.HOPEFUL, 1, finished=True, lease=1, decided=0.5, outcome=ended)
    page = PageRow(0, 0, "u", "u", Kind.PAGE, "h", 0, -1, "", State.QUEUED, 1.0, "prior", 1.0, 1.0, None, "")
    found = {type(value) for value in (*page_values(page), *visit_values(visit))}
    assert found <= {int, float, str, bool, type(None)}
