"""``sharc rates``: how often pages change, as captures saw it, and as it is told of pages that nobody has watched."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sharc_crawler import __version__, extras
from sharc_crawler.cli import OrShow
from sharc_crawler.cli._next import capture_words, say_next
from sharc_crawler.cli._outputs import drawn, to_file, written
from sharc_crawler.cli._tables import print_table
from sharc_crawler.errors import DataError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import RateEstimate, Seconds, Sighting, Url
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.predictor.examples import Examples, page_facts
from sharc_crawler.rates.predictor.features import FEATURES
from sharc_crawler.rates.predictor.model import CLASSIFIERS, Predictor
from sharc_crawler.rates.predictor.validation import FOLDS, Validation, cross_validate
from sharc_crawler.rates.ranges import shortest
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.trust import of_headers, trust
from sharc_crawler.report.foreign import foreign
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.strategies.loss import coherence_loss

DAY = 86_400.0
FEW = 3  #: comparisons of two downloads (or lastmods) below which a page's rate is mostly that of similar pages
FEWEST = 20  #: pages to learn from
SHOWN = 4  #: distances between bins in the table; the JSON has all


@click.group(cls=OrShow, epilog="Example: sharc rates www.example.org --history archive.sqlite")
def command() -> None:
    """Show how often a site's pages change (SITE: short for show SITE); train a predictor for unwatched pages."""


# -- sharc rates SITE: how often its pages change, how well that is known, and whether its lastmods are believed -------


