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
from sharc_crawler.rates.predictor.tree import DEEPEST, LEAST, PRUNED, DecisionTree

NAN = math.nan


@pytest.mark.slow
def test_the_tree_finds_what_depends_on_two_features():
    rng = np.random.default_rng(0)
    depth, words = rng.integers(0, 9, 4000), rng.choice(["news", "about", "shop"], 4000)
    labels = np.where((words == "news") & (depth > 4), 2, np.where(words == "shop", 1, 0))
    table = Table({"word": words.tolist()}, {"depth": depth.astype(float), "noise": rng.random(4000)})
    tree = DecisionTree().fit(table, labels, 3)
    assert (tree.predict(table).argmax(1) == labels).all()
    assert tree.names_[-1] == "noise" and tree.names_.index("noise") not in tree.features_


@pytest.mark.slow
def test_noise_is_pruned_away():
    rng = np.random.default_rng(1)
    table = Table({}, {name: rng.random(2000) for name in "abcd"})
    tree = DecisionTree().fit(table, (rng.random(2000) < 0.2).astype(np.int64), 2)
    assert len(tree.data()["counts"]) < 60  # of 200 that could be
    assert tree.predict(table)[:, 1].mean() == pytest.approx(0.2, abs=0.02)


@pytest.mark.slow
def test_a_page_without_the_feature_goes_with_the_most_where_training_had_none():
    table = Table({}, {"age": np.repeat([1.0, 9.0], [30, 50])})
    tree = DecisionTree().fit(table, np.repeat([0, 1], [30, 50]), 2)
    young, old, unknown = tree.predict(Table({}, {"age": np.array([1.0, 9.0, NAN])}))
    assert young.argmax() == 0
    np.testing.assert_array_equal(unknown, old)


@pytest.mark.slow
def test_a_page_without_the_feature_goes_with_those_like_it():
    table = Table({}, {"age": np.repeat([1.0, 9.0, NAN], [30, 90, 40])})
    tree = DecisionTree().fit(table, np.repeat([0, 1, 0], [30, 90, 40]), 2)
    assert tree.predict(Table({}, {"age": np.array([1.0, 9.0, NAN])})).argmax(1).tolist() == [0, 1, 0]


@pytest.mark.slow
def test_the_file_predicts_as_the_library_does():
    """At every page, missing features and words never seen included."""
    from sklearn.tree import DecisionTreeClassifier  # half a second, of which a run with several processes needs one

    rng = np.random.default_rng(2)
    age = np.where(rng.random(3000) < 0.2, NAN, rng.exponential(9.0, 3000))
    words = rng.choice(["news", "about", "shop"], 3000).tolist()
    labels = np.where(np.isnan(age), 2, (age > 5) + 0) + np.array([word == "news" for word in words])
    table = Table({"word": words}, {"age": age})
    tree = DecisionTree().fit(table, labels, 4)
    grown = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=LEAST, max_depth=DEEPEST, ccp_alpha=PRUNED, random_state=0
    ).fit(tree._columns(table), labels)
    asked = Table({"word": rng.choice(["news", "shop"], 500).tolist()}, {"age": rng.choice([NAN, 1.0, 7.0], 500)})
    again = DecisionTree.from_data(json.loads(json.dumps(tree.data())))
    np.testing.assert_array_equal(again._leaves(tree._columns(asked)), grown.apply(tree._columns(asked)))


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
