"""Functions called for a decision, and for a page that is read: a loss of speed shows, and no clock has to tell it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sharc_crawler
from benchmarks import bench_crawl, bench_frontier
from sharc_crawler.live.reading.document import detector_of, read
from sharc_crawler.live.reading.reader_process import packed
from sharc_crawler.live.reading.readings import Order, Wants

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

OURS = str(Path(sharc_crawler.__file__).parent)
PAGES = 300


def calls(work: Callable[[], object]) -> int:
    """Of functions in Python and in C, that the package calls or has called."""
    count = 0

    def called(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event in ("call", "c_call") and frame.f_code.co_filename.startswith(OURS)

    work()  # what is loaded once, or remembered, does not count
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("strategy", "downloads", "texts", "most"),
    [
        ("sharc-online", 1, False, 318),
        ("sharc-online", 1, True, 430),
        ("sharc-selective", 2, False, 680),
        ("sharc-selective", 2, True, 720),
    ],
)
def test_a_decision(strategy: str, downloads: int, texts: bool, most: int) -> None:
    """The whole way, with 50 links a page: what `bench_frontier.py` takes the time of. A live crawl's have texts."""
    count = calls(lambda: bench_frontier.crawl(strategy, PAGES, 50, texts=texts))
    assert count <= most * downloads * PAGES, f"{count / PAGES / downloads:.1f} calls a decision"


@pytest.mark.parametrize(("compared", "most"), [(False, 750), (True, 1_250)])
def test_a_page_that_is_read(compared: bool, most: int) -> None:
    """Of 20 KB, 50 links and 600 lines, in which words and numbers stand by turns; its payload is new."""
    answer = bench_crawl.page(7, 600)
    order = Order("http://www.example.org/archive/page-7", Wants.DOCUMENT, compared=compared, words=True)
    detector = detector_of("content", None)
    count = calls(lambda: packed(read(answer, order, detector)))
    assert count <= most, f"{count} calls"
