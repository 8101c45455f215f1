"""Pages visited out of their turn for what they may lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.sim.experiment import RunSpec, facts
from sharc_crawler.sim.synthetic import SyntheticSpec
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.scout import Outlook, Scout
from sharc_crawler.strategies.selective import selective

WIDTH = 2.0


@st.composite
def outlooks(draw: st.DrawFn) -> Outlook:
    """Plans of SHARC-selective for a few classes, some of whose pages are known."""
    rates = sorted(draw(st.lists(st.floats(1e-4, 3.0), min_size=1, max_size=5, unique=True)), reverse=True)
    counts = [draw(st.integers(1, 4)) for _ in rates]
    shapes = None if draw(st.booleans()) else np.full(len(rates), 2.0)
    classes = Classes(np.array(rates), np.array(counts), np.ones(len(rates)), shapes)
    known = np.array([draw(st.integers(0, count)) for count in counts])
    return Outlook(classes, selective(classes, WIDTH), known, WIDTH)


def value(classes: Classes, rows: list[int]) -> float:
    """Expected coherence of pages of these classes, from the longest interval to the shortest."""
    intervals = WIDTH * np.arange(len(rows))[::-1]
    values = [classes.log_values(np.full((len(classes), 1), interval))[:, 0] for interval in intervals]
    return float(sum(np.exp(of[row]) for row, of in zip(rows, values, strict=True)))


@given(outlooks())
def test_costs_are_what_the_plan_loses(outlook: Outlook) -> None:
    rows = [run.row for run in outlook.runs for _ in range(run.pages)]
    planned = value(outlook.classes, rows)
    for row in range(len(outlook.classes)):
        place = rows.index(row)
        ahead = [row, *rows[:place], *rows[place + 1 :]]
        loss = planned - value(outlook.classes, ahead)
        assert outlook.costs[row] == pytest.approx(max(0.0, loss), abs=1e-9)


@given(outlooks())
def test_lateness_is_what_is_lost_if_known_pages_come_first(outlook: Outlook) -> None:
    left, known, virtual = outlook.known.tolist(), [], []
    for row in [run.row for run in outlook.runs for _ in range(run.pages)]:
        (known if left[row] else virtual).append(row)
        left[row] -= left[row] > 0
    rows = [run.row for run in outlook.runs for _ in range(run.pages)]
    loss = value(outlook.classes, rows) - value(outlook.classes, known + virtual)
    assert outlook.lateness == pytest.approx(max(0.0, loss), abs=1e-9)


def test_it_goes_where_links_have_been_found() -> None:
    """Twenty hot pages and many cold ones are known, half of the site is missing: cold pages have led nowhere."""
    classes = Classes(np.array([1e-2, 1e-6]), np.array([40, 1960]), np.ones(2))
    outlook = Outlook(classes, selective(classes, WIDTH), np.array([20, 980]), WIDTH)
    scout = Scout()
    for rate, found in ((1e-2, 400), (1e-6, 0), (1e-6, 0), (1e-6, 0)):
        scout.visited(rate)
        scout.found(found)
    assert scout.choose(outlook, outlook.known, 1000) == 0
    for _ in range(1000):  # these lead nowhere, either
        scout.visited(1e-2)
    assert scout.choose(outlook, outlook.known, 1000) is None


def test_it_leaves_the_plan_alone_where_following_it_brings_the_pages() -> None:
    classes = Classes(np.array([1e-2, 1e-6]), np.array([40, 1960]), np.ones(2))
    outlook = Outlook(classes, selective(classes, WIDTH), np.array([20, 980]), WIDTH)
    scout = Scout()
    for rate, found in ((1e-2, 100), (1e-6, 2), (1e-6, 2), (1e-6, 2)):
        scout.visited(rate)
        scout.found(found)
    assert scout.choose(outlook, outlook.known, 1000) is None


def test_pages_that_never_change_have_a_band_of_their_own() -> None:
    scout = Scout()
    scout.visited(0.0)
    scout.found(7)
    assert scout.expected(np.array([0.0, 5e-324]), 1.0).tolist() == pytest.approx([4.0, 1.0], abs=0.1)


def test_many_visits_to_a_band_say_more_than_those_of_its_octave() -> None:
    scout = Scout()
    for rate, found in ((1.0, 0), (1.3, 10)):  # three bands apart
        for _ in range(2000):
            scout.visited(rate)
            scout.found(found)
    few, many = scout.expected(np.array([1.0, 1.3]), 1.0)
    assert few < 2.5
    assert many > 7.5


def test_where_hot_pages_have_the_links_little_is_lost_by_discovery(monkeypatch) -> None:
    """Table 20 of the paper on a smaller site: online next to offline, by formula; and without looking ahead."""
    site = SyntheticSpec(size=1500, outdegree=60, skew=1.5)

    def expected(graph: str) -> float:
        return facts(RunSpec(site, "sharc-selective", graph=graph), lambda _: None)["expected_incoherent"]

    offline, online = expected("known"), expected("discover")
    monkeypatch.setattr(Scout, "choose", lambda *_: None)
    assert online < 1.1 * offline + 25  # the pages with links are given up
    assert online < 0.7 * expected("discover")
