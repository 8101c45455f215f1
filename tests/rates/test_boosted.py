from __future__ import annotations

import sys

import numpy as np
import pytest

from sharc_crawler.rates import trees
from sharc_crawler.rates.trees import Boosted

DIRECTIONS = [1, -1, 0, 1, 0]


def intervals(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, one of them of two values and one that means nothing; bits; lengths."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, len(DIRECTIONS)))
    x[:, 3] = x[:, 3] > 0.0
    rate = np.exp(0.8 * x[:, 0] - 0.5 * x[:, 1] + 0.6 * x[:, 3] * (x[:, 2] > 0) - 2.0)
    lengths = rng.gamma(2.0, 0.5, rows)
    return x, (rng.random(rows) < -np.expm1(-rate * lengths)).astype(np.int8), lengths


@pytest.mark.slow
def test_trees_are_those_that_scikit_learn_grows():
    from sklearn.ensemble import HistGradientBoostingRegressor

    x, bits, lengths = intervals(10_000)
    model = Boosted(DIRECTIONS).fit(x, bits, lengths)
    weights = lengths / lengths.mean()
    theirs = HistGradientBoostingRegressor(
        loss="poisson",
        learning_rate=trees.LEARNING_RATE,
        max_iter=trees.ROUNDS,
        max_leaf_nodes=trees.LEAVES,
        min_samples_leaf=trees.LEAST,
        l2_regularization=trees.RIDGE,
        monotonic_cst=DIRECTIONS,
        early_stopping=False,
    )
    levels = model._levels(x).T.astype(float)
    share = theirs.fit(levels, bits / weights, weights).predict(levels)
    np.testing.assert_allclose(model.rate(x), -np.log1p(-np.clip(share, 1e-9, trees.MOST)) / lengths.mean(), rtol=1e-6)


def test_more_of_a_feature_means_what_its_direction_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)  # none is needed
    monkeypatch.setattr(trees, "ROUNDS", 12)
    x, bits, lengths = intervals(4_000)
    model = Boosted(DIRECTIONS).fit(x, bits, lengths)
    for feature, direction in enumerate(DIRECTIONS):
        asked = np.tile(x[:50], (20, 1))
        asked[:, feature] = np.repeat(np.linspace(-3.0, 3.0, 20), 50)
        steps = np.diff(model.rate(asked).reshape(20, 50), axis=0)
        assert (steps * direction >= 0.0).all()
        assert direction == 0 or (steps != 0.0).any()


@pytest.mark.slow
def test_a_leaf_has_as_many_rows_as_it_must():
    x, bits, lengths = intervals(4_000)
    levels = Boosted(DIRECTIONS).fit(x, bits, lengths)._levels(x)
    expected = np.full(len(bits), bits.mean())
    tree, leaves = trees.Grower(levels, bits > 0, DIRECTIONS, expected, trees.LEARNING_RATE).grow()
    assert len(leaves) == len(tree.values) == trees.LEAVES
    assert min(map(len, leaves)) >= trees.LEAST
    at = tree.leaves(levels)
    for leaf, rows in enumerate(leaves):
        np.testing.assert_array_equal(np.flatnonzero(at == leaf), np.sort(rows))


@pytest.mark.slow
def test_the_next_tree_begins_with_what_the_last_one_counted():
    x, bits, lengths = intervals(4_000)
    levels = Boosted(DIRECTIONS).fit(x, bits, lengths)._levels(x)
    expected = np.full(len(bits), bits.mean())
    grower = trees.Grower(levels, bits > 0, DIRECTIONS, expected, trees.LEARNING_RATE)
    for _ in range(3):
        tree, _ = grower.grow()
        steps = np.exp(trees.LEARNING_RATE * tree.values[tree.leaves(levels)])
        assert (steps != 1.0).any()
    anew = [np.bincount(level, expected, trees.LEVELS) for level in levels]
    seen = [np.bincount(level[bits > 0], minlength=trees.LEVELS) for level in levels]
    rows = [np.bincount(level, minlength=trees.LEVELS) for level in levels]
    np.testing.assert_allclose(grower._root, [anew, seen, rows], rtol=1e-12)


def test_too_few_rows_are_one_leaf():
    x, bits, lengths = intervals(150)
    rate = Boosted(DIRECTIONS).fit(x, bits, lengths).rate(x)
    assert rate == pytest.approx(np.full(150, rate[0]))


def test_the_rates_of_what_was_fitted_are_kept_and_levels_are_numpys():
    x, bits, lengths = intervals(2_000)
    x[:900, 2] = 0.5  # many share a value
    model = Boosted(DIRECTIONS).fit(x, bits, lengths)
    np.testing.assert_allclose(model.fitted_, model.rate(x), rtol=1e-12)
    edges = np.quantile(x, np.linspace(0.0, 1.0, trees.LEVELS + 1)[1:-1], axis=0)
    np.testing.assert_allclose(model.edges_, edges, rtol=1e-14)


def test_splits_that_nobody_asks_for_are_not_looked_for(monkeypatch: pytest.MonkeyPatch):
    x, bits, lengths = intervals(4_000)
    levels = Boosted(DIRECTIONS).fit(x, bits, lengths)._levels(x)
    looked: list[int] = []
    best = trees._best
    monkeypatch.setattr(
        trees, "_best", lambda leaves, directions: looked.append(len(leaves)) or best(leaves, directions)
    )
    trees.Grower(levels, bits > 0, DIRECTIONS, np.full(len(bits), bits.mean()), trees.LEARNING_RATE).grow()
    assert looked == [1] + [2] * (trees.LEAVES - 2)  # both sides at once, and none of the last


def test_features_that_are_the_same_everywhere_are_not_counted_and_change_nothing():
    x, bits, lengths = intervals(2_000)
    wide = np.insert(x, [2, 5], 7.0, axis=1)
    model = Boosted([1, -1, 1, 0, 1, 0, -1]).fit(wide, bits, lengths)
    assert model.varied_.tolist() == [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(model.rate(wide), Boosted(DIRECTIONS).fit(x, bits, lengths).rate(x))
    assert np.ptp(Boosted([1]).fit(wide[:, 2:3], bits, lengths).rate(wide[:, 2:3])) == 0.0
