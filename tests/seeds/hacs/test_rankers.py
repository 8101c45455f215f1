"""Every ranker keeps the port's promises; HACS is the paper's formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from sharc_crawler import plugins
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.seeds.base import WEEK, RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import make_ranker, rank
from sharc_crawler.seeds.hacs.rankers import HacsPlain, f, g, predictive
from sharc_crawler.seeds.hacs.sites import SeedHistories
from sharc_crawler.testing.rankers import DAY, RankerContract, seeds

RANKERS = [pytest.param(name, marks=pytest.mark.slow if name == "hacs" else ()) for name in plugins.names("ranker")]


@pytest.mark.parametrize("name", RANKERS)
class TestOurs(RankerContract):
    @pytest.fixture(autouse=True)
    def named(self, name: str) -> None:
        self.name = name

    def make(self) -> SeedRanker:
        return make_ranker(self.name)


def one(times: list[float], changed: list[int], url: str = "http://a.org/") -> SeedHistories:
    return SeedHistories.of_pages(UpdateHistories.of([url], [times], [changed]))


def equation_5(lengths: np.ndarray, changed: np.ndarray) -> float:
    """The root by Brent's method, as the paper finds it; equation 4 where all intervals show an update."""
    seen, unseen = lengths[changed == 1], lengths[changed == 0].sum()
    n = len(lengths)
    if not len(seen):
        return 0.0
    if not unseen:
        return -math.log(0.5 / (n + 0.5)) * n / lengths.sum()
    return float(brentq(lambda x: (seen / np.expm1(np.minimum(x * seen, 700))).sum() - unseen, 1e-12, 1e4, xtol=1e-14))


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.1, 50.0), st.integers(0, 1)), min_size=1, max_size=12))
def test_f_is_the_papers(steps: list[tuple[float, int]]) -> None:
    times = np.cumsum([5.0, *(length for length, _ in steps)])
    bits = np.array([-1, *(bit for _, bit in steps)])
    placed = times.copy()
    for x in range(1, len(times)):
        if bits[x] == 1:
            placed[x] = (times[x] + times[x - 1]) / 2
    fit = f(UpdateHistories.of(["u"], [times], [bits]))
    assert fit.rate[0] == pytest.approx(equation_5(np.diff(placed), bits[1:]), rel=1e-6)
    assert math.isnan(fit.last_update[0]) if 1 not in bits else fit.last_update[0] == placed[bits == 1][-1]


def test_p_runs_from_the_last_update_not_from_the_last_capture() -> None:
    history = one([0.0, 10 * DAY, 20 * DAY, 30 * DAY], [-1, 1, 0, 0])
    (found,) = rank(history, HacsPlain(), RankingTask(30 * DAY))
    assert found.rate is not None
    assert found.last_update == 5 * DAY
    assert found.p == pytest.approx(1 - math.exp(-found.rate * (30 * DAY + WEEK - 5 * DAY)))


def test_no_update_seen_is_known_and_zero() -> None:
    (found,) = rank(one([0.0, DAY], [-1, 0]), HacsPlain(), RankingTask(2 * DAY))
    assert (found.p, found.known, found.last_update) == (0.0, True, None)


def test_one_capture_is_unknown_and_given_a_prior() -> None:
    pages = UpdateHistories.of(
        ["http://a.org/", "http://b.org/", "http://c.org/"],
        [[0.0, DAY, 2 * DAY, 3 * DAY], [2 * DAY], []],
        [[-1, 1, 0, 1], [-1], []],
    )
    found = {
        one.url[7]: one for one in rank(SeedHistories.of_pages(pages), HacsPlain(), RankingTask(3 * DAY), theta=0.5)
    }
    assert (found["a"].known, found["b"].known, found["c"].known) == (True, False, False)
    assert 0.0 < found["b"].value <= 1.0
    assert "(one capture)" in found["b"].reason
    assert "no capture" in found["c"].reason


@pytest.mark.slow
def test_theta_is_chosen_by_expected_f1() -> None:
    found = rank(seeds(), make_ranker("hacs"), RankingTask(100 * DAY), theta="auto")
    p = np.array([one.value for one in found])
    expected = [2 * p[:k].sum() / (k + p.sum()) for k in range(1, len(p) + 1)]
    assert sum(one.chosen for one in found) == 1 + int(np.argmax(expected))
    below = {one.reason.partition(";")[0] for one in found if not one.chosen}
    assert [reason.rpartition(" ")[0] for reason in below] == ["below θ ="], "one threshold, and it is told"
    theta = float(below.pop().rpartition(" ")[2])
    assert theta == pytest.approx(min(one.value for one in found if one.chosen), rel=0.01)
    with pytest.raises(UsageError, match=r"theta=auto: Frequency gives no probabilities"):
        rank(seeds(), make_ranker("frequency"), RankingTask(DAY), theta="auto")


