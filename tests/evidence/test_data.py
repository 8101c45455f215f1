"""A page made by script, judged with what its scripts fetched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.evidence.data import DataState, judged_with_data, with_data
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.judgement import APEX, ONCE
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Judgement, Kind, Url, Verdict

SAME_BYTES = Judgement(Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES)
OTHER_BYTES = Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
TOLD = Judgement(Verdict.COHERENT, Evidence.VALIDATOR, Reason.NOT_MODIFIED)
CHANGED = Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.DATA_CHANGED)
UNKNOWN = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.DATA_UNKNOWN)


def state(judgement: Judgement, reference: float = 5.0) -> DataState:
    return DataState(judgement, reference)


@pytest.mark.parametrize(
    ("own", "data", "expected"),
    [
        (SAME_BYTES, [state(SAME_BYTES)], (SAME_BYTES, "")),
        (SAME_BYTES, [state(SAME_BYTES), state(OTHER_BYTES)], (CHANGED, "1")),
        (OTHER_BYTES, [state(OTHER_BYTES)], (CHANGED, "0")),  # else noise in a shell would hide it
        (ONCE, [state(OTHER_BYTES)], (CHANGED, "0")),
        (OTHER_BYTES, [state(SAME_BYTES)], (OTHER_BYTES, "")),
        (SAME_BYTES, [state(ONCE), state(OTHER_BYTES)], (CHANGED, "1")),
        (SAME_BYTES, [state(SAME_BYTES), state(ONCE)], (UNKNOWN, "1")),
        (SAME_BYTES, [state(SAME_BYTES, 6.0)], (UNKNOWN, "0")),  # of a part of the site with another T
        (SAME_BYTES, [state(OTHER_BYTES, 6.0)], (UNKNOWN, "0")),
        (SAME_BYTES, [state(TOLD)], (TOLD, "0")),
        (TOLD, [state(SAME_BYTES)], (TOLD, "")),
        (APEX, [state(SAME_BYTES)], (SAME_BYTES, "0")),
        (ONCE, [state(SAME_BYTES), state(ONCE)], (ONCE, "")),
    ],
)
def test_by_the_weakest_of_all(own, data, expected):
    known = {str(number): one for number, one in enumerate(data)}
    assert with_data(own, 5.0, list(known), known) == expected


def test_a_page_without_data_or_without_a_verdict_stays_as_it_is():
    page = PageFacts(Url("/"), Kind.PAGE, "seed", 0, 0.0, "prior", embeds=(Url("/api"),))
    for own, known in ((page, {Url("/api"): state(SAME_BYTES)}), (replace(page, verdict=Verdict.COHERENT), {})):
        assert judged_with_data(own, 5.0, known) is own


def test_a_page_is_told_with_what_its_scripts_fetched():
    apis = Url("/a"), Url("/b"), Url("/style")
    page = PageFacts(Url("/"), Kind.PAGE, "seed", 0, 0.0, "prior", embeds=apis, verdict=Verdict.COHERENT,
                     evidence=Evidence.BYTES, reason=Reason.EQUAL_BYTES)  # fmt: skip
    for second, verdict, evidence, reason in (
        (SAME_BYTES, Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES),
        (TOLD, Verdict.COHERENT, Evidence.VALIDATOR, f"{Reason.NOT_MODIFIED}: /b"),
        (OTHER_BYTES, Verdict.CHANGED, Evidence.BYTES, f"{Reason.DATA_CHANGED}: /b"),
        (ONCE, Verdict.UNKNOWN, Evidence.NONE, f"{Reason.DATA_UNKNOWN}: /b"),
    ):
        found = judged_with_data(page, 5.0, {apis[0]: state(SAME_BYTES), apis[1]: state(second)})
        assert (found.verdict, found.evidence, found.reason) == (verdict, evidence, reason)
        assert found.data == apis[:2], "a style sheet is none"
    without = replace(page, evidence=None, verdict=Verdict.UNKNOWN, reason=Reason.VISITED_ONCE)
    found = judged_with_data(without, 5.0, {apis[0]: state(SAME_BYTES)})
    assert (found.verdict, found.evidence, found.reason) == (Verdict.UNKNOWN, Evidence.NONE, Reason.VISITED_ONCE)
