"""When a crawl without room goes on: not before there is room for what could not be written."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from sharc_crawler.live.config import Config
from sharc_crawler.live.writing import space
from sharc_crawler.live.writing.space import LONGEST_PAUSE, LOOK_AGAIN, Space

MORE_THAN_THERE_IS = 10**18  #: bytes


def test_without_room_for_what_failed_it_waits(tmp_path):
    disk = Space(tmp_path, 0)
    disk.refused("no room", MORE_THAN_THERE_IS)
    disk._not_before = 0.0  # time passes
    assert disk.waits() == pytest.approx(LOOK_AGAIN)
    disk.refused("no room, not for less either", 1)
    disk._not_before = 0.0
    assert disk.waits(), "the largest counts"
    disk.go_on()
    assert disk.waits() == 0


def test_with_room_it_goes_on(tmp_path):
    disk = Space(tmp_path, 0)
    assert disk.paused() is None
    disk.refused("no room", 1)
    assert disk.waits() == pytest.approx(LOOK_AGAIN, abs=1)
    assert disk.paused() is not None
    disk._not_before = 0.0
    assert disk.waits() == 0
    disk.go_on()
    assert disk.paused() is None


def test_where_free_bytes_tell_nothing_each_pause_is_longer(tmp_path):
    """A quota: there is room by the file system's word, and writing fails all the same."""
    disk = Space(tmp_path, 0)
    pauses = []
    for _ in range(9):
        disk.refused("quota exceeded")
        disk.refused("quota exceeded, another file")
        pauses.append(round(disk.waits()))
        disk.go_on()
    assert pauses == [5, 10, 20, 40, 80, 160, 320, LONGEST_PAUSE, LONGEST_PAUSE]
    disk.wrote()
    disk.refused("quota exceeded")
    assert disk.waits() <= LOOK_AGAIN


@pytest.mark.parametrize(("size", "said"), [(MORE_THAN_THERE_IS, "There is room again"), (1, "It is tried again")])
def test_room_is_only_said_to_be_there_again_where_it_was_not(tmp_path, caplog, size, said):
    disk = Space(tmp_path, 0)
    disk.refused("it cannot be written", size)
    disk.go_on()
    assert caplog.messages[-1] == f"{said}: the crawl goes on."


def test_the_room_wanted_has_units():
    assert Config.from_settings(Settings({"SHARC_MIN_FREE": "3M"})).min_free == 3_000_000


def test_free_bytes_are_not_looked_at_before_each_page(tmp_path, monkeypatch):
    clock, looks = iter([10.0, 10.05, 10.2]), []
    monkeypatch.setattr(space, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    disk = Space(tmp_path, 1)
    monkeypatch.setattr(disk, "_free", lambda: looks.append(1) or (5 if len(looks) == 1 else 0))
    assert [bool(disk.lacking()) for _ in range(3)] == [False, False, True]
    assert len(looks) == 2
