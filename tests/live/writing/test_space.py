"""When a crawl without room goes on: not before there is room for what could not be written."""

from __future__ import annotations

import resource
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from sharc_crawler.live.beginning import require_descriptors
from sharc_crawler.live.config import Config
from sharc_crawler.live.failures.disk_pauses import over
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
    assert caplog.messages[-1] == f"{said}: the crawl continues."


def test_a_pause_for_want_of_something_else_than_room_says_so(tmp_path, caplog):
    """An error of the disk, a share that went away."""
    notes: list[tuple[str, ...]] = []
    sites = SimpleNamespace(note=lambda *words: notes.append(words))
    session = SimpleNamespace(space=Space(tmp_path, 0), sites=sites, clock=SimpleNamespace(now=lambda: 100.0))
    session.space.refused("a.warc.gz: Stale file handle", 1, "its share is away")
    assert "MB are needed" not in caplog.text
    over(session, 5.0, "")
    assert notes[-1][0].endswith("for 5 s: its share is away")
    session.space.go_on()
    session.space.refused("a.warc.gz: No space left on device", 1)
    over(session, 5.0, "")
    assert notes[-1][0].endswith("for 5 s: its disk had no room")


def test_files_that_may_not_grow_are_warned_of_at_the_start(caplog):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    require_descriptors(1)
    assert "ulimit -f" not in caplog.text
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, before[1]))
    try:
        require_descriptors(1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "ulimit -f: no file can exceed 20000000 bytes" in caplog.text


def test_the_room_wanted_has_units():
    assert Config.from_settings(Settings({"SHARC_MIN_FREE": "3M"})).min_free == 3_000_000


def test_free_bytes_are_not_looked_at_before_each_page(tmp_path, monkeypatch):
    clock, looks = iter([10.0, 10.05, 10.2]), []
    monkeypatch.setattr(space, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    disk = Space(tmp_path, 1)
    monkeypatch.setattr(disk, "_free", lambda: looks.append(1) or (5 if len(looks) == 1 else 0))
    assert [bool(disk.lacking()) for _ in range(3)] == [False, False, True]
    assert len(looks) == 2
