"""``sharc log``: every decision of a capture and what came of it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sharc_crawler.report.load import load_state
from sharc_crawler.report.log import entries, heritrix_lines


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--failed", is_flag=True, help="Only what brought nothing: failures, refusals, pages that are gone.")
@click.option("--heritrix", is_flag=True, help="Lines as in Heritrix's crawl.log.")
def command(folder: Path, failed: bool, heritrix: bool) -> None:
    r"""Print the log of the captures in FOLDER, complete or not, running or not: one JSON object per line and exchange.

    \b
    Example:
      sharc log captures/demo | jq -r 'select(.attempt > 1) | .url'
      sharc log captures/demo --failed
      sharc log captures/demo --heritrix > crawl.log
    """
    state = load_state(folder)
    if failed:
        state.visits = [
            visit for visit in state.visits if visit.outcome.result not in {"ok", "not-modified", "redirected"}
        ]
    for line in heritrix_lines(state) if heritrix else map(json.dumps, entries(state)):
        click.echo(line)