@command.command(
    "show", epilog="\b\nExample:\n  sharc rates www.example.org --history archive.sqlite --picture rates.png"
)
@click.argument("site")
@click.option("--history", required=True, type=click.Path(exists=True, dir_okay=False), help="The history store.")
@click.option("--horizon", default=30.0, show_default=True, help="Length of the next capture, in days.")
@click.option("--limit", default=20, show_default=True, help="How many pages to show, hottest first.")
@click.option(
    "--picture", type=click.Path(path_type=Path), callback=drawn, help="Draw the distribution: FILE.png, .svg."
)
@click.option(
    "--changes", type=click.Path(path_type=Path), callback=to_file, help="Write a change history (CSV) to simulate."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all pages.")
def show_command(
    site: str, history: str, horizon: float, limit: int, picture: Path | None, changes: Path | None, as_json: bool
) -> None:
    """Show how often the pages of SITE change: rate, its source, and how well it is known."""
    with ObservationStore(history, reading=True) as store:
        site = store.site_named(site)
        known, links = store.histories(site), store.links(site) or None
        if changes:
            from sharc_crawler.lab.history import write_changes  # only on request

            with written(changes) as file:
                write_changes(store, site, file)
    now = time.time()
    sightings = [Sighting(url) for url in known.urls]
    still = {url for url, last in zip(known.urls, known.last_change(), strict=True) if math.isnan(last)}
    estimates = HistoryRates(known, horizon * DAY, links).rates(sightings, now)
    pages = [(url, found) for url, found in zip(known.urls, estimates, strict=True) if found is not None]
    pages.sort(key=lambda page: -page[1].rate)
    if picture:
        from sharc_crawler.lab.pictures import draw_rates  # matplotlib takes a second

        draw_rates([found.rate for _, found in pages], site, picture)
    facts = _facts(known, pages, still, now)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _show(facts, limit, horizon)
        if changes and len(known.times):
            window = (math.floor(known.times.min()), math.ceil(known.times.max()))
            say_next("sharc", "simulate", "--history", changes, "--root", known.urls[0], "--window", *window)
        elif pages:
            say_next("sharc", "plan", history, "--site", site)


def _facts(history: SiteHistory, pages: list[tuple[Any, RateEstimate]], still: set[Url], now: float) -> dict[str, Any]:
    """What ``--json`` prints; rates in changes per day, NaN and infinity as null."""
    ranges = shortest([found.rate * DAY for _, found in pages], [found.shape for _, found in pages])
    return {
        "site": history.site,
        "time": now,
        "urls": len(history),
        "accesses": len(history.times),
        "lastmods": [asdict(verdict) | {"believed": verdict.believed} for verdict in trust(history)],
        "headers": [asdict(verdict) | {"believed": verdict.believed} for verdict in trust(of_headers(history))],
        "pages": [
            {
                "url": url,
                "per_day": found.rate * DAY,
                "low": low,
                "high": high,
                "spread": found.spread * DAY if found.spread == found.spread else None,
                "shape": found.shape if found.shape < float("inf") else None,
                "observations": found.observations,
                "change_seen": url not in still,
                "source": found.source,
            }
            for (url, found), low, high in zip(pages, *(ends.tolist() for ends in ranges), strict=True)
        ],
    }


def _show(facts: dict[str, Any], limit: int, horizon: float) -> None:
    """Tables for readers."""
    table = Table(
        title=foreign(f"{facts['site']}: {counted(facts['urls'], 'URL')}, {counted(facts['accesses'], 'access')}")
    )
    for name in ("one change in", "likely", "seen", "source", "URL"):
        table.add_column(name, justify="left" if name in ("source", "URL") else "right", overflow="fold")
    for page in facts["pages"][:limit]:
        gap = f"{_gap_text(page['per_day'])}{'' if page['change_seen'] else ' *'}"
        between = _interval_text(page["low"], page["high"])
        table.add_row(gap, between, str(page["observations"]), page["source"], foreign(page["url"]))
    table.caption = (
        f"{min(limit, len(facts['pages']))} of {counted(len(facts['pages']), 'page')} with a rate, hottest first;"
        f" rates as a capture of {horizon:g} days has them (--horizon); likely: four such pages in five"
    )
    console = Console()
    console.print(table)
    if not all(page["change_seen"] for page in facts["pages"][:limit]):
        console.print(
            "*: no capture has seen it change; the rate is what the looks at it, and pages like it, leave open"
        )
    for line in _rough_warning(facts["pages"]):
        console.print(line)
    for name, verdicts in (("lastmods", facts["lastmods"]), ("Last-Modified", facts["headers"])):
        for verdict in verdicts:
            if verdict["values"]:
                word = "believed" if verdict["believed"] else f"not believed: {verdict['reason']}"
                console.print(foreign(f"{name} of {verdict['label']}: {word} ({counted(verdict['checks'], 'check')})"))


def _rough_warning(pages: list[dict[str, Any]]) -> Iterator[str]:
    """A warning if most rates rest on little."""
    few = sum(page["observations"] < FEW for page in pages)
    if 2 * few > len(pages):
        yield (
            f"{few:,} of {counted(len(pages), 'page')} {agreeing(few, 'were')} seen fewer than {FEW}"
            f" times (two looks compared, or"
            " a lastmod): these rates are rough guesses, mostly by pages like them; more captures sharpen them"
        )


def _interval_text(low: float, high: float) -> str:
    """The interval in which four of five such pages change once; "": not known.

    >>> _interval_text(0.1, 0.5), _interval_text(0.0, 0.5), _interval_text(0.5, 0.5), _interval_text(0.0, 0.0)
    ('2.0 days to 10.0 days', 'over 2.0 days', '', '')
    """
    if low == high:
        return ""
    return f"{_gap_text(high)} to {_gap_text(low)}" if low else f"over {_gap_text(high)}"


def _gap_text(per_day: float) -> str:
    """The mean time between changes in a readable unit.

    >>> _gap_text(48.0), _gap_text(0.5), _gap_text(86_400 / 7), _gap_text(0.0)
    ('30.0 min', '2.0 days', '7.0 s', 'never')
    """
    if per_day <= 0:
        return "never"
    days = 1.0 / per_day
    for unit, length in (("years", 365.25), ("days", 1.0), ("h", 1 / 24), ("min", 1 / 1440)):
        if days >= 1.5 * length:
            return f"{days / length:.1f} {unit}"
    return f"{days * DAY:.1f} s"


# -- sharc rates train: a predictor of change rates, from the history store, and how good it is ------------------------


@command.command("train", epilog="Example: sharc rates train archive.sqlite -o model.json")
@click.argument("history", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), callback=to_file, help="The model file."
)
@click.option("--site", "sites", multiple=True, help="Learn only from this site; may be given several times.")
@click.option("--kind", type=click.Choice(["best", *CLASSIFIERS]), default="best", show_default=True)
@click.option("--horizon", default=30.0, show_default=True, help="Days that a capture takes, for the coherence loss.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def train_command(history: str, output: Path, sites: tuple[str, ...], kind: str, horizon: float, as_json: bool) -> None:
    """Learn from HISTORY, the history store, to predict a page's change rate from its features.

    Two classifiers are compared by 10-fold cross-validation, with the features of the URL (online), and with those
    known from captures, too (offline). For each set of features, the one that loses least coherence is written to the
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
    _show_trained(report, output)
    if len(tried) < len(CLASSIFIERS):
        click.echo(f"A decision tree may do better: {extras.install('sklearn')}", err=True)
    say_next(*capture_words(f"url={site}", f"rates=predictor:model={output}", f"history={history}", urls=[site]))


def _examples(history: str, sites: Sequence[str]) -> tuple[Examples, list[str], str]:
    """What the store knows of these sites' pages (default: all), the sites' names, and the first one's address."""
    with ObservationStore(history, reading=True) as store:
        names = [store.site_named(site) for site in sites] or store.sites()
        learned, first = [], ""
        for site in names:
            known = store.histories(site)
            now = float(known.times.max(initial=0.0))
            facts = page_facts(known, store.links(site) or None, store.documents(site), now)
            learned.append(Examples.of(known, facts))
            first = first or next(iter(known.urls), "")  # of a page, not of robots.txt
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


def _show_trained(report: dict[str, Any], output: Path) -> None:
    """A table for readers."""
    names = ("classifier", "features", "accuracy", *(f"off by {k}" for k in range(SHOWN)), "more", "coherence loss")
    rows = [
        [
            classifier["kind"] + (" *" if classifier["chosen"] else ""),
            classifier["features"],
            f"{classifier['accuracy']:.1%}",
            *(f"{n:,}" for n in (classifier["off_by"] + [0] * SHOWN)[:SHOWN]),
            f"{sum(classifier['off_by'][SHOWN:]):,}",
            f"{classifier['coherence_loss']:.2%}",
        ]
        for classifier in report["classifiers"]
    ]
    title = f"{counted(report['pages'], 'page')} in {report['bins']} bins of rates, {FOLDS}-fold cross-validation"
    caption = (
        f"* in {output}; off by k: pages told k bins away from their own; coherence loss: share of the pages lost by "
        f"a capture of {report['horizon_days']:g} days for not knowing the rates, {report['loss_of_equal_rates']:.2%} "
        "where all are taken to be equal"
    )
    print_table(title, names, rows, 2, caption)
