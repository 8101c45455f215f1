"""The document: true to its schema whatever the facts, and its figures to the definitions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.schemas import schema
from sharc_crawler.model import Kind, Plan, Result, Slot, Verdict
from sharc_crawler.rates.swings import GROUP, Swings
from sharc_crawler.report.document import document
from sharc_crawler.report.write import to_json
from tests.report.arbitrary import captures
from tests.report.by_hand import T, entry_of, facts, judged, page, visit
from tests.report.made_up import LOST, SITE, capture

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts

SCHEMA = schema("sharc_crawler.report", "report.schema.json")
DOCS = Path(__file__).parents[2] / "docs" / "report.md"


def check(report: dict) -> None:
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(report)
    assert [f"{error.json_path}: {error.message[:200]}" for error in errors] == []


@pytest.mark.slow
def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(captures)
def test_any_facts_give_a_valid_document(any_facts: CaptureFacts) -> None:
    report = document([any_facts])
    check(report)
    assert json.loads(to_json(report)) == report, "nothing is lost on disk"
    totals = report["captures"][0]["coherence"]
    assert totals["known"] == totals["captured"] + totals["not_captured"]
    assert totals["captured"] == totals["coherent"] + totals["changed"] + totals["unknown"]
    complete = report["captures"][0]["coherence"]["complete"]
    assert complete["coherent"] <= totals["coherent"], "resources only ever take away"


@pytest.mark.slow
def test_a_large_capture_is_valid_and_the_same_twice() -> None:
    report = document([capture(400, 10.0)])
    check(report)
    assert to_json(report) == to_json(document([capture(400, 10.0)]))


def test_a_folder_without_captures() -> None:
    check(document([]))


def test_an_empty_capture() -> None:
    entry = entry_of(facts(reference=None, ended=None))
    assert entry["coherence"]["captured"] == 0
    assert entry["coherence"]["share"] is None
    assert entry["times"]["visits"] is None
    assert entry["times"]["seconds"] is None
    assert entry["truth"] is None


def test_coherence_counts_pages_alone_and_keeps_unknown_apart() -> None:
    entry = entry_of(
        facts(
            judged("/a", Verdict.COHERENT, weight=3.0),
            judged("/b", Verdict.CHANGED),
            judged("/c", Verdict.UNKNOWN),
            page("/d", reason="not there: 404"),
            judged("/style.css", Verdict.COHERENT, kind=Kind.RESOURCE),
            page("/robots.txt", kind=Kind.ROBOTS),
        )
    )
    totals = entry["coherence"]
    assert (totals["known"], totals["captured"], totals["coherent"]) == (4, 3, 1)
    assert (totals["changed"], totals["unknown"], totals["not_captured"]) == (1, 1, 1)
    assert totals["share"] == pytest.approx(1 / 3)
    assert totals["weighted_share"] == pytest.approx(3 / 5)
    assert entry["resources"]["coherent"] == 1
    assert [(lost["url"], lost["kind"], lost["reason"], lost["moved"]) for lost in entry["lost"]] == [
        ("/d", "page", "not there: 404", False)
    ]
    told = {"missing": 1, "reasons": {"not there: 404": 1}, "redirects": 0, "redirecting_pages": 0}
    assert entry["not_captured"] == told


def test_expected_coherence_is_the_sum_of_survivals_over_judged_pages() -> None:
    made = capture(60, 20.0, seed=5)
    expected = entry_of(made)["coherence"]["expected"]
    judged_pages = [p for p in made.pages if p.kind is Kind.PAGE and p.verdict in (Verdict.COHERENT, Verdict.CHANGED)]
    intervals = [p.revisit.started - p.visit.started if p.revisit else 0.0 for p in judged_pages]
    chances = [math.exp(-p.rate * length) for p, length in zip(judged_pages, intervals, strict=True)]
    assert expected["pages"] == len(judged_pages)
    assert expected["coherent"] == pytest.approx(sum(chances))
    moved = [p.rate * length * chance for p, length, chance in zip(judged_pages, intervals, chances, strict=True)]
    together = Swings.usual().at(max(intervals)) * sum(moved)
    chance = GROUP * sum(p * (1 - p) for p in chances)
    assert expected["deviation"] == pytest.approx(math.hypot(math.sqrt(chance), together))
    assert expected["counted"] == sum(p.verdict is Verdict.COHERENT for p in judged_pages)


@pytest.mark.parametrize(
    ("fields", "interval"),
    [
        ({"visit": visit(T, Slot.ONLY), "evidence": Evidence.BYTES}, 0.0),
        ({"visit": visit(T - 7, Slot.ONLY), "evidence": Evidence.ATTESTED}, 7.0),
        ({"visit": visit(T + 7, Slot.ONLY), "evidence": Evidence.ATTESTED}, 7.0),
        ({"visit": visit(T - 3), "revisit": visit(T + 4), "evidence": Evidence.BYTES}, 7.0),
        ({"visit": visit(T - 3), "evidence": Evidence.NONE}, None),
        ({}, None),
    ],
)
def test_the_interval_that_a_page_had_to_survive(fields: dict, interval: float | None) -> None:
    (entry,) = entry_of(facts(page(verdict=Verdict.COHERENT, rate=0.1, **fields)))["pages"]
    assert entry["interval_seconds"] == interval
    assert entry["survival"] == (None if interval is None else pytest.approx(math.exp(-0.1 * interval)))


def test_an_unknown_page_has_no_interval() -> None:
    (entry,) = entry_of(facts(judged("/", Verdict.UNKNOWN)))["pages"]
    assert entry["interval_seconds"] is None


def test_complete_coherence_counts_all_that_a_page_embeds() -> None:
    resource, moved = {"kind": Kind.RESOURCE}, replace(visit(T, result=Result.REDIRECTED), status=301)
    entry = entry_of(
        facts(
            judged("/whole", Verdict.COHERENT, embeds=("/style", "/broken", "/moved", "/elsewhere")),
            judged("/changed", Verdict.COHERENT, embeds=("/sheet",)),
            judged("/missing", Verdict.COHERENT, embeds=("/refused",)),
            judged("/unjudged", Verdict.UNKNOWN, embeds=("/sheet",)),
            judged("/style", Verdict.COHERENT, embeds=("/style",), **resource),
            judged("/sheet", Verdict.COHERENT, embeds=("/image", "/sheet"), **resource),
            judged("/image", Verdict.CHANGED, **resource),
            page("/broken", visit=replace(visit(T, result=Result.GONE), status=410), **resource),
            page("/moved", visit=moved, embeds=("/style",), **resource),
            page("/refused", reason="robots.txt forbids it", **resource),
        )
    )
    assert {p["url"]: p["complete"] for p in entry["pages"] if p["complete"]} == {
        "/whole": "coherent",
        "/changed": "changed",
        "/missing": "unknown",
        "/unjudged": "changed",
    }
    assert entry["coherence"]["complete"] == {"coherent": 1, "changed": 2, "unknown": 1, "share": 0.25, "on_word": 0}


def test_truth_table() -> None:
    cases = [
        (Verdict.COHERENT, True),
        (Verdict.COHERENT, False),
        (Verdict.CHANGED, True),
        (Verdict.CHANGED, False),
        (Verdict.CHANGED, False),
        (Verdict.UNKNOWN, True),
        (Verdict.UNKNOWN, False),
        (Verdict.COHERENT, None),
    ]
    pages = [judged(f"/{number}", verdict, truth=truth) for number, (verdict, truth) in enumerate(cases)]
    pages[1] = replace(pages[1], true_changes=(T - 500.0, T + 10.9))
    assert entry_of(facts(*pages))["truth"] == {
        "pages": 7,
        "unchanged": 3,
        "agree": 3,
        "false_coherent": 1,
        "false_changed": 1,
        "unknown_unchanged": 1,
        "unknown_changed": 1,
        "wrong_within_a_second": 1,
    }


def test_truth_is_told_only_where_it_is_known() -> None:
    assert entry_of(capture(20, truth=False))["truth"] is None
    truth = entry_of(capture(20))["truth"]
    assert truth["agree"] + truth["unknown_unchanged"] + truth["unknown_changed"] == truth["pages"] == 20


def test_times_come_from_what_happened() -> None:
    times = entry_of(facts(judged("/a", Verdict.COHERENT, 30, 20), judged("/b", Verdict.CHANGED, 10, 5)))["times"]
    assert times["reference"] == "2026-11-18T11:06:40.000000Z"
    assert times["visits"] == {
        "from": "2026-11-18T11:06:10.000000Z",
        "to": "2026-11-18T11:06:30.500000Z",
        "seconds": 20.5,
        "pages": 2,
    }
    assert times["revisits"]["seconds"] == 15.5
    assert times["seconds"] == 120.0


def test_plans_and_their_reasons() -> None:
    made = capture(200, 20.0)
    entry = entry_of(made)
    hopeless = [p for p in entry["pages"] if p["plan"] == "hopeless"]
    assert entry["plans"]["hopeless"]["pages"] == len(hopeless) > 0
    assert all("others were preferred near" in p["plan_reason"] and "on average" in p["plan_reason"] for p in hopeless)
    still = entry_of(facts(judged("/", Verdict.COHERENT, plan=Plan.HOPEFUL, rate_source="sitemap")))["pages"][0]
    assert still["plan_reason"] == "is not expected to change; over 20 s it stays the same with a chance of 100 %"


def test_equal_fingerprints_stand_beside_the_verdict() -> None:
    same = replace(visit(T - 5), fingerprint="f", digest="sha1:A")
    noisy = judged("/", Verdict.CHANGED, visit=same, revisit=replace(same, digest="sha1:B"))
    (entry,) = entry_of(facts(noisy))["pages"]
    assert (entry["verdict"], entry["fingerprint_equal"]) == ("changed", True)


def test_every_loss_has_a_reason() -> None:
    made = capture(30)
    reasons = {entry["url"]: entry["reason"] for entry in entry_of(made)["lost"]}
    assert len(reasons) == len(LOST) + 2
    assert reasons[f"{SITE}/old-catalogue"] == "not there: 404"
    broken = replace(visit(T, result=Result.FAILED), error="connection reset")
    entry = entry_of(facts(page("/a", visit=broken), page("/b")))
    assert [lost["reason"] for lost in entry["lost"]] == [
        "connection reset",
        "not visited by the crawl",
    ]


def _names(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_names, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", ()))
    return own.union(*(_names(part) for part in schema.values()))


def test_the_docs_explain_every_field() -> None:
    text = DOCS.read_text()
    assert {name for name in _names(SCHEMA) if f"`{name}`" not in text} == set()


def test_blur_is_over_the_successful_downloads_of_pages() -> None:
    failed = visit(T + 40, Slot.SECOND, Result.FAILED)
    entry = entry_of(
        facts(
            judged("/a", Verdict.COHERENT, 10, 10, rate=0.1, true_changes=(T - 10.0, T - 4.0, T + 30.0)),
            judged("/b", Verdict.UNKNOWN, 30, revisit=failed, rate=0.2),
            judged("/style.css", Verdict.COHERENT, 50, 50, kind=Kind.RESOURCE, rate=9.0),
            page("/c", rate=9.0, visit=visit(T - 50, result=Result.GONE)),
        )
    )
    # observed from T-30 to T+10: /a is copied 20 s and 40 s after its begin, /b at the begin alone
    a, b = 0.1 * (20**2 / 2 + 20**2 / 4) / 40, 0.2 * (40**2 / 2) / 40
    blur = entry["blur"]
    assert (blur["from"], blur["to"]) == ("2026-11-18T11:06:10.000000Z", "2026-11-18T11:06:50.000000Z")
    assert blur["stochastic"] == pytest.approx(a + b)
    assert blur["stochastic_average"] == pytest.approx((a + b) / 2)
    assert blur["pages"] == 2
    assert blur["actual"] == blur["actual_average"] == pytest.approx((20 + 4) / 40)
    assert blur["actual_pages"] == 1
    assert [p["stochastic_blur"] for p in entry["pages"]] == [pytest.approx(a), pytest.approx(b), None, None]
    assert [p["actual_blur"] for p in entry["pages"]] == [pytest.approx(0.6), None, None, None]


def test_blur_by_true_changes_is_reckoned_only_where_some_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    reckoned = []
    of_demo = "sharc_crawler.evidence.truth.actual_blur"
    monkeypatch.setattr(of_demo, lambda *of: reckoned.append(of) or np.zeros(1))
    seen = judged("/a", Verdict.UNKNOWN, 30, 20)
    assert entry_of(facts(seen))["blur"]["actual"] is None
    assert not reckoned
    assert entry_of(facts(replace(seen, true_changes=())))["blur"]["actual"] == 0.0
    assert len(reckoned) == 2, "for the sums, and for the pages' lines"


@pytest.mark.slow
def test_actual_blur_is_near_the_expected_where_the_rates_are_right() -> None:
    blur = entry_of(capture(300, 15.0))["blur"]
    assert blur["pages"] == blur["actual_pages"] == 300
    assert blur["actual"] == pytest.approx(blur["stochastic"], rel=0.15)
