"""Measures against their definitions, and the evaluation on records with known update times."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.link_additions import DAY, LinkRecord, read_records, sampled
from sharc_crawler.errors import DataError
from sharc_crawler.seeds.base import WEEK, RankingTask
from sharc_crawler.seeds.hacs.document import markdown
from sharc_crawler.seeds.hacs.evaluation import Period, Truth, evaluate
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.measures import (
    THETAS,
    Chosen,
    ChosenByThreshold,
    leads,
    macro,
    micro,
    weighted_precision,
)
from sharc_crawler.seeds.hacs.rank import ordered
from sharc_crawler.seeds.hacs.rankers import Hacs
from sharc_crawler.seeds.hacs.sites import SeedHistories
from sharc_crawler.seeds.hacs.study import Study

if TYPE_CHECKING:
    from pathlib import Path

POINTS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=12)


@pytest.mark.slow
@given(st.lists(POINTS, min_size=1, max_size=4), st.sampled_from([0, 20, 100, 199, 200]))
def test_averages_are_those_of_the_definitions(points: list[list[tuple[float, bool]]], place: int) -> None:
    theta, counts, curves = THETAS[place], np.zeros(3), []
    for point in points:
        chosen = {n for n, (p, _) in enumerate(point) if p >= theta}
        updated = {n for n, (_, y) in enumerate(point) if y}
        row = np.array([len(chosen & updated), len(chosen), len(updated)], float)
        counts += row
        curves.append(measures(*row))
    selections = [ChosenByThreshold.of(np.array([p for p, _ in one]), np.array([y for _, y in one])) for one in points]
    assert micro(selections).at(place) == pytest.approx(measures(*counts))
    assert macro(selections).at(place) == pytest.approx(np.mean(curves, axis=0))


def measures(hits: float, chosen: float, updated: float) -> tuple[float, float, float]:
    precision, recall = hits / chosen if chosen else 0.0, hits / updated if updated else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


@pytest.mark.slow
@given(st.lists(st.one_of(st.integers(1, 40), st.just(math.inf)), min_size=1, max_size=12, unique=True), st.randoms())
def test_weighted_precision_is_that_of_the_definition(following: list[float], random: object) -> None:
    order = np.random.default_rng(len(following)).permutation(len(following))
    expected = sorted(range(len(following)), key=lambda seed: following[seed])
    ks = range(1, sum(map(math.isfinite, following)) + 1)
    if not ks:
        assert math.isnan(weighted_precision(order, np.array(following)))
        return
    precisions = [len(set(order[:k].tolist()) & set(expected[:k])) / k for k in ks]
    weights = [1 / math.log2(k + 1) for k in ks]
    assert weighted_precision(order, np.array(following)) == pytest.approx(np.average(precisions, weights=weights))


def test_random_picks_as_many() -> None:
    updated = np.array([True, False] * 20)
    own = ChosenByThreshold.of(np.linspace(0, 1, 40), updated)
    lots = own.random(updated, np.random.default_rng(1))
    assert lots.chosen.tolist() == own.chosen.tolist()
    assert lots.hits[0] == 20
    assert lots.hits[-1] <= lots.chosen[-1]


@given(st.lists(st.lists(st.integers(0, 20), max_size=5), max_size=5), st.integers(-1, 21))
def test_what_follows(updates: list[list[int]], now: int) -> None:
    expected = [min((time for time in row if time > now), default=math.inf) for row in updates]
    assert Truth.of([list(map(float, row)) for row in updates]).following(now).tolist() == expected


def test_truth_of_captures_alone() -> None:
    pages = UpdateHistories.of(["a", "b"], [[0.0, 4.0, 6.0], [0.0, 2.0]], [[-1, 1, 1], [-1, 0]])
    truth = Truth.seen(SeedHistories.of_pages(pages))
    assert truth.following(-1.0).tolist() == [2.0, math.inf]
    assert truth.following(2.0).tolist() == [5.0, math.inf]


def made_up(services: int = 12) -> list[LinkRecord]:
    """Services whose documents change weekly, monthly or never, over two years."""
    rng = np.random.default_rng(5)
    gaps = [8 * DAY, 40 * DAY, 4000 * DAY]
    return [
        LinkRecord(f"s{n}/{page}", 0.0, math.inf, np.cumsum(rng.exponential(gaps[n % 3], 120)))
        for n in range(services)
        for page in "ab"
    ]


def cut(records: list[LinkRecord], end: float) -> list[LinkRecord]:
    return [LinkRecord(one.page, one.first, one.last, one.additions[one.additions < end]) for one in records]


def test_captures_drawn_from_records() -> None:
    records = cut(made_up(), 700 * DAY)
    for regime, least, most in (("dense", 1.5, 8.0), ("sparse", 15.0, 200.0)):
        seeds, truth = sampled(records, regime)
        gaps = np.median(seeds.pages.intervals(interpolated=False).lengths) / DAY
        assert least < gaps < most
        assert sampled(records, regime)[0].pages.times.tolist() == seeds.pages.times.tolist()
        assert sampled(records, regime, draw=1)[0].pages.times.tolist() != seeds.pages.times.tolist()
        page = seeds.pages.select(np.array([0]))
        for before, after, bit in zip(page.times, page.times[1:], page.changed[1:], strict=False):
            assert bit == any(before < time <= after for time in records[0].additions)
    websites, truth = sampled(records, "dense", website=True)
    assert (len(websites), len(truth.offsets)) == (12, 13)


@pytest.mark.long
def test_hacs_beats_chance_where_rates_differ() -> None:
    seeds, truth = sampled(cut(made_up(), 600 * DAY), "dense")
    weeks = [4, 12]
    chosen = evaluate(seeds, truth, Period(300 * DAY, 400 * DAY), weeks)
    scored = evaluate(seeds, truth, Period(400 * DAY, 500 * DAY), weeks)
    study = Study.pooled("Made up", [(chosen, scored)])
    claims = study.claims()
    for name in ("HACS", "plain form"):
        assert claims[f"{name}: micro F1 above Random and Brute force"] == []
    assert claims["HACS at the θ of greatest expected F1: micro F1 above Random and Brute force"] == []
    assert len(scored[4].seeds) == len(Period(400 * DAY, 500 * DAY).points()) == 14
    text = markdown([study], "# Title")
    assert text.count("| 12 |") == 6, "a row in each table"
    assert json.dumps(study.facts())


def test_each_point_is_ranked_by_what_is_known_then() -> None:
    seeds, truth = sampled(cut(made_up(4), 300 * DAY), "dense")
    period = Period(100 * DAY, 260 * DAY)
    points = period.points()
    found = evaluate(seeds, truth, period, [2])[2]
    assert found.instants == points.tolist()
    task = RankingTask(float(points[-1]), WEEK, 2 * WEEK, missed=False)
    window = seeds.window(task.now - task.back, task.now)
    value = Hacs().fit(seeds, task.now).score(window, task).value
    order = ordered(value, window.latest(window.pages.last_seen()))
    assert found.precisions["hacs"][-1] == weighted_precision(order, truth.following(task.now))


def test_weeks_drawn_again_tell_a_lead_from_chance() -> None:
    rng = np.random.default_rng(3)
    instants = np.repeat(np.arange(40.0), 2).tolist()  # two draws of captures
    ours = [Chosen(20, int(hits), 20) for hits in rng.binomial(20, 0.5, 80)]
    level = [Chosen(20, int(hits), 20) for hits in rng.binomial(20, 0.5, 80)]
    better = [Chosen(20, int(hits), 20) for hits in rng.binomial(20, 0.7, 80)]
    assert leads(ours, ours, instants) == (0.0, 0.0)
    low, high = leads(ours, level, instants)
    assert low < 0 < high
    assert leads(ours, better, instants)[1] < 0
    # what both draws of an instant share is one observation
    assert leads(ours * 2, level * 2, instants * 2) == pytest.approx((low, high))


@pytest.mark.slow
def test_nothing_to_evaluate() -> None:
    seeds, truth = sampled(cut(made_up(), 100 * DAY), "dense")
    for period in (Period(900 * DAY, 999 * DAY), Period(90 * DAY, 90 * DAY + WEEK / 2)):
        with pytest.raises(DataError, match="no seed was captured in the 1 weeks"):
            evaluate(seeds, truth, period, [1])


def test_records_are_read_and_malformed_ones_named(tmp_path: Path) -> None:
    events = [(5, "S", 0, 3), (7, "U", 1, 0), (8, "T", 1, 2), (9, "U", 2, 1), (11, "X", 2, 0)]
    line = json.dumps({"page": "s/d", "events": [[*event, 0, 9] for event in events]}) + "\n"
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(line.encode()))
    (record,) = read_records(path)
    assert (record.first, record.last, record.additions.tolist()) == (5, 11, [9.0])
    assert read_records(path, technical=True)[0].additions.tolist() == [8.0, 9.0]
    broken = tmp_path / "r.jsonl"
    for text, message in (("", "no records"), (line + '{"page": 1}\n', "jsonl:2: not a record"), ("x", "jsonl:1: not")):
        broken.write_text(text)
        with pytest.raises(DataError, match=message):
            read_records(broken)
    with pytest.raises(DataError, match="cannot be read"):
        read_records(tmp_path / "absent")


@pytest.mark.slow
def test_real_records(shared_data: Path) -> None:
    """Sparsely captured, with four weeks of history: the prior ranks better than all baselines."""
    records = read_records(shared_data / "link-additions" / "ota-contrib-2012-2023.jsonl.gz")
    start = 1_672_531_200.0  # 2023-01-01
    seeds, truth = sampled(records, "sparse")
    found = evaluate(seeds, truth, Period(start, start + 26 * WEEK), [4])[4].precisions
    means = {name: np.nanmean(values) for name, values in found.items()}
    assert means["hacs"] > max(means[name] for name in ("frequency", "last-obs", "random"))
