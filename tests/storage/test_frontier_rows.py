"""Rows of the frontier's tables."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.model import CaptureRef, Hints, Kind, Outcome, Plan, Result, Slot
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import Batch, PageRow, VisitRow
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.frontier_rows import VERSION, hints_value, make, page_values, version, visit_values
from sharc_crawler.storage.opening import begin_state
from sharc_crawler.testing.stores import capture_row

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
    found = {type(value) for value in (*(one for (one,) in page_values([page])), *visit_values(visit))}
    assert found <= {int, float, str, bool, type(None)}


@pytest.mark.parametrize(
    "hints",
    [
        Hints(5.0, 1.0),
        Hints(),
        Hints(5.0, 1.0, "daily"),
        Hints(5.0, 1.0, None, 0.5),
        Hints(5.0, 60.0, None, None, 4.0, 2.0),
    ],
)
def test_hints_are_told_as_json_however_few_there_are(hints):
    assert json.loads(hints_value(hints)) == list(hints)


def test_a_visit_that_brought_no_document_and_a_record_that_begins_a_file_are_read_as_they_were(tmp_path):
    bare = Outcome(Result.FAILED, 1.0, 2.0, error="no answer")
    first = Outcome(Result.OK, 3.0, 4.0, 200, "sha1:A", capture=CaptureRef("a.warc.gz", 0, 7))
    visits = [
        VisitRow(page, Slot.FIRST, Plan.HOPEFUL, 1, finished=True, lease=1, decided=0.5, outcome=outcome)
        for page, outcome in enumerate((bare, first))
    ]
    for audit in (None, {"share": 0.5}):
        folder = tmp_path / str(bool(audit))
        folder.mkdir()
        store = begin_state(folder, "sqlite")
        store.commit(Batch(visits=visits, captures={0: capture_row(audit=audit)}))
        store.close()
        state = load_state(folder)
        assert list(state.visits) == visits
        assert [row.audit for row in state.captures.values()] == [audit]


def test_a_file_has_its_schema_for_good():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        make(db)
        assert (version(db), db.in_transaction) == (VERSION, False)
