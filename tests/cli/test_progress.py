"""Progress in a log or a pipe: lines with the share done and the time left."""

from __future__ import annotations

from itertools import count

import pytest

from sharc_crawler.cli import _progress


@pytest.fixture(autouse=True)
def minutes(monkeypatch):
    """Each look at the clock is a minute later."""
    clock = count(0, 60)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))


def test_in_a_pipe_the_time_left_is_told_at_the_pace_so_far(capsys):
    with _progress.progress("tables", 8.0) as tell:
        tell(0.0)
        tell(2.0)
        tell(8.0)
    assert capsys.readouterr().err.splitlines() == ["tables: 0%", "tables: 25%, 6 min left", "tables: 100%, 0 s left"]


def test_so_it_is_of_each_phase(capsys):
    with _progress.phases() as tell:
        tell("reading", 1, 2)
        tell("ranking", 1, 4)
    assert capsys.readouterr().err.splitlines() == ["reading: 50%, 1 min left", "ranking: 25%, 3 min left"]


def test_the_first_line_comes_after_two_seconds_the_next_half_a_minute_later(monkeypatch, capsys):
    clock = count(0, 1)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    with _progress.progress("tables", 40.0) as tell:
        for second in range(1, 41):
            tell(second)
    assert capsys.readouterr().err.splitlines() == ["tables: 5%, 38 s left", "tables: 80%, 8 s left"]
