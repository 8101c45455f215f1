"""``sharc plan``: what a capture would come to, without crawling."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sharc_crawler.cli._progress import progress
from sharc_crawler.cli._tables import print_table
from sharc_crawler.sim.plan import foresee
from sharc_crawler.sim.prospect import from_file

if TYPE_CHECKING:
    from sharc_crawler.sim.plan import Foreseen
    from sharc_crawler.sim.prospect import Prospect

SHOWN = 10  #: hopeless pages listed


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--strategy", default="bfs,sharc-offline,sharc-selective", show_default=True, help="Comma-separated.")
@click.option("--delay", default=1.0, show_default=True, help="Seconds between two downloads.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(source: Path, strategy: str, delay: float, as_json: bool) -> None:
    r"""Foresee a capture: duration, expected coherence and blur of each strategy, pages that are hopeless.

    SOURCE is a sitemap, the report.json of a former capture, or a change history.

    \b
    Example:
      sharc plan sitemap.xml --delay 2
      sharc plan captures/demo/report.json --strategy sharc-selective --json
    """
    now = time.time()
    prospect = from_file(source, now)
    names = strategy.split(",")
    plans = []
    with progress("plans", len(names)) as tell:
        for number, name in enumerate(names):
            plans.append(foresee(prospect, name.strip(), delay, now))
            tell(number + 1)
    if as_json:
        pages = len(prospect.urls)
        click.echo(json.dumps({"source": prospect.source, "pages": pages, "plans": [asdict(plan) for plan in plans]}))
    else:
        _show(prospect, plans)


def _show(prospect: Prospect, plans: list[Foreseen]) -> None:
    names = ("strategy", "downloads", "duration", "coherent", "incoherent", "not revisited", "blur", "hopeless")
    rows = [
        [
            plan.strategy,
            f"{plan.downloads:,}",
            str(timedelta(seconds=round(plan.seconds))),
            f"{plan.expected_coherent:,.1f}",
            f"{plan.expected_incoherent:,.1f}",
            f"{plan.unknown:,}",
            f"{plan.expected_blur:.3f}",
            f"{len(plan.hopeless):,}",
        ]
        for plan in plans
    ]
    print_table(f"{prospect.source}: {len(prospect.urls)} pages", names, rows)
    for plan in plans:
        for url in plan.hopeless[:SHOWN]:
            click.echo(f"{plan.strategy} gives up {url}")
        if len(plan.hopeless) > SHOWN:
            click.echo(f"… and {len(plan.hopeless) - SHOWN} more (--json names all)")
