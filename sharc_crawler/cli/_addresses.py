"""Tables with addresses in them: an address that was cut is another address."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDEST = 120  #: columns that such a table takes at least, however narrow the terminal


def print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting it at the terminal's edge."""
    console.print(table, width=max(console.width, WIDEST), crop=False)