def test_theta_chooses_and_says_why() -> None:
    found = rank(seeds(), HacsPlain(), RankingTask(100 * DAY), theta=0.7, budget=5)
    chosen = [one for one in found if one.chosen]
    assert [one.place for one in chosen] == [1, 2, 3, 4, 5]
    assert all(one.value >= 0.7 for one in chosen)
    above = [one for one in found if one.value >= 0.7 and not one.chosen]
    assert above
    assert all(one.reason.startswith("beyond the budget") for one in above)
    assert all(one.reason.startswith("below θ = 0.7") for one in found if one.value < 0.7)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match=r"theta=0.5: Frequency gives no probabilities"):
        rank(seeds(), make_ranker("frequency"), RankingTask(DAY), theta=0.5)
    with pytest.raises(UsageError, match=r"theta=1.5"):
        rank(seeds(), HacsPlain(), RankingTask(DAY), theta=1.5)
    with pytest.raises(UsageError, match="budget=-1"):
        rank(seeds(), HacsPlain(), RankingTask(DAY), budget=-1)
    with pytest.raises(UsageError, match="did you mean 'hacs'"):
        make_ranker("hacz")
    with pytest.raises(DataError, match="two captures that can be compared"):
        rank(one([0.0, DAY], [-1, -1]), HacsPlain(), RankingTask(2 * DAY))
    pages = UpdateHistories.of(["http://a.org/", "http://a.org/b"], [[0.0], []], [[-1], []])
    with pytest.raises(DataError, match=r"and 1 of 2 have none: .*of a CDX line the first field names the page"):
        rank(SeedHistories.of_pages(pages), HacsPlain(), RankingTask(2 * DAY))
    with pytest.raises(DataError, match="a later now"):
        rank(seeds(), HacsPlain(), RankingTask(-1.0))


@pytest.mark.parametrize("name", ["hacs", "hacs-plain"])
def test_a_seed_that_was_never_captured_comes_first(name: str) -> None:
    times = [[n * DAY for n in range(20)], []]
    pages = UpdateHistories.of(["http://a.org/often", "http://a.org/never"], times, [[-1, *[1, 0, 1] * 6, 1], []])
    found = rank(SeedHistories.of_pages(pages), make_ranker(name), RankingTask(40 * DAY, ahead=0.0), theta=0.7)
    assert (found[0].url, found[0].p, found[0].chosen) == ("http://a.org/never", pytest.approx(1.0), True)
    assert found[0].reason == "chosen; rate unknown (no capture), prior used"


def test_predictive_is_the_integral_over_the_posterior() -> None:
    shape, mean, duration = 2.5, 0.3, 4.0
    draws = np.random.default_rng(1).gamma(shape, mean / shape, 400_000)
    estimates = Estimates(np.array([mean, mean]), np.ones(2), np.array([shape, np.inf]), np.ones(2, np.int64))
    assert predictive(estimates, duration)[0] == pytest.approx((1 - np.exp(-draws * duration)).mean(), abs=2e-3)
    assert predictive(estimates, duration)[1] == pytest.approx(g(np.array([mean]), np.zeros(1), duration)[0])


def test_the_prior_helps_those_with_few_captures() -> None:
    """Sites that change daily and sites that hardly ever do: a page seen once is judged by its site."""
    times = [*([[*np.arange(20) * DAY]] * 10), [19 * DAY], [19 * DAY]]
    bits = [*([[-1, *[1, 0, 1] * 6, 1]] * 5), *([[-1] + [0] * 19] * 5), [-1], [-1]]
    urls = [f"http://{'hot' if n < 5 else 'cold'}.org/{n}" for n in range(10)]
    pages = UpdateHistories.of([*urls, "http://hot.org/new", "http://cold.org/new"], times, bits)
    found = {one.url: one for one in rank(SeedHistories.of_pages(pages), make_ranker("hacs"), RankingTask(20 * DAY))}
    assert found["http://hot.org/new"].value > 0.6
    assert found["http://cold.org/new"].value < 0.4
