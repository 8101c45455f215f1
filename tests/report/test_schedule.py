"""The drawing: everything lies where its time and rate say."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Plan, Slot, Verdict
from sharc_crawler.rates.base import NO_CHANGE, PRIOR
from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.schedule import (
    DAY,
    LEFT,
    MAX_ROWS,
    MAX_TICKS,
    MOST_TICKS,
    RIGHT,
    WIDTH,
    PageSample,
    Schedule,
    TimeAxis,
    schedule,
)
from tests.report.arbitrary import captures
from tests.report.by_hand import T, classes_of, facts, judged, page, pages_of, rendered, visit
from tests.report.made_up import capture

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts


def drawing_of(made: CaptureFacts) -> Schedule | None:
    drawn, pages = PageSample(), pages_of(made)
    for number, entry in enumerate(pages):
        drawn.add(number, entry)
    return schedule(capture_entry(made), drawn, [pages[number] for number in drawn.lines()])


def test_a_pyramid_looks_like_one() -> None:
    drawing = drawing_of(capture(120, 10.0))
    assert drawing is not None
    assert drawing.one_in == 1
    hopeful = sorted((row for row in drawing.rows if not row.hopeless and row.revisit), key=lambda row: row.y)
    widths = [row.revisit - row.visit for row in hopeful]
    assert all(above <= below + 2 for above, below in itertools.pairwise(widths)), "it widens downwards"
    assert all(row.visit <= drawing.reference <= row.revisit for row in hopeful)
    assert sum(height for _, height in drawing.hopeless) == pytest.approx(
        sum(row.hopeless for row in drawing.rows) * (drawing.bottom - drawing.top) / 120, abs=0.1
    )


@pytest.mark.slow
@settings(
    max_examples=settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(captures)
def test_nothing_lies_outside_the_plot(any_facts: CaptureFacts) -> None:
    drawing = drawing_of(any_facts)
    if drawing is None:
        return
    places = [
        x for row in drawing.rows for x in (row.visit, row.revisit, drawing.reference, *row.changes) if x is not None
    ]
    places += [x for x, _ in drawing.times]
    places += [x for start, width, *_ in (*drawing.phases, *drawing.interruptions) for x in (start, start + width)]
    assert all(LEFT - 0.2 <= x <= WIDTH - RIGHT + 0.2 for x in places)
    assert all(drawing.top <= row.y <= drawing.bottom for row in drawing.rows)


@pytest.mark.slow
def test_of_many_pages_every_kth_is_drawn() -> None:
    hot = [judged(f"/{n}", Verdict.COHERENT, rate=1.0 / (n + 1)) for n in range(3 * MAX_ROWS - 1)]
    drawing = drawing_of(facts(*reversed(hot)))
    assert drawing is not None
    assert drawing.one_in == 3
    assert len(drawing.rows) == MAX_ROWS
    assert [row.title.split(" ")[0] for row in drawing.rows[:3]] == ["/0", "/3", "/6"], "hottest on top"


def test_true_changes_are_thinned_out_not_piled_up() -> None:
    restless = judged("/", Verdict.CHANGED, truth=False, true_changes=tuple(T - 10 + n / 50 for n in range(1000)))
    drawing = drawing_of(facts(restless))
    assert drawing is not None
    (row,) = drawing.rows
    assert MAX_TICKS / 2 < len(row.changes) <= MAX_TICKS


def test_a_rate_that_is_a_guess_is_no_label() -> None:
    known, guessed = (
        judged(f"/{source}", Verdict.COHERENT, rate=1 / 720, rate_source=source) for source in ("sitemap", PRIOR)
    )
    drawing = drawing_of(facts(known, guessed))
    assert drawing is not None
    assert sorted(label for _, label in drawing.rates) == ["every 12 min", "not known"]


def test_no_download_no_drawing() -> None:
    assert drawing_of(facts(page("/", reason="404"))) is None


def test_a_single_download_is_drawn() -> None:
    apex = page("/", verdict=Verdict.COHERENT, evidence=Evidence.BYTES, visit=visit(T, Slot.ONLY), plan=Plan.HOPEFUL)
    drawing = drawing_of(facts(apex))
    assert drawing is not None
    assert [(row.visit, row.revisit) for row in drawing.rows] == [(LEFT, None)]
    assert drawing.reference == LEFT


@given(st.floats(1e9, 2e9), st.floats(1.0, 3e8))
def test_ticks_are_few_round_and_in_order(start: float, length: float) -> None:
    axis = TimeAxis(start, start + length, 0.0, 1000.0)
    ticks = axis.ticks()
    places = [x for x, _ in ticks]
    assert places == sorted(places)
    assert len(ticks) <= MOST_TICKS + 1
    assert len({text for _, text in ticks}) == len(ticks), "no label twice"
    assert all(-0.1 <= x <= 1000.1 for x in places)


def test_labels_name_the_day_where_there_are_several() -> None:
    midnight = 20_777 * DAY
    assert TimeAxis(midnight - 7200, midnight + 7200, 0, 100).ticks()[0][1] == "19 Nov 22:00"
    assert TimeAxis(midnight + 60, midnight + 300, 0, 100).day() == "20 November 2026"
    assert TimeAxis(midnight, midnight + 5 * DAY, 0, 100).ticks()[-1][1] == "25 Nov 2026"


@pytest.mark.slow
def test_rate_classes_add_up() -> None:
    entry = capture_entry(capture(300, 15.0))
    classes = classes_of(capture(300, 15.0))
    assert sum(c.pages for c in classes) == entry["coherence"]["captured"]
    assert sum(c.coherent for c in classes) == entry["coherence"]["coherent"]
    guessed = sum(one["survival"] or 0.0 for one in pages_of(capture(300, 15.0)) if one["rate_source"] == PRIOR)
    expected = sum(c.expected or 0.0 for c in classes)
    assert expected + guessed == pytest.approx(entry["coherence"]["expected"]["coherent"])
    assert sum(c.counted for c in classes) == entry["coherence"]["expected"]["same_content"]


def test_rate_classes_by_mean_time_between_changes() -> None:
    rates = (1 / 5, 1 / 60, 1 / 61, 0.0, math.inf, 1e-13)
    pages = [judged(str(n), Verdict.COHERENT, rate=rate, rate_source="sitemap") for n, rate in enumerate(rates)]
    names = {c.name: c.pages for c in classes_of(facts(*pages)) if c.pages}
    assert names == {"under 10 s": 1, "10 s – 1 min": 1, "1 – 10 min": 1, "never": 3}
    assert classes_of(facts(judged("/s.css", Verdict.COHERENT, kind=Kind.RESOURCE))) == []


def test_rates_that_are_taken_from_other_pages_are_in_no_class() -> None:
    told, still, guessed = (
        judged(source, Verdict.COHERENT, rate=1 / 60, rate_source=source) for source in ("history", NO_CHANGE, PRIOR)
    )
    found = {c.name: (c.pages, c.expected is not None) for c in classes_of(facts(told, still, guessed))}
    assert found == {"10 s – 1 min": (1, True), "no change seen": (1, True), "not known": (1, False)}


def test_a_rate_that_nobody_told_is_not_shown() -> None:
    pages = [
        judged("/told", Verdict.COHERENT, rate=1 / DAY, rate_source="sitemap"),
        judged("/guessed", Verdict.COHERENT, rate=1 / DAY, rate_source="prior"),
    ]
    drawing = drawing_of(facts(*pages))
    assert drawing is not None
    guessed, told = sorted(row.title for row in drawing.rows)
    assert told.endswith("· changes every day on average")
    assert guessed.endswith("· nothing tells how often it changes")


def test_a_label_at_the_end_of_the_time_axis_is_not_cut() -> None:
    ends = []
    for after in range(60, 75):
        made = facts(judged("/", Verdict.COHERENT, before=50, after=after), started=T - 60, ended=T + after + 1)
        (shown,) = rendered(made).values()
        labels = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">(\d\d:\d\d:\d\d)<', shown)
        ends.append(max(float(x) + 4 * len(text) for x, text in labels))
    assert max(ends) == WIDTH, "some would stand out, none does"


@pytest.mark.parametrize(("after", "sides"), [(1, 'text-anchor="end" '), (60, "")])
def test_where_no_room_is_left_the_reference_instant_is_written_before_its_line(after: int, sides: str) -> None:
    made = facts(judged("/", Verdict.COHERENT, before=50, after=after), started=T - 60, ended=T + after + 1)
    (shown,) = rendered(made).values()
    assert re.search(rf'<text class="reference" x="[\d.]+" {sides}y=', shown)
