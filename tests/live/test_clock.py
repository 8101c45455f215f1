"""The live clock: nobody sets it, and it goes on while the machine sleeps."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live import clock as module
from sharc_crawler.live import extension
from sharc_crawler.live.clock import Clock
from sharc_crawler.state.spec import CaptureSpec


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system tells a sleep in another way")
def test_hours_that_the_machine_slept_are_among_the_seconds(monkeypatch):
    clock, slept = Clock(), 8 * 3600.0
    before = clock.now()
    monkeypatch.setattr(module.time, "clock_gettime", lambda kind, told=time.clock_gettime: told(kind) + slept)
    assert slept <= clock.now() - before < slept + 60
    assert clock.at(time.monotonic()) - before > slept - 1, "what was just sent was sent after it"


def test_how_far_the_system_clock_was_set_is_told_once(monkeypatch):
    clock, real = Clock(), time.time
    monkeypatch.setattr(module.time, "time", lambda: real() - 3600.0)
    assert [round(clock.step(), 1), round(clock.step(), 1)] == [-3600.0, 0.0]
    monkeypatch.setattr(module.time, "time", real)
    assert round(clock.step(), 1) == 3600.0


def test_a_process_that_is_held_up_between_two_readings_was_not_set(monkeypatch):
    clock, ticks = Clock(), module.ticks
    late = iter([0.0, 50.0])
    monkeypatch.setattr(module, "ticks", lambda: ticks() + next(late, 50.0))
    assert clock.step() == 0.0


@pytest.mark.parametrize(("by", "words"), [(-3600.0, "set back by 3,600 s at "), (90.0, "set forward by 90 s at ")])
def test_a_system_clock_that_is_set_during_a_crawl_is_a_note_of_its_captures(monkeypatch, by, words):
    sites = Sites(Politeness())
    capture = sites.open(CaptureSpec("h", ("http://h/",), strategy="bfs", sitemaps=()), 0.0).capture
    session = SimpleNamespace(clock=Clock(), sites=sites, pausing="", places={}, leases={}, control=None)
    monkeypatch.setattr(extension, "session_of", lambda _: session)
    crawl = object.__new__(extension.CaptureExtension)
    crawl._crawler = crawl._leeway = crawl._stopping = None
    crawl._line = SimpleNamespace(show=lambda *_: None)
    real = time.time
    crawl._every_second()
    assert capture.notes == []
    monkeypatch.setattr(module.time, "time", lambda: real() + by)
    crawl._every_second()
    crawl._every_second()
    (note,) = capture.notes
    assert words in note


def test_a_step_of_the_system_clock_moves_nothing(monkeypatch):
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr(module.time, "time", lambda: 0.0)
    assert 0.0 <= clock.now() - before < 60
