from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates.predictor.bayes import NaiveBayes
from sharc_crawler.rates.predictor.features import Table
from sharc_crawler.rates.predictor.model import CLASSIFIERS, Classifier
from sharc_crawler.rates.predictor.tree import DecisionTree, entropy, gains

NAN = math.nan


def test_gains_of_quinlans_weather():
    """C4.5, table 2.1 (nine days to play, five not): windy and humidity > 75, both of two values."""
    whole = np.array([9.0, 5.0])
    assert entropy(whole).item() == pytest.approx(0.940, abs=5e-4)
    gain, ratio = gains(np.array([[3.0, 3.0], [3.0, 4.0]]), whole, 14)  # windy; humidity high
    assert gain.tolist() == pytest.approx([0.048, 0.152], abs=5e-4)
    assert ratio.tolist() == pytest.approx([0.049, 0.152], abs=5e-4)


def test_a_test_counts_for_the_share_of_pages_that_it_can_be_put_to():
    yes, whole = np.array([[6.0, 1.0]]), np.array([6.0, 7.0])
    alone, _ = gains(yes, whole, 13)
    gain, ratio = gains(yes, whole, 26)
    assert gain[0] == pytest.approx(alone[0] / 2)
    split = entropy(np.array([7.0, 6.0, 13.0])).item()  # the missing are a branch of their own
    assert ratio[0] == pytest.approx(gain[0] / split)


def test_too_small_a_side_is_no_test():
    assert gains(np.array([[4.0, 0.0]]), np.array([4.0, 100.0]), 104)[0].tolist() == [-math.inf]


def test_the_tree_finds_what_depends_on_two_features():
    rng = np.random.default_rng(0)
    depth, words = rng.integers(0, 9, 4000), rng.choice(["news", "about", "shop"], 4000)
    labels = np.where((words == "news") & (depth > 4), 2, np.where(words == "shop", 1, 0))
    table = Table({"word": words.tolist()}, {"depth": depth.astype(float), "noise": rng.random(4000)})
    tree = DecisionTree().fit(table, labels, 3)
    assert (tree.predict(table).argmax(1) == labels).all()
    assert "noise" not in json.dumps(tree.data())


@pytest.mark.slow
def test_noise_is_pruned_away():
    rng = np.random.default_rng(1)
    table = Table({}, {name: rng.random(2000) for name in "abcd"})
    tree = DecisionTree().fit(table, (rng.random(2000) < 0.2).astype(np.int64), 2)
    assert json.dumps(tree.data()).count("counts") < 40
    assert tree.predict(table)[:, 1].mean() == pytest.approx(0.2, abs=0.02)


def test_a_page_without_the_feature_is_a_mixture_of_both_branches():
    table = Table({}, {"age": np.repeat([1.0, 9.0], [30, 10])})
    tree = DecisionTree().fit(table, np.repeat([0, 1], [30, 10]), 2)
    young, old, unknown = tree.predict(Table({}, {"age": np.array([1.0, 9.0, NAN])}))
    np.testing.assert_allclose(unknown, 0.75 * young + 0.25 * old)


def test_bayes_by_hand():
    table = Table({"word": ["a", "a", "b", None]}, {"n": np.array([1.0, NAN, 2.0, 2.0])})
    model = NaiveBayes().fit(table, np.array([0, 0, 1, 1]), 2)
    found = model.predict(Table({"word": ["a", "z"]}, {"n": np.array([2.0, NAN])}))
    a = 0.5 * (3 / 4) * (1 / 3)  # prior, (2 + 1)/(2 + 2) of the word, (0 + 1)/(1 + 2) of the number
    b = 0.5 * (1 / 3) * (3 / 4)
    np.testing.assert_allclose(found[0], [a / (a + b), b / (a + b)])
    np.testing.assert_allclose(found[1], [0.5, 0.5])  # a word never seen says nothing


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, np.ndarray]:
    size = draw(st.integers(1, 40))
    words = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=size, max_size=size))
    numbers = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, NAN]), min_size=size, max_size=size))
    labels = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    return Table({"w": words}, {"n": np.array(numbers)}), np.array(labels)


@pytest.mark.slow
@given(learned=tables(), asked=tables())
def test_probabilities_and_their_way_through_json(learned: tuple, asked: tuple):
    for kind in CLASSIFIERS.values():
        model: Classifier = kind().fit(*learned, 3)
        found = model.predict(asked[0])
        assert found.shape == (len(asked[0]), 3)
        np.testing.assert_allclose(found.sum(1), 1.0)
        assert (found > 0).all()
        again = kind.from_data(json.loads(json.dumps(model.data())))
        np.testing.assert_allclose(again.predict(asked[0]), found, rtol=1e-4)
        assert len(model.predict(asked[0].select(np.zeros(0, np.int64)))) == 0
