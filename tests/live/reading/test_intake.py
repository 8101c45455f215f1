"""What could not be read of responses, as a report's notes say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.sites import Sites
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.live.reading.lacking import note, unread
from tests.live.browser.test_browsing import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest


def test_a_crawl_that_goes_on_counts_on_in_the_notes_of_the_one_before() -> None:
    sites = Sites()
    site = "h.example"
    frontier = sites.open(CaptureSpec(site=site, seeds=(f"http://{site}/",), strategy="bfs"), 0.0)

    def noted(*given: tuple[str, str, str]) -> Sequence[str]:
        """By another run."""
        for path, *said in given:
            note(frontier, shown(f"http://{site}{path}"), *said)
        return frontier.capture.notes

    cut = "shown without pop-ups"
    noted(("/a", "page", cut), ("/b", "page", cut), ("/a", "document", "not read", " (no text)"))
    assert noted(("/c", "page", cut), ("/d", "page", "shown without rest")) == [
        "1 document was not read: http://h.example/a (no text)",
        "3 pages were shown without pop-ups: http://h.example/a",
        "1 page was shown without rest: http://h.example/d",
    ]


def test_a_detector_that_fails_is_told_at_once_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    url = "http://h.example/"
    frontier = Sites().open(CaptureSpec(site="h.example", seeds=(url,), strategy="bfs"), 0.0)
    problem = "DataError: SHARC_DETECTOR='mine' raised ValueError: no. That is a fault of this plug-in"
    for path in "abc":
        unread(frontier, shown(f"{url}{path}"), (problem,))
    unread(frontier, shown(f"{url}d"), ("too long",))
    told = "judged by bytes alone, since the detector failed"
    assert frontier.capture.notes == [
        f"3 downloads were {told}: {url}a ({problem})",
        f"1 document was not read, or not whole: {url}d (too long)",
    ]
    assert caplog.messages == [f"{url}a is {told}: {problem}. What fails so is counted in the report"]
