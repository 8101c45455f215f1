"""Naive Bayes over categories and numbers, without missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.predictor.bins import equal_frequency
from sharc_crawler.rates.predictor.features import Table

KNOWN = 1000  #: maximum of distinct values of a category: the most frequent ones


class NaiveBayes:
    """P(bin | features) ∝ P(bin) Π P(feature | bin); numbers are first binned into ten equal-frequency intervals.

    Every probability is smoothed by Laplace's rule. A missing value is a factor of 1.

    Examples
    --------
    >>> from sharc_crawler.rates.predictor.features import Table
    >>> table = Table({"word": ["news", "news", "about", "about"]})
    >>> model = NaiveBayes().fit(table, np.array([1, 1, 0, 0]), 2)
    >>> model.predict(Table({"word": ["news", "else", None]})).round(2).tolist()
    [[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]

    """

    def fit(self, table: Table, labels: NDArray[np.int64], classes: int) -> Self:
        """Count features by bin. ``labels``: the bin of each page, below ``classes``."""
        self.classes_ = np.bincount(labels, minlength=classes)
        self.values_ = {name: _frequent(column) for name, column in table.words.items()}
        self.edges_ = {name: equal_frequency(column[~np.isnan(column)])[:-1] for name, column in table.numbers.items()}
        self.counts_ = {}
        for name, (codes, size) in self._coded(table).items():
            known = codes >= 0
            cells = np.bincount(labels[known] * size + codes[known], minlength=classes * size)
            self.counts_[name] = cells.reshape(classes, size)
        return self

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Return probabilities, shape (pages, classes)."""
        log = np.tile(np.log((self.classes_ + 1.0) / (self.classes_ + 1.0).sum()), (len(table), 1))
        for name, (codes, size) in self._coded(table).items():
            counts = self.counts_[name]
            factors = np.log((counts + 1.0) / (counts.sum(1, keepdims=True) + size))
            known = codes >= 0
            log[known] += factors[:, codes[known]].T
        weights = np.exp(log - log.max(1, keepdims=True))
        return np.asarray(weights / weights.sum(1, keepdims=True))

    def _coded(self, table: Table) -> dict[str, tuple[NDArray[np.int64], int]]:
        """Return each column as codes (-1: missing or unknown), and the number of codes."""
        coded = {}
        for name, values in self.values_.items():
            numbers = {value: number for number, value in enumerate(values)}
            column = [-1 if value is None else numbers.get(value, -1) for value in table.words[name]]
            coded[name] = np.array(column, np.int64), max(1, len(values))
        for name, edges in self.edges_.items():
            column_ = table.numbers[name]
            codes = np.where(np.isnan(column_), -1, np.searchsorted(edges, column_))
            coded[name] = codes.astype(np.int64), len(edges) + 1
        return coded

    def data(self) -> dict[str, Any]:
        """Return the model as JSON data."""
        return {
            "classes": self.classes_.tolist(),
            "values": self.values_,
            "edges": {name: edges.tolist() for name, edges in self.edges_.items()},
            "counts": {name: counts.tolist() for name, counts in self.counts_.items()},
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make the model from :meth:`data`."""
        model = cls()
        model.classes_ = np.array(data["classes"], np.int64)
        model.values_ = {name: list(values) for name, values in data["values"].items()}
        model.edges_ = {name: np.array(edges, np.float64) for name, edges in data["edges"].items()}
        shape = len(model.classes_), -1
        model.counts_ = {name: np.array(counts, np.int64).reshape(shape) for name, counts in data["counts"].items()}
        return model


def _frequent(column: Sequence[str | None]) -> list[str]:
    counts = Counter(value for value in column if value is not None)
    return [value for value, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:KNOWN]]
