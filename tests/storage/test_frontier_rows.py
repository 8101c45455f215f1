"""Rows of the frontier's tables."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.model import Hints
from sharc_crawler.storage.frontier_rows import hints_value

NUMBERS = st.floats(allow_nan=False)


@given(st.builds(Hints, st.none() | NUMBERS, NUMBERS, st.none() | st.text(), st.none() | NUMBERS, st.none() | NUMBERS))
def test_hints_are_the_json_that_they_were(hints):
    text = hints_value(hints)
    assert text == json.dumps(hints)
    assert Hints(*json.loads(text)) == hints
    assert hints_value(None) is None
