from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.model import Verdict
from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.html import tiles
from tests.report.by_hand import T, facts, judged, visit


@pytest.mark.parametrize(
    ("warcs", "ended", "expected"),
    [
        ((), T + 60, "no WARC files"),
        (("a.warc.gz",), T + 60, "7 exchanges in 1 WARC file, a certificate's own not counted"),
        (("a.warc.gz", "b.warc.gz"), None, "7 exchanges in 2 WARC files, a certificate's own not counted"),
    ],
)
def test_no_certificate_is_said_to_be_where_none_may_have_been_written(warcs, ended, expected):
    report = capture_entry(replace(facts(), warcs=warcs, ended=ended, exchanges=7, payload_bytes=1))
    (archived,) = [tile for tile in tiles(report) if tile.label == "Archived"]
    assert archived.note == expected


def test_pages_that_took_several_attempts_are_counted():
    again = judged("/a", Verdict.COHERENT, visit=replace(visit(T - 5), attempts=3))
    report = capture_entry(replace(facts(again, judged("/b", Verdict.COHERENT)), warcs=("a.warc.gz",), ended=T + 60))
    assert report["coherence"]["retried"] == 1
    (archived,) = [tile for tile in tiles(report) if tile.label == "Archived"]
    assert archived.note.endswith("; 1 page took several requests")
