"""Tables for readers."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from sharc_crawler.cli._tables import print_table, print_whole


def test_a_long_name_is_shown_whole(capsys, monkeypatch) -> None:
    """Orders of somebody else's differ in how their names end."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"a.package.that.somebody.has.{'made.' * 12}Orders:most={most}" for most in (1, 2)]
    print_table("", ["strategy", "pages", "coherent"], [(name, "1,234,567", "7" * 40) for name in names])
    shown = "".join(line.split("│")[1].strip() for line in capsys.readouterr().out.splitlines() if line.count("│") == 4)
    assert shown == "".join(names)


def test_addresses_are_whole_where_the_terminal_is_narrow_or_none(capsys):
    console = Console(width=40, highlight=False)
    table = Table("site", "captures", "newest")
    address = "a-library-of-some-length.example:8036/with/a/path"
    table.add_row(address, "2", "2026-11-28 18:49 (open)")
    print_whole(console, table)
    assert address in capsys.readouterr().out
    assert console.width == 40
