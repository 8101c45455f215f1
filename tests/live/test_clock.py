"""The live clock: nobody sets it, and it goes on while the machine sleeps."""

from __future__ import annotations

import time

import pytest

from sharc_crawler.live import clock as module
from sharc_crawler.live.clock import Clock


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system tells a sleep in another way")
def test_hours_that_the_machine_slept_are_among_the_seconds(monkeypatch):
    clock, slept = Clock(), 8 * 3600.0
    before = clock.now()
    monkeypatch.setattr(module.time, "clock_gettime", lambda kind, told=time.clock_gettime: told(kind) + slept)
    assert slept <= clock.now() - before < slept + 60
    assert clock.at(time.monotonic()) - before > slept - 1, "what was just sent was sent after it"


def test_a_step_of_the_system_clock_moves_nothing(monkeypatch):
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr(module.time, "time", lambda: 0.0)
    assert 0.0 <= clock.now() - before < 60
