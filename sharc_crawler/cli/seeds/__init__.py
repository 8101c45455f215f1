"""``sharc seeds``: which seeds to crawl, by what archives hold of them."""

from __future__ import annotations

import click

from sharc_crawler.cli.seeds.evaluate import evaluate_command
from sharc_crawler.cli.seeds.fetch import fetch_command
from sharc_crawler.cli.seeds.rank import rank_command


@click.group(epilog="Example: sharc seeds rank nasa.cdx.gz --theta 0.7")
def command() -> None:
    """Rank seeds by the probability that they have changed, from archives' history (HACS); measure rankers."""


command.add_command(fetch_command)
command.add_command(rank_command)
command.add_command(evaluate_command)
