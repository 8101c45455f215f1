"""Tables for readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table

from sharc_crawler.report.foreign import foreign

WIDE = 120  #: least width of a table, also off a terminal


def print_table(
    title: str, names: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1, caption: str = ""
) -> None:
    """Print a table; the first ``texts`` columns hold words, the others numbers."""
    table = Table(title=foreign(title), caption=caption or None)
    for place, name in enumerate(names):
        number = place >= texts
        table.add_column(name, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        table.add_row(*map(foreign, row))
    Console(width=max(Console().width, WIDE)).print(table)


def print_whole(console: Console, table: RenderableType) -> None:
    """Print a table uncut: addresses cut at the terminal's edge would be others."""
    width, console.width = console.width, max(console.width, WIDE)  # rich cuts a wider table to the console
    console.print(table, crop=False)
    console.width = width
