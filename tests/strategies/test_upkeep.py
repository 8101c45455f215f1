"""How often pages are looked at again, against what any other plan with as many looks would show."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.strategies.upkeep import coherent, even, make_upkeep, sharp

rates = st.lists(st.floats(1e-7, 1e-2), min_size=1, max_size=30).map(np.array)
looks = st.floats(1e-5, 1e-1)


def shown(rates, every):
    """Pages with no change around an instant."""
    return float(np.where(np.isinf(every), 0.0, np.exp(-rates * np.minimum(every, 1e300))).sum())


@pytest.mark.slow
@given(rates, looks, st.sampled_from([coherent, sharp, even]))
def test_as_many_looks_as_there_are(rates, looks, upkeep):
    every = upkeep(rates, looks)
    assert (1 / every).sum() == pytest.approx(looks, rel=1e-6)
    assert (every > 0).all()


@pytest.mark.slow
@given(rates, looks)
def test_hotter_pages_are_given_up_first_and_nothing_simple_shows_more(rates, looks):
    every = coherent(rates, looks)
    kept = ~np.isinf(every)
    assert not kept.all() or shown(rates, every) >= shown(rates, even(rates, looks)) - 1e-6
    if kept.any() and not kept.all():
        assert rates[kept].max() <= rates[~kept].min() * (1 + 1e-9)
    dear = 1.0 / rates[~kept].min() if not kept.all() else np.inf
    assert shown(rates, every) >= max(shown(rates, sharp(rates, looks)), shown(rates, even(rates, looks))) - (
        1.0 if dear < np.inf else 1e-6
    ), "but for the last page that a whole look more would keep"


@pytest.mark.slow
def test_the_plan_is_the_best_one():
    rates = np.array([1e-6, 3e-6, 1e-5, 2e-5, 5e-5])
    looks = 3e-4
    every = coherent(rates, looks)

    def loss(free):
        often = np.exp(free) / np.exp(free).sum() * looks
        return -np.exp(-rates / often).sum()

    best = min(
        (minimize(loss, start, method="Nelder-Mead", options={"maxiter": 20_000, "xatol": 1e-9, "fatol": 1e-12})
         for start in (np.zeros(5), np.log(np.sqrt(rates)), np.log(rates))),
        key=lambda found: found.fun,
    )  # fmt: skip
    assert shown(rates, every) == pytest.approx(-best.fun, abs=1e-4)


def test_an_upkeep_is_known_by_its_name():
    assert make_upkeep("numpy.minimum")(np.array([3.0, 2.0]), 1.0).tolist() == [1.0, 1.0]
    with pytest.raises(UsageError, match="coherent"):
        make_upkeep("cohernt")


@pytest.mark.parametrize(
    "answer",
    ["None", "0 * rates", "rates[1:]", "-rates", "rates * float('nan')", "['often']", "1 / 0"],
)
def test_somebody_elses_is_named_where_it_answers_badly(answer, tmp_path, monkeypatch):
    (tmp_path / "careless_upkeep.py").write_text(f"def mine(rates, per_second):\n    return {answer}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "careless_upkeep", raising=False)
    with pytest.raises(DataError, match=r"upkeep='careless_upkeep.mine' .* a fault of this plug-in"):
        make_upkeep("careless_upkeep.mine")(np.array([3.0, 2.0]), 1.0)


def test_seconds_may_come_as_a_list(tmp_path, monkeypatch):
    (tmp_path / "listed_upkeep.py").write_text("def mine(rates, per_second):\n    return [7, 9]\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert make_upkeep("listed_upkeep.mine")(np.array([3.0, 2.0]), 1.0).tolist() == [7.0, 9.0]


def test_where_not_one_page_can_be_kept_all_looks_go_to_the_coldest():
    every = coherent(np.array([3.0, 2.0, 5.0]), 1.0)
    assert every.tolist() == [np.inf, 1.0, np.inf]
    assert coherent(np.array([3.0, 2.0, 5.0]), 0.5).tolist() == [np.inf, 2.0, np.inf], "every other second"


def test_pages_alike_are_given_up_one_by_one_and_no_look_is_left():
    """Four of six can be kept at one change between two looks; what is left over makes their looks more frequent."""
    every = coherent(np.ones(6), 4.5)
    kept = every[np.isfinite(every)]
    assert len(kept) == 4
    assert (1 / every).sum() == pytest.approx(4.5)
    assert kept == pytest.approx(np.full(4, 4 / 4.5))
    assert np.isfinite(coherent(np.ones(6), 2.0)).sum() == 2, "where none is left over, too"
    slower = coherent(np.full(6, 0.5), 2.25)
    assert slower[np.isfinite(slower)] == pytest.approx(np.full(4, 4 / 2.25))


def test_what_the_kept_pages_leave_goes_to_as_many_of_those_given_up_as_it_keeps():
    """Five cold pages take 0.8 of 3.9 looks a second; of six pages that need one each, three can be kept."""
    every = coherent(np.array([0.01] * 5 + [1.0] * 6), 3.9)
    assert np.isfinite(every[:5]).all()
    assert np.isfinite(every[5:]).sum() == 3
    assert (every[5:][np.isfinite(every[5:])] <= 1.0).all(), "at least a look for each change that is expected"
