"""Second looks where a sitemap says of calm pages, too, that they have changed."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes.before_reference import FEW, HintTruth, SecondLooks
from sharc_crawler.frontier.modes.hints import PageHints
from sharc_crawler.model import Phase

SIZE, DAY, NOW, STEP = 1000, 86_400.0, 1e9, 60.0
RATES = np.where(np.arange(SIZE) < 900, 1e-4, 1e-1) / DAY  #: the last hundred are lively
CHANGED = {*range(900, 950)}


def looked_at(called, true):
    """The pages that are visited again."""
    counts, spec = SimpleNamespace(visits=SIZE), SimpleNamespace(hints=0.1)
    looks = SecondLooks(
        SimpleNamespace(counts=counts, spec=spec, phase=Phase.VISIT, budget=SimpleNamespace(spare=lambda _: math.inf))
    )
    assert looks.due(SimpleNamespace(first_visits_left=1, first_visits_waiting=1), 1, NOW, hinted=True)
    looks.asked(1)
    stale = np.isin(np.arange(SIZE), list(called))
    ones, never = np.ones(SIZE), np.zeros(SIZE, np.bool_)
    looks.choose(
        PageHints(
            list(range(SIZE)),
            RATES,
            RATES,
            ones,
            ones * math.inf,
            np.full(SIZE, NOW - DAY),
            stale,
            ~stale,
            never,
            never,
        ),
        1,
        STEP,
        NOW,
    )
    found = []
    while pages := looks.take():
        for page in pages:
            looks.looked(page, RATES[page], page in true)
        found += pages
    return found


def test_what_is_falsely_said_of_calm_pages_does_not_hide_what_is_true_of_lively_ones():
    found = looked_at({*range(300, 420)} | CHANGED, CHANGED)
    assert {*found} >= CHANGED
    assert len(found) - len(CHANGED) <= 2 * FEW, "few of the calm ones"


def test_true_hints_are_followed_whatever_the_rates_say():
    true = {*range(100, 200)}
    assert {*looked_at(true, true)} == true


def test_where_no_hint_is_true_few_pages_are_looked_at():
    assert len(looked_at({*range(SIZE)}, set())) <= 4 * FEW


def test_lively_pages_are_reached_though_false_hints_would_fill_all_slots():
    found = looked_at({*range(900)} | CHANGED, CHANGED)
    assert {*found} >= CHANGED
    assert len(found) <= SIZE / 5


def test_hubs_that_lie_do_not_hide_what_sitemaps_say():
    looks = SecondLooks(
        SimpleNamespace(
            counts=SimpleNamespace(visits=SIZE),
            spec=SimpleNamespace(hints=0.1),
            phase=Phase.VISIT,
            budget=SimpleNamespace(spare=lambda _: math.inf),
        )
    )
    assert looks.due(SimpleNamespace(first_visits_left=1, first_visits_waiting=1), 2, NOW, hinted=True)
    looks.asked(2)
    places, ones = np.arange(SIZE), np.ones(SIZE)
    lied, true = places < 150, (places >= 800) & (places < 840)
    said = PageHints(
        list(range(SIZE)), RATES, RATES, ones, ones * math.inf, np.full(SIZE, NOW - DAY),
        lied | true, ~(lied | true), np.zeros(SIZE, np.bool_), lied,
    )  # fmt: skip
    looks.choose(said, 2, STEP, NOW)
    found = []
    while pages := looks.take():
        for page in pages:
            looks.looked(page, RATES[page], bool(true[page]))
        found += pages
    assert {*found} >= {*range(800, 840)}
    assert sum(page < 150 for page in found) <= 2 * FEW


def test_no_hint_is_held_for_surer_or_vainer_than_a_hundred_to_one():
    for changed, probability in ((True, 100 / 101), (False, 1 / 101)):
        known = HintTruth()
        for _ in range(1_000):
            known.looked(1e-6, changed)
        assert known.probability(np.array([1e-6])) == pytest.approx([probability])


def test_of_no_pages_no_hint_is_true():
    assert HintTruth().probability(np.zeros(0)).tolist() == []
