"""What is held of a capture does not grow with its pages: counted, not timed."""

from __future__ import annotations

import gc
import json
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_capture import Maker
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.witness import RecordedExchange
from sharc_crawler.certificate.writing import certify
from sharc_crawler.collection.folder import is_over
from sharc_crawler.evidence import details
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.report import listing, package_check, pages
from sharc_crawler.report.listing import Listing
from sharc_crawler.report.load import capture_facts
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.packaging import package
from sharc_crawler.report.pages import WALKS, Walked
from sharc_crawler.report.shown_pages import Gathered
from sharc_crawler.report.write import write
from sharc_crawler.state.rows import PageRow, UrlRow, VisitRow
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.sqlite import SqliteStore
from tests.certificate.made import certified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BATCH = 128  #: pages that are looked at together, an eighth of what is usual
PAGES = 3 * BATCH
ROWS = (PageFacts, PageRow, UrlRow, VisitRow, RecordedExchange)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scale")
    Maker(made, PAGES, PAGES // 8).make()
    return made


def held() -> int:
    """How many rows of a capture are in memory."""
    return sum(isinstance(one, ROWS) for one in gc.get_objects())


@pytest.mark.slow
def test_rows_held_and_walks_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0

    def looked(self: Walked, capture: int) -> Iterator[UrlRow]:
        nonlocal most
        for number, row in enumerate(self._store.urls(capture)):
            if number % (BATCH // 2) == BATCH // 2 - 1:
                most = max(most, held())
            read.append(capture)
            yield row

    read: list[int] = []
    monkeypatch.setattr(Walked, "urls", looked)
    monkeypatch.setattr(details, "BATCH", BATCH)
    monkeypatch.setattr(pages, "FEW", BATCH // 8)
    before = held()
    with open_state(folder) as store:
        captures = capture_facts(Walked(store, lambda *_: None))
        write(captures, folder)
        (certified,) = certify(captures, folder)
    assert certified.findings == ()
    assert len(read) == WALKS * PAGES, "each walk costs: what there is, sums, details, two files of lines"
    assert most - before <= 2 * BATCH + 100, "a batch of pages and the one before, not all three"
    assert held() - before <= BATCH
    assert verify(folder).findings == []
    assert held() - before <= BATCH
    with open_facts(folder) as facts:
        package(folder, facts)
    assert held() - before <= BATCH


def test_what_is_shown_of_pages_is_held_as_their_lines() -> None:
    page = {"kind": "page", "verdict": None, "moved": False, "reason": "moved", "url": "http://h/", "visit": None}
    shown = Gathered()
    for number in range(3):
        shown.add(number, json.dumps({**page, "truth": {"changes": [[]]}}))
    shown.draw({})
    assert not [one for one in gc.get_objects() if isinstance(one, dict) and one.get("reason") == "moved"]
    assert [one["url"] for one in shown.missing.items()] == ["http://h/"] * 3


@contextmanager
def peak(most: int) -> Iterator[None]:
    """No more bytes than that are made and held at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("few", [listing._FEW, 1])
def test_rows_of_a_report_come_by_verdict_whether_in_memory_or_on_disk(few: int, monkeypatch) -> None:
    row = {"content": "", "plan": "", "rate": None, "rate_source": "prior", "visit": None, "revisit": None}
    row |= {"interval_seconds": 1, "survival": None, "truth": None, "reason": "\n", "evidence": ""}
    monkeypatch.setattr(listing, "_FEW", few)
    shown = Listing()
    for number, verdict in enumerate(("coherent", "changed", "coherent", "unknown")):
        shown.add({**row, "url": f"http://h/{number}\udc80\n\u2028", "verdict": verdict})
    for _ in range(2):
        rows = json.loads("".join(shown.pieces()))["rows"][:-1]
        assert [one[0][9] for one in rows] == ["1", "3", "0", "2"]
        assert {one[12] for one in rows} == {listing.short("\n")}


def test_a_report_for_people_is_compared_piece_by_piece(tmp_path: Path) -> None:
    facts = certified(tmp_path)
    with write([facts], tmp_path).html.open("ab") as out:
        out.truncate(size := 1 << 24)
    whole = package(tmp_path, [facts], tmp_path / "altered.wacz")
    list(package_check.not_of_capture(tmp_path))  # what is loaded once is loaded
    for path in (tmp_path, whole):
        with peak(size // 2):
            found = [finding.what for finding in package_check.not_of_capture(path)]
        assert "the report is not that of its data" in found


def test_an_index_is_sorted_part_by_part(tmp_path: Path, monkeypatch) -> None:
    whole = package(tmp_path, [certified(tmp_path)])
    monkeypatch.setattr(package_check, "_SORTED", 2)
    monkeypatch.setattr(package_check, "AT_ONCE", 3)
    assert list(package_check.not_of_capture(whole)) == []


def test_whether_a_capture_is_over_is_told_by_its_first_page(tmp_path: Path, monkeypatch) -> None:
    Maker(tmp_path, 3, 3).make()
    monkeypatch.setattr(SqliteStore, "load", lambda _: pytest.fail("all of its state is read"))
    assert is_over(tmp_path)
