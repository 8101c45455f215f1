"""``sharc rates``: how often pages change, as captures saw it, and as it is told of pages that nobody has watched."""

from __future__ import annotations

import click

from sharc_crawler.cli.rates.show import show_command
from sharc_crawler.cli.rates.train import train_command


class _Rates(click.Group):
    """What is no subcommand is a site: ``sharc rates SITE`` is short for ``sharc rates show SITE``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Rates, epilog="Example: sharc rates www.example.org --history archive.sqlite")
def command() -> None:
    """Show how often a site's pages change (SITE: short for show SITE); train a predictor for unwatched pages."""


command.add_command(show_command)
command.add_command(train_command)
