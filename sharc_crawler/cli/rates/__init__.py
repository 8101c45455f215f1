"""``sharc rates``: how often pages change, as captures saw it, and as it is told of pages that nobody has watched."""

from __future__ import annotations

import click

from sharc_crawler.cli import OrShow
from sharc_crawler.cli.rates.show import show_command
from sharc_crawler.cli.rates.train import train_command


@click.group(cls=OrShow, epilog="Example: sharc rates www.example.org --history archive.sqlite")
def command() -> None:
    """Show how often a site's pages change (SITE: short for show SITE); train a predictor for unwatched pages."""


command.add_command(show_command)
command.add_command(train_command)
