from __future__ import annotations

import io
import math

import numpy as np

from sharc_crawler.lab.schedule import DownloadTimes, write_schedules

NAN = math.nan


def schedule(visits, revisits):
    return DownloadTimes(np.array(visits, float), np.array(revisits, float))


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


def test_what_is_written_has_every_digit():
    runs = [schedule([0, 1.5, NAN], [4, 1.5, NAN]), schedule([NAN, 7, 8 + 1 / 3], [NAN] * 3)]
    file = io.StringIO()
    write_schedules(file, runs, ["/", "/a", "/b"])
    assert file.getvalue().splitlines() == [
        "run,page,kind,time",
        *("0,/,visit,0.0", "0,/a,visit,1.5", "0,/a,revisit,1.5", "0,/,revisit,4.0"),
        *("1,/a,visit,7.0", f"1,/b,visit,{8 + 1 / 3!r}"),
    ]
