"""Measure predictions of rates by k-fold cross-validation: every page by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.predictor.bins import RateBins
from sharc_crawler.rates.predictor.examples import Examples
from sharc_crawler.rates.predictor.features import FEATURES
from sharc_crawler.rates.predictor.model import CLASSIFIERS

FOLDS = 10


@dataclass(frozen=True, slots=True)
class Validation:
    """The predictions of one classifier on one set of features, for pages that it had not seen."""

    kind: str
    features: str
    off_by: NDArray[np.int64]  #: numbers of pages, by the distance of the most probable bin from their own (Fig. 14)
    rates: NDArray[np.float64]  #: predicted, one per example
    spreads: NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        """Share of pages with the right bin (Table 4)."""
        return float(self.off_by[0] / self.off_by.sum())


def cross_validate(
    examples: Examples,
    kinds: Iterable[str] = tuple(CLASSIFIERS),
    tell: Callable[[float], None] = lambda _: None,
) -> list[Validation]:
    """Validate every kind of classifier on every set of features, in the same folds. ``tell``: reports progress."""
    bins = RateBins.of(examples.rates, examples.posterior)
    labels = bins.number(examples.rates)
    fold = np.random.default_rng(0).permutation(len(examples)) % FOLDS
    done = 0
    found = []
    for kind in kinds:
        for name, features in FEATURES.items():
            table = features(examples.pages)
            probabilities = np.empty((len(examples), len(bins)))
            for number in range(FOLDS):
                own, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
                model = CLASSIFIERS[kind]().fit(table.select(others), labels[others], len(bins))
                probabilities[own] = model.predict(table.select(own))
                tell(done := done + 1)
            off = np.abs(probabilities.argmax(1) - labels)
            found.append(Validation(kind, name, np.bincount(off, minlength=len(bins)), *bins.mixed(probabilities)))
    return found
