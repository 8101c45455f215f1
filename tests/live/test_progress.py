"""The progress line."""

from __future__ import annotations

from io import StringIO

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.live.progress import ProgressLine


def test_a_pause_is_named_and_left_out_of_the_rate():
    frontier, out = Frontier(Politeness()), StringIO()
    capture = frontier.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", sitemaps=()), 0.0)
    line = ProgressLine(frontier, 0.0, out)
    capture.opening, capture.pages = 0, 1000
    for second in range(1, 21):
        capture.visits += 2
        line.show(float(second))
    for second in range(21, 301):
        line.show(float(second), "its disk has no room")
    for second in range(301, 311):
        capture.visits += 2
        line.show(float(second))
    told = out.getvalue().splitlines()
    assert told[1].startswith("visit 40/1000 pages, 2.0/s")
    assert set(told[2:-1]) == {"visit 40/1000 pages, paused (its disk has no room)"}
    assert told[-1].startswith("visit 60/1000 pages, 2.0/s")
