"""What no chance explains."""

from __future__ import annotations

import pytest

from sharc_crawler.instants import second
from sharc_crawler.model import HowMade, Kind, Verdict
from sharc_crawler.report.forecasts import at_once
from sharc_crawler.report.notes import noted
from tests.report.by_hand import T, facts, judged

CHANGED, COHERENT = Verdict.CHANGED, Verdict.COHERENT


def deployed(changed: int, late: int, early: int = 0, others: int = 0) -> list:
    """A site that is published anew 20 s before T: visits come before it and after, a few revisits, too."""
    return [
        *(judged(f"http://h/a{i}", CHANGED, 60.0 - i / 10, 10.0) for i in range(changed)),
        *(judged(f"http://h/b{i}", COHERENT, 19.0 - i / 10, 10.0) for i in range(late)),
        *(judged(f"http://h/c{i}", COHERENT, 70.0, -40.0) for i in range(early)),
        *(judged(f"http://h/d{i}", COHERENT, 60.0, 10.0) for i in range(others)),
    ]


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        (deployed(48, 10), "48 of 58 pages changed as if at one moment after"),
        (deployed(48, 3, 7), "48 of 58 pages changed as if at one moment after"),
        (deployed(48, 10, others=2), ", 2 apart: those downloaded before and after it did"),
        (deployed(48, 4), ""),  # few to tell by
        (deployed(48, 10, others=6), ""),
        (deployed(48, 0, others=10), ""),  # some change, and some do not
        (deployed(9, 10), ""),
        ([judged(f"http://h/{i}", CHANGED, kind=Kind.RESOURCE) for i in range(50)] + deployed(0, 9), ""),
        ([], ""),
    ],
)
def test_pages_that_changed_at_one_moment_are_told(pages, words):
    told = at_once(pages)
    assert (words in told) if words else told == ""


def test_the_note_comes_before_those_on_how_it_was_made():
    first, *others = noted(facts(*deployed(48, 10)))
    assert f"at one moment after {second(T - 60.0 + 4.7)}" in first
    assert others and all(isinstance(note, HowMade) for note in others)
