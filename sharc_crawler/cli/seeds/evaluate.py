"""``sharc seeds evaluate``: Table I and Figures 8 to 11 of the paper, on any histories."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import Any

import click

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import drawn
from sharc_crawler.cli._table_options import row
from sharc_crawler.cli.seeds.listing import histories
from sharc_crawler.cli.seeds.output import say
from sharc_crawler.errors import UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Instant
from sharc_crawler.plural import counted
from sharc_crawler.seeds.hacs.document import markdown, slug
from sharc_crawler.seeds.hacs.evaluation import Period, PeriodOutcome, Truth, evaluate
from sharc_crawler.seeds.hacs.sites import SeedHistories
from sharc_crawler.seeds.hacs.study import Study
from sharc_crawler.seeds.hacs.updates import READS_LINKS

PERIODS = ("choose_from", "score_from", "until")
DOCUMENT = "hacs-evaluation.md"
PICTURES = 2  #: per study
_DATE = click.DateTime(["%Y-%m-%d"])
_PREFACE = """# HACS measured

Written by `sharc seeds evaluate`; what the columns mean is said in [hacs.md](hacs.md)."""
Histories = tuple["SeedHistories", Truth]


@click.command(
    "evaluate",
    epilog="\b\nExample:\n  sharc seeds evaluate index.cdx.gz --choose-from 2022-01-01 "
    "--score-from 2023-01-01 --until 2024-01-01 -o results",
)
@click.argument("history", nargs=-1, required=True, type=click.Path(path_type=Path))
@row("updates")
@click.option("--seeds", type=click.Path(path_type=Path), help="File of URLs, one per line.  [default: HTML pages]")
@click.option("--level", type=click.Choice(["homepage", "website"]), default="homepage", show_default=True)
@click.option("--choose-from", type=_DATE, required=True, help="Choose θ̂ from this date to --score-from.")
@click.option("--score-from", type=_DATE, required=True, help="Score from this date to --until.")
@click.option("--until", type=_DATE, required=True)
@click.option(
    "--weeks", type=click.IntRange(1), default=12, show_default=True, help="Try histories of 1 to this many weeks."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), callback=drawn, help="Folder: hacs-evaluation.md and pictures/."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def evaluate_command(history: tuple[Path, ...], output: Path | None, as_json: bool, **options: Any) -> None:
    """Measure rankers: which seeds of HISTORY were updated within a week?"""
    instants = [options[name].replace(tzinfo=UTC).timestamp() for name in PERIODS]
    if not instants[0] < instants[1] < instants[2]:
        named = (f"--{name.replace('_', '-')} {options[name]:%Y-%m-%d}" for name in PERIODS)
        raise UsageError(f"{', '.join(named)}: each must be later than the one before")
    if instants[2] > time.time():
        raise UsageError(
            f"--until {options['until']:%Y-%m-%d} has not come yet: nothing is known of updates until then"
        )
    found = list(studies([("Histories", [_read(history, options)])], instants, range(1, options["weeks"] + 1)))
    if output:
        write(found, output)
    if as_json or not output:
        click.echo(json.dumps([study.facts() for study in found], indent=1))
    else:
        click.echo(_in_short(found[0]))
        click.echo(f"Written: {output / DOCUMENT}, and {counted(PICTURES, 'picture')} beside it.")
        say_next("sharc", "seeds", "rank", *history, "--theta", "auto", "-o", "seeds-next.txt")


def _read(history: tuple[Path, ...], options: dict[str, Any]) -> Histories:
    updates = options["updates"]
    with busy("reading", total=1.0) as report:
        found = read_history(history, links=updates in READS_LINKS, progress=report)
    seeds = histories(found, updates, options["seeds"], options["level"])
    say(found)
    return seeds, Truth.seen(seeds)


def studies(
    sources: list[tuple[str, list[Histories]]], instants: Sequence[Instant], weeks: Sequence[int]
) -> Iterator[Study]:
    """A study for each titled source; several draws of a source are pooled."""
    with busy("evaluating", total=2 * sum(len(draws) for _, draws in sources)) as report:
        steps = count()
        for title, draws in sources:
            yield Study.pooled(title, [_run(draw, instants, weeks, steps, report) for draw in draws])


def _run(
    source: Histories,
    instants: Sequence[Instant],
    weeks: Sequence[int],
    steps: Iterator[int],
    report: Callable[[float], None],
) -> tuple[dict[int, PeriodOutcome], dict[int, PeriodOutcome]]:
    def part(period: Period) -> dict[int, PeriodOutcome]:
        step = next(steps)
        return evaluate(*source, period, weeks, lambda share: report(step + share))

    return part(Period(instants[0], instants[1])), part(Period(instants[1], instants[2]))


def _in_short(study: Study) -> str:
    """The result with the longest history, in a sentence."""
    row = study.row(max(study.scoring), "hacs", "micro")
    return (
        f"{study.title}, {counted(row.weeks, 'week')} of history: HACS at θ = {row.theta:.3f} has F1 {row.own[2]:.3f};"
        f" as many drawn by lot {row.random[2]:.3f}, all seeds {row.brute[2]:.3f}"
    )


def write(found: list[Study], folder: Path, preface: str = _PREFACE) -> None:
    """Write the document and its pictures."""
    from sharc_crawler.lab.pictures import draw_precisions, draw_thresholds  # matplotlib takes a second

    folder.mkdir(parents=True, exist_ok=True)
    for study in found:
        name = slug(study.title)
        draw_thresholds(study, folder / f"pictures/hacs-{name}-theta.svg")
        draw_precisions(study, folder / f"pictures/hacs-{name}-pk.svg")
    (folder / DOCUMENT).write_text(markdown(found, preface), encoding="utf-8")
