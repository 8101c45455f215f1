"""A trained predictor, and its file: JSON, data only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import MALFORMED, DataError, UsageError
from sharc_crawler.rates.predictor.bayes import NaiveBayes
from sharc_crawler.rates.predictor.bins import RateBins
from sharc_crawler.rates.predictor.examples import Examples
from sharc_crawler.rates.predictor.features import FEATURES, PageTraits, Table
from sharc_crawler.rates.predictor.tree import DecisionTree

FORMAT = "sharc-crawler rate predictor"
VERSION = 1
MAKE = "make one by sharc rates train"


class Classifier(Protocol):
    """Predicts probabilities of bins from features."""

    def fit(self, table: Table, labels: NDArray[np.int64], classes: int) -> Self:
        """Learn from pages with known bins."""

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Return probabilities, shape (pages, classes)."""

    def data(self) -> dict[str, Any]:
        """Return the model as JSON data."""

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make the model from :meth:`data`."""


CLASSIFIERS: dict[str, type[Classifier]] = {"bayes": NaiveBayes, "tree": DecisionTree}


@dataclass(frozen=True, slots=True)
class Predictor:
    """One classifier for pages of which only the URL is known, one for the others; both predict the same bins."""

    bins: RateBins
    kinds: Mapping[str, str]  #: feature set → name of its classifier
    classifiers: Mapping[str, Classifier]  #: by feature set
    about: Mapping[str, Any]  #: what it was trained on, for people

    @classmethod
    def train(cls, examples: Examples, kinds: Mapping[str, str], about: Mapping[str, Any]) -> Self:
        """Learn from all examples."""
        bins = RateBins.of(examples.rates, examples.posterior)
        labels = bins.number(examples.rates)
        classifiers = {
            name: CLASSIFIERS[kinds[name]]().fit(features(examples.pages), labels, len(bins))
            for name, features in FEATURES.items()
        }
        return cls(bins, dict(kinds), classifiers, dict(about))

    def rates(self, pages: Sequence[PageTraits]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of each page's rate, changes per second."""
        probabilities = np.empty((len(pages), len(self.bins)))
        offline = np.array([page.offline for page in pages], np.bool_)
        for name, own in (("online", ~offline), ("offline", offline)):
            if own.any():
                table = FEATURES[name]([pages[page] for page in np.flatnonzero(own).tolist()])
                probabilities[own] = self.classifiers[name].predict(table)
        return self.bins.mixed(probabilities)

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "about": dict(self.about),
            "bins": {
                "edges": self.bins.edges.tolist(),
                "means": self.bins.means.tolist(),
                "variances": self.bins.variances.tolist(),
            },
            "classifiers": {
                name: {"kind": self.kinds[name], "learned": self.classifiers[name].data()} for name in FEATURES
            },
        }
        draft = path.with_name(path.name + ".part")
        try:
            draft.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
            draft.replace(path)
        except OSError as error:
            raise UsageError(f"model={str(path)!r} cannot be written: {error.strerror}; choose another file") from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file that :meth:`save` wrote.

        Raises :class:`~sharc_crawler.errors.UsageError` if it is missing, DataError if it is invalid.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"model={str(path)!r} cannot be read: {error.strerror}; {MAKE}") from None
        except MALFORMED as error:
            raise DataError(f"model={str(path)!r} is not JSON: {error}; {MAKE}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise DataError(f"model={str(path)!r} is not a {FORMAT}; {MAKE}")
        if data.get("version") != VERSION:
            raise DataError(
                f"model={str(path)!r} has version {data.get('version')!r}, this program reads {VERSION}; train it anew"
            )
        try:
            return cls._from_data(data)
        except MALFORMED as error:
            raise DataError(f"model={str(path)!r} is damaged ({error!r}); {MAKE}") from None

    @classmethod
    def _from_data(cls, data: dict[str, Any]) -> Self:
        bins = RateBins(*(np.array(data["bins"][name], np.float64) for name in ("edges", "means", "variances")))
        if not (len(bins) and len(bins) == len(bins.means) == len(bins.variances)):
            raise ValueError("bins of different lengths")
        if not (np.isfinite([bins.means, bins.variances]).all() and (bins.means >= 0).all()):
            raise ValueError("rates that are no numbers >= 0")
        kinds = {name: str(data["classifiers"][name]["kind"]) for name in FEATURES}
        learned = {
            name: CLASSIFIERS[kind].from_data(data["classifiers"][name]["learned"]) for name, kind in kinds.items()
        }
        return cls(bins, kinds, learned, data["about"])
