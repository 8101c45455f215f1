"""A capture goes on in time, whatever was done to the clock meanwhile."""

from __future__ import annotations

from sharc_crawler.live.clock import Clock
from sharc_crawler.live.former.continuing import go_on_in_time
from sharc_crawler.model import Phase
from sharc_crawler.state.rows import Batch, CaptureRow
from sharc_crawler.state.spec import CaptureSpec


def test_a_capture_without_a_visit_goes_on_from_its_beginning_where_the_clock_was_set_back():
    clock = Clock()
    started = clock.now() + 86_400
    row = CaptureRow(0, CaptureSpec("a.example", ("http://a.example/",)), Phase.VISIT, started, None, None, ())
    saved = Batch(captures={0: row})
    go_on_in_time(saved, clock)
    assert clock.now() >= started, "no visit lies before the beginning"
    (note,) = saved.captures[0].notes
    assert note.startswith("the system clock had been set back by 86")
    assert note.endswith("times go on from its beginning")
