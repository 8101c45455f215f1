"""Tables for readers."""

from __future__ import annotations

from sharc_crawler.cli._tables import print_table


def test_a_long_name_is_shown_whole(capsys, monkeypatch) -> None:
    """Orders of somebody else's differ in how their names end."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"a.package.that.somebody.has.{'made.' * 12}Orders:most={most}" for most in (1, 2)]
    print_table("", ["strategy", "pages", "coherent"], [(name, "1,234,567", "7" * 40) for name in names])
    shown = "".join(line.split("│")[1].strip() for line in capsys.readouterr().out.splitlines() if line.count("│") == 4)
    assert shown == "".join(names)
