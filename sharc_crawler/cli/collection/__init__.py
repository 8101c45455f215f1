"""``sharc collection``: the folder that an archive keeps."""

from __future__ import annotations

import click

from sharc_crawler.cli.collection.add import add_command
from sharc_crawler.cli.collection.show import show_command


class _OrShow(click.Group):
    """``sharc collection DIR`` is ``sharc collection show DIR``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_OrShow, epilog="Example: sharc collection news")
def command() -> None:
    """Keep captures together: sites, history and masks in one folder. With DIR alone, look at it."""


command.add_command(add_command)
command.add_command(show_command)
