"""Where rates are posteriors, plans maximise what is expected of them: E[e^{-λI} | data], not e^{-E[λ] I}."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.optimal import optimal
from sharc_crawler.strategies.selective import selective

if TYPE_CHECKING:
    from sharc_crawler.strategies.classes import Planner

PLANNERS = {"selective": selective, "optimal": optimal}


def worlds(count: int, pages: int = 60) -> list[tuple[np.ndarray, np.ndarray]]:
    """Means and shapes of posteriors: little is known of some pages, much of others."""
    rng = np.random.default_rng(7)
    shapes = rng.choice([0.3, 1.0, 5.0, 50.0], (count, pages))
    return list(zip(10 ** rng.uniform(-3.5, 0.5, (count, pages)), shapes, strict=True))


def intervals(rates: np.ndarray, shapes: np.ndarray | None, planner: Planner) -> np.ndarray:
    return lay_out(Candidates.of(np.arange(len(rates)), rates, shapes=shapes), 1.0, planner).intervals


def greedy(rates: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Algorithm 3 page by page with (1 + λI/a)^-a in the place of e^{-λI}; the hottest first takes the apex."""

    def survival(page: np.ndarray, interval: np.ndarray) -> np.ndarray:
        return (1 + rates[page] * interval / shapes[page]) ** -shapes[page]

    order = np.argsort(-rates, kind="stable")
    found, low, high = np.zeros(len(rates)), 2.0, 2.0 * (len(rates) - 1)
    for place, page in enumerate(order[1:], 1):
        rest = order[place + 1 :]
        behind = low + 2.0 * np.arange(len(rest))
        keep = survival(page, low) + survival(rest, behind + 2.0).sum()
        drop = survival(page, high) + survival(rest, behind).sum()
        if keep >= drop - 1e-12:
            found[page], low = low, low + 2.0
        else:
            found[page], high = high, high - 2.0
    return found


@pytest.mark.slow
def test_selective_is_the_greedy_split_of_posterior_predictives():
    for rates, shapes in worlds(40, 25):
        direct = expected_coherence(rates, greedy(rates, shapes), shapes)
        assert expected_coherence(rates, intervals(rates, shapes, selective), shapes) == pytest.approx(direct, rel=1e-9)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNERS)
def test_knowing_what_is_not_known_is_worth_pages(name: str):
    gains = []
    for rates, shapes in worlds(40):
        aware, blind = (intervals(rates, known, PLANNERS[name]) for known in (shapes, None))
        gains.append(expected_coherence(rates, aware, shapes) - expected_coherence(rates, blind, shapes))
    assert np.mean(gains) > 0.1  # of 60 pages
    assert min(gains) > (-1e-9 if name == "optimal" else -1.0)  # the greedy split is no optimum


@pytest.mark.slow
def test_what_is_expected_is_what_comes_of_rates_drawn_from_the_posteriors():
    rng = np.random.default_rng(1)
    (rates, shapes), *_ = worlds(1)
    plans = [intervals(rates, known, selective) for known in (shapes, None)]
    drawn = rng.gamma(shapes, rates / shapes, (20_000, len(rates)))
    for plan in plans:
        came = np.exp(-drawn * plan).sum(1)
        error = 5 * came.std() / math.sqrt(len(came))
        assert expected_coherence(rates, plan, shapes) == pytest.approx(came.mean(), abs=error)
