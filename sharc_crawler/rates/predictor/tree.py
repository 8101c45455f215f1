"""A decision tree, grown by scikit-learn (extra ``learn``) and kept as plain numbers, to predict without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler import extras
from sharc_crawler.rates.predictor.features import Table

LEAST = 20  #: minimum of pages in a leaf
PRUNED = 2e-3  #: minimal cost-complexity pruning: minimum gain of a branch, in bits per leaf
DEEPEST = 25


class DecisionTree:
    """Binary tests by information gain, pruned. A word counts as the mean bin of the training pages with it.

    Missing values, and rare words, go where training sent them, else with the most pages.

    Examples
    --------
    >>> from sharc_crawler.rates.predictor.features import Table
    >>> table = Table({}, {"depth": np.repeat([1.0, 5.0, np.nan], 50)})
    >>> tree = DecisionTree().fit(table, np.repeat([0, 1, 1], 50), 2)
    >>> tree.predict(Table({}, {"depth": np.array([1.0, 9.0, np.nan])})).argmax(1).tolist()
    [0, 1, 1]

    """

    def fit(self, table: Table, labels: NDArray[np.int64], classes: int) -> Self:
        """Grow and prune. ``labels``: the bin of each page, below ``classes``.

        Raises :class:`~sharc_crawler.errors.UsageError` if scikit-learn is not installed.
        """
        extras.check("a decision tree", "sklearn")
        from sklearn.tree import DecisionTreeClassifier  # slow to import; only for training

        self.names_ = [*table.words, *table.numbers]
        self.words_ = {name: _means(column, labels) for name, column in table.words.items()}
        columns = self._columns(table)
        grown = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=LEAST, max_depth=DEEPEST, ccp_alpha=PRUNED, random_state=0
        ).fit(columns, labels)
        tree = grown.tree_
        self.features_ = tree.feature.astype(np.int64)  # below 0: a leaf
        self.thresholds_ = tree.threshold.copy()
        self.branches_ = np.stack([tree.children_left, tree.children_right], axis=1).astype(np.int64)
        self.counts_ = np.zeros((tree.node_count, classes))
        self.counts_[:, grown.classes_] = (tree.value[:, 0] * tree.n_node_samples[:, None]).round()
        learned = np.asarray(np.isnan(columns).any(axis=0))[np.maximum(self.features_, 0)]
        most = tree.n_node_samples[self.branches_].argmax(1) == 0
        self.missing_ = np.where(learned, tree.missing_go_to_left.astype(np.bool_), most)  # to the left?
        return self

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Return probabilities, shape (pages, classes): shares in the leaf, smoothed by one page of the root's."""
        prior = (self.counts_[0] + 1.0) / (self.counts_[0] + 1.0).sum()
        counts = self.counts_[self._leaves(self._columns(table))]
        return np.asarray((counts + prior) / (counts.sum(1, keepdims=True) + 1.0))

    def _leaves(self, columns: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the leaf of each page."""
        nodes = np.zeros(len(columns), np.int64)
        for _ in range(DEEPEST):
            inner = np.flatnonzero(self.features_[nodes] >= 0)
            at = nodes[inner]
            values = columns[inner, self.features_[at]]
            left = np.where(np.isnan(values), self.missing_[at], values <= self.thresholds_[at])
            nodes[inner] = np.where(left, self.branches_[at, 0], self.branches_[at, 1])
        return nodes

    def _columns(self, table: Table) -> NDArray[np.float64]:
        """Return all features as numbers of single precision, as scikit-learn compares them."""
        words = [[self.words_[name].get(word, np.nan) for word in table.words[name]] for name in self.words_]
        numbers = [table.numbers[name] for name in self.names_ if name not in self.words_]
        stacked = np.array([*words, *numbers], np.float32).reshape(len(self.names_), len(table))
        return stacked.T.astype(np.float64)

    def data(self) -> dict[str, Any]:
        """Return the model as JSON data."""
        return {
            "names": self.names_,
            "words": self.words_,
            "features": self.features_.tolist(),
            "thresholds": self.thresholds_.tolist(),
            "branches": self.branches_.tolist(),
            "missing": self.missing_.tolist(),
            "counts": self.counts_.tolist(),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make the model from :meth:`data`."""
        tree = cls()
        tree.names_ = list(data["names"])
        tree.words_ = {name: dict(means) for name, means in data["words"].items()}
        tree.features_ = np.array(data["features"], np.int64)
        tree.thresholds_ = np.array(data["thresholds"], np.float64)
        tree.branches_ = np.array(data["branches"], np.int64).reshape(-1, 2)
        tree.missing_ = np.array(data["missing"], np.bool_)
        tree.counts_ = np.array(data["counts"], np.float64)
        return tree


def _means(column: Sequence[str | None], labels: NDArray[np.int64]) -> dict[str | None, float]:
    """Return the mean bin of pages with a word, for frequent words; the overall mean counts as one page more."""
    own: dict[str, list[int]] = {}
    for word, label in zip(column, labels.tolist(), strict=True):
        if word is not None:
            own.setdefault(word, []).append(label)
    mean = float(labels.mean())
    return {word: (sum(bins) + mean) / (len(bins) + 1) for word, bins in own.items() if len(bins) >= LEAST}
