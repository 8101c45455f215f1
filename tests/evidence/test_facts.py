"""What single facts say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sharc_crawler.evidence.facts import VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Result, Slot, Verdict
from tests.evidence.test_figures import T, page
from tests.report.test_notes import facts


@pytest.mark.parametrize(
    ("verdict", "status", "older"),
    [(Verdict.CHANGED, 304, True), (Verdict.CHANGED, 200, False), (Verdict.COHERENT, 304, False)],
)
def test_a_page_is_older_that_a_304_left_as_a_former_capture_had_it(verdict, status, older) -> None:
    one = page(Evidence.BYTES, verdict=verdict)
    assert replace(one, visit=VisitFacts(Slot.FIRST, Result.OK, T, T, status=status)).older is older
    assert replace(one, visit=None).older is False


@pytest.mark.parametrize(
    ("strata", "belied"), [([], False), ([("304", 0), ("lastmod", 1)], False), ([("lastmod", 0), ("304", 1)], True)]
)
def test_304s_are_belied_where_one_was_caught(strata: list[tuple[str, int]], belied: bool) -> None:
    audit: dict[str, Any] = {"strata": [{"of": of, "caught": caught} for of, caught in strata]}
    assert replace(facts(), audit=audit).belied is belied
    assert facts().belied is False
