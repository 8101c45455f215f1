"""``sharc rates train``: a predictor of change rates, from the history store, and how good it is."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import click
import numpy as np
from numpy.typing import NDArray

from sharc_crawler import __version__, extras
from sharc_crawler.cli._next import capture_words, say_next
from sharc_crawler.cli._outputs import to_file
from sharc_crawler.cli._tables import print_table
from sharc_crawler.errors import DataError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Seconds
from sharc_crawler.plural import counted
from sharc_crawler.rates.predictor.examples import Examples, page_facts
from sharc_crawler.rates.predictor.features import FEATURES
from sharc_crawler.rates.predictor.model import CLASSIFIERS, Predictor
from sharc_crawler.rates.predictor.validation import FOLDS, Validation, cross_validate
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.strategies.loss import coherence_loss

DAY = 86_400.0
FEWEST = 20  #: pages to learn from
SHOWN = 4  #: distances between bins in the table; the JSON has all


@click.command("train", epilog="Example: sharc rates train archive.sqlite -o model.json")
@click.argument("history", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), callback=to_file, help="The model file."
)
@click.option("--site", "sites", multiple=True, help="Learn from this site alone; may be given again.")
@click.option("--kind", type=click.Choice(["best", *CLASSIFIERS]), default="best", show_default=True)
@click.option("--horizon", default=30.0, show_default=True, help="Days that a capture takes: coherence loss is for it.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def train_command(history: str, output: Path, sites: tuple[str, ...], kind: str, horizon: float, as_json: bool) -> None:
    """Learn from HISTORY, the history store, to tell a page's change rate from what it looks like.

    Two classifiers, each on the features of the URL alone (online) and with what captures know besides (offline), are
    judged by 10-fold cross-validation; for either set of features the one that loses least coherence goes into the
    file (or --kind). Use it as rates=predictor:model=FILE.
    """
    if kind == "tree":
        extras.check("--kind tree", "sklearn")
    examples, names, site = _examples(history, sites)
    tried = [kind for kind in CLASSIFIERS if kind != "tree" or extras.installed("sklearn")]
    with busy(f"{FOLDS}-fold cross-validation", total=FOLDS * len(tried) * len(FEATURES)) as tell:
        found = cross_validate(examples, tried, tell=tell)
    losses = [_loss(examples, one.rates, one.spreads, horizon * DAY) for one in found]
    kinds = {name: kind if kind != "best" else _best(name, found, losses) for name in FEATURES}
    about = {"program": f"sharc-crawler {__version__}", "time": time.time(), "sites": names, "pages": len(examples)}
    Predictor.train(examples, kinds, about).save(output)
    report = _report(examples, found, losses, kinds, horizon)
    if as_json:
        click.echo(json.dumps(report))
        return
    _show(report, output)
    if len(tried) < len(CLASSIFIERS):
        click.echo(f"A decision tree may do better: {extras.install('sklearn')}", err=True)
    say_next(*capture_words(f"url={site}", f"rates=predictor:model={output}", f"history={history}", urls=[site]))


def _examples(history: str, sites: Sequence[str]) -> tuple[Examples, list[str], str]:
    """What the store knows of these sites' pages (of all, where none is named), as of each site's last capture.

    With the sites' names, and the address of the first one.
    """
    with ObservationStore(history, reading=True) as store:
        names = [store.site_named(site) for site in sites] or store.sites()
        learned, first = [], ""
        for site in names:
            known = store.histories(site)
            now = float(known.times.max(initial=0.0))
            facts = page_facts(known, store.links(site) or None, store.documents(site), now)
            learned.append(Examples.of(known, facts))
            first = first or next(iter(known.urls), "")  # of a page: a store has robots.txt, too
    examples = Examples.together(learned)
    if len(examples) < FEWEST or len(np.unique(examples.rates)) < 2:
        raise DataError(
            f"history={history!r}: {counted(len(examples), 'page', 'were')} seen at least twice, "
            f"{np.count_nonzero(examples.rates)} of them to change; a predictor needs {FEWEST} pages and two rates. "
            "Capture the sites again (-a history=FILE)"
        )
    return examples, names, urljoin(first, "/")


def _loss(examples: Examples, rates: NDArray[np.float64], spreads: NDArray[np.float64], length: Seconds) -> float:
    with np.errstate(divide="ignore"):
        shapes = np.where(spreads > 0, (rates / spreads) ** 2, np.inf)
    truth = examples.posterior
    return coherence_loss((truth.rate, truth.shape), (rates, np.maximum(shapes, 1e-6)), length)


def _best(features: str, found: Sequence[Validation], losses: Sequence[float]) -> str:
    return min((loss, one.kind) for one, loss in zip(found, losses, strict=True) if one.features == features)[1]


def _report(
    examples: Examples, found: Sequence[Validation], losses: Sequence[float], kinds: dict[str, str], horizon: float
) -> dict[str, Any]:
    """What ``--json`` prints; losses as shares of the pages."""
    mean = np.full(len(examples), examples.posterior.rate.mean())
    alike = _loss(examples, mean, np.zeros(len(examples)), horizon * DAY)
    return {
        "pages": len(examples),
        "bins": len(found[0].off_by),
        "horizon_days": horizon,
        "loss_of_equal_rates": alike,
        "classifiers": [
            {
                "kind": one.kind,
                "features": one.features,
                "accuracy": one.accuracy,
                "off_by": one.off_by.tolist(),
                "coherence_loss": loss,
                "chosen": kinds[one.features] == one.kind,
            }
            for one, loss in zip(found, losses, strict=True)
        ],
    }


def _show(report: dict[str, Any], output: Path) -> None:
    """A table for readers."""
    names = ("classifier", "features", "accuracy", *(f"off by {k}" for k in range(SHOWN)), "more", "coherence loss")
    rows = [
        [
            one["kind"] + (" *" if one["chosen"] else ""),
            one["features"],
            f"{one['accuracy']:.1%}",
            *(f"{n:,}" for n in (one["off_by"] + [0] * SHOWN)[:SHOWN]),
            f"{sum(one['off_by'][SHOWN:]):,}",
            f"{one['coherence_loss']:.2%}",
        ]
        for one in report["classifiers"]
    ]
    title = f"{counted(report['pages'], 'page')} in {report['bins']} bins of rates, {FOLDS}-fold cross-validation"
    caption = (
        f"* in {output}; off by k: pages told k bins away from their own; coherence loss: share of the pages lost by "
        f"a capture of {report['horizon_days']:g} days for not knowing the rates, {report['loss_of_equal_rates']:.2%} "
        "where all are taken to be equal"
    )
    print_table(title, names, rows, 2, caption)
