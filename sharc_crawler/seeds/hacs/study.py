"""A study of rankers on one set of histories: θ̂ is chosen on one period, and scored on the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sharc_crawler.seeds.hacs.evaluation import CHOOSERS, RANKERS, PeriodOutcome
from sharc_crawler.seeds.hacs.measures import THETAS, leads, macro, micro, micro_f1

AVERAGES = {"micro": micro, "macro": macro}
Interval = tuple[float, float]
Triple = tuple[float, float, float]  #: precision, recall, F1


class StudyRow(NamedTuple):
    """A line of Table I."""

    weeks: int
    method: str
    theta: float
    own: Triple
    random: Triple  #: of as many seeds, chosen at random
    brute: Triple  #: of all seeds


@dataclass(frozen=True, slots=True)
class Study:
    """The results for every length of history."""

    title: str
    choosing: Mapping[int, PeriodOutcome]  #: weeks → the period that θ̂ is chosen on
    scoring: Mapping[int, PeriodOutcome]

    @classmethod
    def pooled(
        cls, title: str, runs: Sequence[tuple[Mapping[int, PeriodOutcome], Mapping[int, PeriodOutcome]]]
    ) -> Study:
        """Several runs as one, with the reference points of all."""
        choosing, scoring = ([run[part] for run in runs] for part in (0, 1))
        return cls(title, _joined(choosing), _joined(scoring))

    def best(self, weeks: int, method: str, average: str) -> int:
        """The index of θ̂, the threshold with the greatest F1 on the choosing period."""
        return int(AVERAGES[average](self.choosing[weeks].selections[method]).f1.argmax())

    def row(self, weeks: int, method: str, average: str) -> StudyRow:
        """P, R and F1 at θ̂ on the scoring period."""
        outcome, mean = self.scoring[weeks], AVERAGES[average]
        place = self.best(weeks, method, average)
        own, lots = mean(outcome.selections[method]), mean(outcome.lots[method])
        return StudyRow(weeks, method, float(THETAS[place]), own.at(place), lots.at(place), own.at(0))

    def likely(self, weeks: int) -> dict[str, float]:
        """Micro F1 of each method on the scoring period, with the θ of greatest expected F1 at each t."""
        return {name: micro_f1(self.scoring[weeks].likely[name]) for name in CHOOSERS}

    def leads(self, weeks: int) -> dict[str, Interval]:
        """The lead of HACS in micro F1 over each other method, at that method's θ̂ and at each t's most promising θ.

        HACS itself uses each t's θ of greatest expected F1. See :func:`~sharc_crawler.seeds.hacs.measures.leads`.
        """
        outcome = self.scoring[weeks]
        found: dict[str, Interval] = {}
        for name in CHOOSERS[1:]:
            place = self.best(weeks, name, "micro")
            fixed = [one.at(place) for one in outcome.selections[name]]
            found[name] = leads(outcome.likely["hacs"], outcome.likely[name], outcome.instants)
            found[f"{name}, θ̂"] = leads(outcome.likely["hacs"], fixed, outcome.instants)
        return found

    def precisions(self, weeks: int) -> dict[str, float]:
        """Mean weighted P@K of each ranker; NaN if nothing was ever updated."""
        return {name: _mean(self.scoring[weeks].precisions[name]) for name in RANKERS}

    def sizes(self) -> tuple[dict[int, float], dict[int, float]]:
        """Per length of history: seeds with captures in the window, and the share of them with an interval between."""
        seeds = {w: float(np.mean(outcome.seeds)) for w, outcome in self.scoring.items()}
        return seeds, {w: float(np.mean(outcome.known)) for w, outcome in self.scoring.items()}

    def claims(self) -> dict[str, list[int]]:
        """The study's claims, each with the lengths of history for which it fails."""
        failing: dict[str, list[int]] = {}
        for weeks in self.scoring:
            for claim, holds in self._claims(weeks).items():
                failing.setdefault(claim, []).extend([] if holds else [weeks])
        return failing

    def _claims(self, weeks: int) -> dict[str, bool]:
        rows = {name: self.row(weeks, name, "micro") for name in CHOOSERS}
        f1 = {name: row.own[2] for name, row in rows.items()}
        chance = max(max(row.brute[2], row.random[2]) for row in rows.values())
        likely, ranks = self.likely(weeks), self.precisions(weeks)
        baseline = max(ranks[name] for name in ("frequency", "last-obs", "random"))
        return {
            "HACS: micro F1 above Random and Brute force": f1["hacs"] > chance,
            "HACS: micro F1 above Frequency": f1["hacs"] > f1["frequency"],
            "HACS at the θ of greatest expected F1: micro F1 above Random and Brute force": likely["hacs"] > chance,
            "HACS at the θ of greatest expected F1: micro F1 above Frequency at either θ": likely["hacs"]
            > max(likely["frequency"], f1["frequency"]),
            "HACS at the θ of greatest expected F1: no micro F1 above it beyond chance": all(
                high >= 0.0 for _, high in self.leads(weeks).values()
            ),
            "HACS: P@K above Last-Obs, Frequency and Random": ranks["hacs"] > baseline,
            "plain form: micro F1 above Random and Brute force": f1["hacs-plain"] > chance,
            "plain form: P@K above Last-Obs and Random": ranks["hacs-plain"] > max(ranks["last-obs"], ranks["random"]),
            "plain form: P@K above Frequency too": ranks["hacs-plain"] > baseline,
            "some method is above chance in micro F1": max(f1.values()) > chance,
        }

    def facts(self) -> dict[str, Any]:
        """The study as values for programs."""
        return {
            "title": self.title,
            "table": [
                {"average": average, **self.row(w, name, average)._asdict()}
                for average in AVERAGES
                for w in self.scoring
                for name in CHOOSERS
            ],
            "likely_best": {w: self.likely(w) for w in self.scoring},
            "leads": {w: self.leads(w) for w in self.scoring},
            "precision_at_k": {
                w: {name: value for name, value in self.precisions(w).items() if not math.isnan(value)}
                for w in self.scoring
            },
            **dict(zip(("seeds", "known"), self.sizes(), strict=True)),
            "claims": self.claims(),
        }


def _mean(values: Sequence[float]) -> float:
    some = [value for value in values if not math.isnan(value)]
    return sum(some) / len(some) if some else math.nan


def _joined(runs: Sequence[Mapping[int, PeriodOutcome]]) -> dict[int, PeriodOutcome]:
    return {w: _together([run[w] for run in runs]) for w in runs[0]}


def _together(outcomes: Sequence[PeriodOutcome]) -> PeriodOutcome:
    joined = PeriodOutcome()
    for one in outcomes:
        for name in CHOOSERS:
            joined.selections[name] += one.selections[name]
            joined.lots[name] += one.lots[name]
            joined.likely[name] += one.likely[name]
        for name in RANKERS:
            joined.precisions[name] += one.precisions[name]
        joined.instants += one.instants
        joined.seeds += one.seeds
        joined.known += one.known
    return joined
