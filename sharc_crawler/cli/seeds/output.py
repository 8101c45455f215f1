"""| The output of ``sharc seeds rank``: a table, JSON, and unusable input on stderr."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sharc_crawler.cli._tables import print_whole
from sharc_crawler.plural import counted
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.phrases import plain
from sharc_crawler.report.words import every, printable

if TYPE_CHECKING:
    from sharc_crawler.archive.histories.gathering import Problems
    from sharc_crawler.archive.histories.reading import History
    from sharc_crawler.seeds.base import RankingTask
    from sharc_crawler.seeds.hacs.rank import RankedSeed

_SHOWN = 20


def say(found: History) -> None:
    """Print what could not be used, on stderr."""
    problems = found.problems
    for problem in problems.named[:_SHOWN]:
        click.echo(printable(str(problem)), err=True)
    if problems.count:
        click.echo(f"{counted(problems.count, 'malformed line')}; the rest is used.", err=True)
    for why, count in problems.left_out.items():
        if count:
            click.echo(f"{counted(count, 'capture')} left out: {why}.", err=True)
    for why, count in problems.no_seeds.items():
        click.echo(
            f"{counted(count, 'URL', 'are')} no seed{'' if count == 1 else 's'}: {why} (--seeds names others).",
            err=True,
        )
    for page in found.missing:
        click.echo(f"A TimeMap names a page that was not given: {printable(page)}", err=True)
    if found.resume_key:
        click.echo(f"A CDX server has more: resumeKey={printable(found.resume_key)}", err=True)


def facts(ranked: list[RankedSeed], problems: Problems, task: RankingTask, options: dict[str, Any]) -> dict[str, Any]:
    """The document that ``--json`` prints."""
    named = ("ranker", "theta", "budget", "updates", "level", "weeks")
    return {
        "now": task.now,
        "ahead": task.ahead,
        **{name: options[name] for name in named},
        "chosen": sum(one.chosen for one in ranked),
        "reasons": Counter(one.reason for one in ranked),
        "problems": {
            "count": problems.count,
            "named": [str(problem) for problem in problems.named],
            "left_out": {why: count for why, count in problems.left_out.items() if count},
            "no_seeds": dict(problems.no_seeds),
        },
        "seeds": [plain(asdict(one)) for one in ranked],
    }


def show(ranked: list[RankedSeed], options: dict[str, Any], task: RankingTask, since: str) -> None:
    """Print the table."""
    value = "p" if ranked[0].p is not None else options["ranker"]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("", "crawl", value, "every", "updated", "seen", "captures"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("seed", overflow="fold", min_width=24)
    for one in ranked[:_SHOWN]:
        crawl = "yes" if one.chosen else "no"
        dates = (_date(one.last_update), _date(one.last_seen))
        table.add_row(str(one.place), crawl, _value(one), _interval(one), *dates, f"{one.captures:,}", foreign(one.url))
    console = Console()
    print_whole(console, table)
    if len(ranked) > _SHOWN:
        console.print(f"… and {len(ranked) - _SHOWN:,} more (--json has all).")
    if value == "p":
        by = datetime.fromtimestamp(task.now + task.ahead, UTC)
        console.print(f"p: the probability that a seed has changed since {since}, by {by:%Y-%m-%d %H:%M} UTC")
    marks = "".join(map(_interval, ranked[:_SHOWN]))
    if "?" in marks:
        console.print("?: too few of its captures can be compared; the rate is what such seeds have at first")
    if "≤" in marks:
        console.print(
            "≤: each of its captures differs from the one before; how much more often it changes nobody can tell"
        )
    for reason, count in Counter(one.reason for one in ranked).most_common():
        console.print(f"{count:,} of {counted(len(ranked), 'seed')}: {reason}")


def _interval(one: RankedSeed) -> str:
    """The time between two updates, as far as known."""
    if one.rate_least and one.rate is not None:
        return f"≤ {every(one.rate_least).removeprefix('every ')}"
    return every(one.rate).removeprefix("every ") + ("" if one.known else "?")


def _value(one: RankedSeed) -> str:
    if one.p is None:
        return f"{one.value:.3g}"
    return "> 0.999" if one.p >= 0.9995 else f"{one.p:.3f}"


def _date(instant: float | None) -> str:
    return "-" if instant is None else f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%d}"
