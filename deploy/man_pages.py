"""``make man``: a manual page for each command of ``sharc``, made from its help by click-man.

click-man looks for commands in ``Group.commands``. Ours are imported when they are called, so that they are put there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from sharc_crawler import __version__
from sharc_crawler.cli import COMMANDS, main


def write(folder: Path) -> int:
    """Write a page for each command into ``folder``; how many."""
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(main)
    for name, what in COMMANDS.items():
        found = main.get_command(context, name)
        assert found is not None
        found.short_help = what
        main.add_command(found, name)
    write_man_pages("sharc", main, version=__version__, target_dir=str(folder))
    return len(list(folder.glob("sharc*.1")))


if __name__ == "__main__":
    click.echo(f"{write(Path(sys.argv[1]))} pages; man -l {sys.argv[1]}/sharc.1 shows the first")
