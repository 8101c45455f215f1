"""What could not be read of responses, as a report's notes say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.sites import Sites
from sharc_crawler.links import html
from sharc_crawler.live.reading.reading_notes import note, unread
from sharc_crawler.model import Slot
from sharc_crawler.state.spec import CaptureSpec
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


def test_lists_that_lead_on_by_a_form_are_told_once_each() -> None:
    url = "http://h.example/"
    frontier = Sites().open(CaptureSpec(site="h.example", seeds=(url,), strategy="bfs"), 0.0)
    page = b"<a href=\"javascript:__doPostBack('ctl00$list','Page$2')\">2</a><a href=a>a</a>"
    [problem] = html.extract(page, url).unread
    for path, slot in ("a", Slot.FIRST), ("a", Slot.SECOND), ("b", Slot.ONLY):
        unread(frontier, shown(f"{url}{path}")._replace(slot=slot), (f"without {problem}",))
    unread(frontier, shown(f"{url}c"), (f"without {problem}", "too long"))
    assert sorted(frontier.capture.notes) == [
        f"1 document was not read, or not whole: {url}c (too long)",
        "3 pages were followed by the further pages of a list, to which a form alone leads and which are not captured:"
        f" {url}a",
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
