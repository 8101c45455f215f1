from __future__ import annotations

import resource
from pathlib import Path
from tempfile import gettempdir
from weakref import WeakValueDictionary

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.archive.rows import Rows, _File

ROW = st.tuples(st.none() | st.text("aé\r\x85\ud800", min_size=1), st.integers(0, 9_000))  # beyond the file's buffer


@pytest.mark.slow
@given(st.lists(ROW | st.integers(0, 9) | st.none()))
def test_rows_come_back_in_any_order_of_writing_and_reading(steps):
    """A row is written, one is read by its number, or the first ones are (and no further)."""
    rows, written = Rows(Path(gettempdir())), []
    for step in steps:
        if isinstance(step, tuple):
            text, length = step
            rows.append(text, "b" * length or None)
            written.append([text, "b" * length or None])
        elif step is None:
            assert next(iter(rows), None) == next(iter(written), None)
        elif step < len(written):
            assert rows[step] == written[step]
    assert list(rows) == written
    assert len(rows) == len(written)


def test_a_row_that_found_no_room_leaves_nothing_behind(tmp_path):
    rows = Rows(tmp_path)
    rows.append("first")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))  # as if the disk were full
    try:
        with pytest.raises(OSError, match="File too large"):
            rows.append("a longer one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    rows.append("second", 2)
    assert list(rows) == [["first"], ["second", "2"]]
    assert not list(tmp_path.iterdir())


def test_there_is_a_file_from_the_first_row_on(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("sharc_crawler.archive.rows._File", lambda folder: made.append(folder) or _File(folder))
    monkeypatch.setattr("sharc_crawler.archive.rows._files", WeakValueDictionary())
    first, second = Rows(tmp_path), Rows(tmp_path)
    assert not list(first)
    assert not made
    first.append("a")
    second.append("b")
    assert [*first, *second] == [["a"], ["b"]]
    assert made == [tmp_path], "one for all folders of a disk"
