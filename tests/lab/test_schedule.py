from __future__ import annotations

import io
import math

import numpy as np
import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.lab.schedule import Schedule, read_schedules, write_schedules

NAN = math.nan


def schedule(visits, revisits):
    return Schedule(np.array(visits, float), np.array(revisits, float))


def test_the_reference_instant_lies_between_the_phases():
    assert schedule([0, 1, 2], [5, 4, 3]).reference == 2.5
    assert schedule([0, 1, 2], [4, 3, 2]).reference == 2.0  # the apex
    assert schedule([0, 1, 9], [5, 4, NAN]).reference == 2.5  # the last was not revisited
    assert schedule([0, 1, 2, 3], [NAN] * 4).reference == 1.5  # single visits


def test_orders_of_revisits():
    assert schedule([0, 1, 2], [5, 4, 3]).order == "lifo"
    assert schedule([0, 1, 2], [3, 4, 5]).order == "fifo"
    assert schedule([2, 0, 1], [3, 4, 5]).order == "own"
    assert schedule([0, 1], [NAN, NAN]).order == "none"


def test_what_is_written_is_read_back():
    runs = [schedule([0, 1.5, NAN], [4, 1.5, NAN]), schedule([NAN, 7, 8 + 1 / 3], [NAN] * 3)]
    file = io.StringIO()
    write_schedules(file, runs, ["/", "/a", "/b"])
    lines = file.getvalue().splitlines()
    assert lines[:3] == ["run,page,kind,time", "0,/,visit,0.0", "0,/a,visit,1.5"]
    file.seek(0)
    back = read_schedules(file, {"/": 0, "/a": 1, "/b": 2})
    for run, expected in zip(back.values(), runs, strict=True):
        np.testing.assert_equal(run.visits, expected.visits)
        np.testing.assert_equal(run.revisits, expected.revisits)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the first line is not run,page,kind,time"),
        ("run,page,kind,time\n0,/nowhere,visit,1\n", "line 2"),
        ("run,page,kind,time\n0,/,glance,1\n", "line 2"),
        ("run,page,kind,time\n0,/,visit\n", "line 2"),
    ],
)
def test_files_that_are_no_schedules(text, what):
    file = io.StringIO(text)
    file.name = "schedule.csv"
    with pytest.raises(DataError, match=what):
        read_schedules(file, {"/": 0})
