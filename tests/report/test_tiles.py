from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.tiles import tiles
from tests.report.by_hand import T, facts


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
