"""``sharc simulate``: crawl synthetic sites and replayed histories in virtual time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import click

from sharc_crawler import __version__
from sharc_crawler.cli._next import say_again
from sharc_crawler.cli._outputs import to_file, written
from sharc_crawler.cli._simulated_sites import ARGUED, MADE, ROOT, TELLS, WORLD, named_values, site_spec, with_defaults
from sharc_crawler.cli._tables import print_table
from sharc_crawler.errors import UsageError
from sharc_crawler.lab.driver import GRAPHS
from sharc_crawler.lab.experiment import Facts, RunSpec, build, run, seeded, summary
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.pool import run_all
from sharc_crawler.lab.schedule import write_schedules
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted

AVERAGED = (
    "incoherent",
    "as\nexpected",
    "unknown",
    "hopeless",
    "of these\nincoherent",
    "blur",
)  #: averaged over the seeds
SHOWN = ("strategy", "revisits", "seed", "pages", "gone", *AVERAGED)
JUDGED = ("incoherent", "as\nexpected", "of these\nincoherent")  #: always 0 if no page is judged
KEYS = {"as\nexpected": "expected_incoherent", "of these\nincoherent": "hopeless_incoherent", "blur": "average_blur"}


@click.command()
@click.option(
    "--world",
    multiple=True,
    metavar="NAME=VALUE,…",
    help=f"Of a synthetic site: {with_defaults(MADE)}. Of any site: {with_defaults(TELLS)}.",
)
@click.option(
    "--history",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A real site: its change history, NAME.csv[.gz], with its links beside it.",
)
@click.option("--root", default=ROOT, show_default=True, help="Real site: its entry page.")
@click.option("--window", nargs=2, metavar="FROM TO", help="Real site: dates (UTC) or unix seconds.")
@click.option("--strategy", default="bfs,sharc-selective", show_default=True, help="Names, comma-separated.")
@click.option("--rates", default="oracle", show_default=True, help="oracle, history, lastmod, sitemap, constant…")
@click.option("--graph", type=click.Choice(GRAPHS), default="discover", show_default=True, help="How pages are found.")
@click.option("-a", "argument", multiple=True, metavar="NAME=VALUE", help=f"As a crawl's: {', '.join(ARGUED)}.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Number of random worlds.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Number of processes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--schedule", type=click.Path(path_type=Path), callback=to_file, help="Write a CSV run,page,kind,time.")
def command(
    world: tuple[str, ...],
    history: tuple[str, ...],
    root: str,
    window: tuple[str, str] | None,
    strategy: str,
    argument: tuple[str, ...],
    seeds: int,
    jobs: int,
    as_json: bool,
    schedule: Path | None,
    **shared: Any,
) -> None:
    r"""Crawl a site in virtual time with the frontier and the strategies of a live crawl, and score the result.

    The site is synthetic, or a real one whose history is replayed.

    \b
    Example:
      sharc simulate --world size=10000,leaves=hot --strategy bfs,sharc-selective
      sharc simulate --history site.csv.gz --root / --window 2012-01-01 2013-01-01 \
        --rates history --strategy sharc-selective --json
    """
    if len(history) > 1:
        raise UsageError("several --history: one site is simulated at a time; give one")
    said = named_values("--world", world, WORLD)
    site = site_spec(history[0] if history else None, root, window, said)
    shared |= {name: value for name, value in said.items() if name in TELLS} | named_values("-a", argument, ARGUED)
    if seeds > 1 and history and not shared.get("attested"):
        click.echo(
            f"--seeds {seeds}: a history is what it is, and nothing else is drawn: each crawl is run once", err=True
        )
        seeds = 1
    names = [name.strip() for name in strategy.split(",")]
    specs = [RunSpec(seeded(site, seed), name, seed=seed, **shared) for seed in range(seeds) for name in names]
    found = _crawled(specs, jobs, schedule)
    if as_json:
        click.echo(_json(summary(site, found), site, specs[0]))
        return
    _show(summary(site, found), site)
    if seeds == 1 and not history:
        say_again("--seeds", 5)  # a single world says little
    elif not schedule:
        say_again("--schedule", "schedule.csv")


def _json(result: dict[str, Any], site: SyntheticSpec | HistorySpec, spec: RunSpec) -> str:
    options = {name: getattr(spec, name) for name in ("rates", "graph", *TELLS, *ARGUED)}
    return json.dumps({**result, "version": __version__, "site_options": asdict(site), "run_options": options})


def _crawled(specs: list[RunSpec], jobs: int, schedule: Path | None) -> list[Facts]:
    with busy(counted(len(specs), "crawl"), total=len(specs)) as tell:
        runs = run_all(run, specs, jobs, tell)
    if schedule:
        with written(schedule) as file:
            write_schedules(file, [done.schedule for done in runs], build(specs[0].site).urls)
    return [done.facts for done in runs]


def _show(result: dict[str, Any], site: SyntheticSpec | HistorySpec) -> None:
    """A table for readers."""
    first = result["runs"][0]
    rows = []
    for facts in result["runs"]:
        cells = [facts.get(KEYS.get(name, name), "") for name in SHOWN]
        rows.append([_shown(name, cell) for name, cell in zip(SHOWN, cells, strict=True)])
    guessed = f" ({counted(first['guessed'], 'page')} guessed)" if first["guessed"] else ""
    caption = f"evidence: {first['evidence']}; rates: {first['rates']}{guessed}; graph: {first['graph']}"
    if isinstance(site, HistorySpec):
        caption += f"; links: {Path(site.links).name if site.links else 'no file beside it, pages are known by name'}"
    if any(map(_unjudged, result["runs"])):
        caption += "; without revisits nothing shows a page incoherent: all are unknown"
    if any(facts["hopeless"] for facts in result["runs"]):
        caption += "; hopeless: given up for the others' sake"
    print_table(f"{result['site']}: {counted(result['pages'], 'page')} at the start", SHOWN, rows, 2, caption)
    if len({facts["seed"] for facts in result["runs"]}) > 1:
        _show_means(result["runs"])
    for facts in result["runs"]:
        if "audit" in facts:
            click.echo(f"{facts['strategy']}: audit {json.dumps(facts['audit'])}")
        if "parts" in facts:
            click.echo(
                f"{facts['strategy']}: {facts['coherent_parts']} of {counted(facts['parts'], 'part')}"
                f" captured coherently,"
                f" {counted(facts['in_coherent_parts'], 'page')}; the largest has {facts['largest_coherent_part']:,}"
            )


def _unjudged(facts: Facts) -> bool:
    """Whether no page was judged: without revisits and validators nothing is known of any."""
    return facts["revisits"] == "none" and bool(facts["unknown"] + facts["gone"] == facts["pages"])


def _shown(name: str, cell: object) -> str:
    return f"{cell:.{3 if name == 'blur' else 2}f}" if isinstance(cell, float) else str(cell)


def _show_means(runs: list[Facts]) -> None:
    """Print mean and standard deviation over the seeds, by strategy."""
    by_strategy: dict[str, list[Facts]] = {}
    for facts in runs:
        by_strategy.setdefault(facts["strategy"], []).append(facts)
    rows = []
    for name, worlds in by_strategy.items():
        columns = [[float(facts[KEYS.get(column, column)]) for facts in worlds] for column in AVERAGED]
        both = [(what, fmean(column), stdev(column)) for what, column in zip(AVERAGED, columns, strict=True)]
        cells = {what: f"{_shown(what, mean)} ± {_shown(what, spread)}" for what, mean, spread in both}
        if all(map(_unjudged, worlds)):
            cells |= dict.fromkeys(JUDGED, "-")
        rows.append([name, *cells.values()])
    print_table("Mean of all seeds ± standard deviation", ("strategy", *AVERAGED), rows)
