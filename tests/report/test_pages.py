"""Which visits of a page a report is made of."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.evidence.facts import LOST
from sharc_crawler.model import CaptureRef, Outcome, Plan, Result, Slot
from sharc_crawler.report.pages import counted
from sharc_crawler.state.rows import VisitRow

PLACE = CaptureRef("a.warc.gz", 7, 9)


@pytest.mark.parametrize("lost", [False, True])
def test_a_304_that_was_tested_counts_unless_its_record_is_lost(lost):
    ends = Outcome(Result.NOT_MODIFIED, 1.0, 2.0, status=304), Outcome(Result.OK, 3.0, 4.0, status=200)
    place, error = (None, LOST) if lost else (PLACE, None)
    told, tested = (one._replace(capture=place, error=error) for one in ends)
    visits = (
        VisitRow(1, Slot.SECOND, Plan.HOPEFUL, 1, False, 1, 1.0, told),
        VisitRow(1, Slot.SECOND, Plan.HOPEFUL, 2, not lost, 2, 3.0, tested),
    )
    assert counted(SimpleNamespace(visits=visits)) == ([] if lost else list(visits))
