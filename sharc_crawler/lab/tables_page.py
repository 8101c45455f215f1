"""The page of the paper's tables: Markdown with what can be said of each table, and of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.lab.claims import CHANCE, EXACT, check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.lab.tables import Simulated


def title(table: Simulated) -> str:
    """The heading of a table."""
    return f"## Table {table.paper.number}: {table.paper.title} ({table.paper.leaves} leaves)"


def markdown(table: Simulated) -> str:
    """One table: every cell ours / the paper's; then how near the first column comes to its expectation."""
    paper = table.paper
    decimals = 2 if paper.of_blur else 0
    names = [paper.varied.replace("_", "-"), "worlds", "expected", *(column.name for column in paper.columns)]
    lines = [_row(names), _row(["--:"] * len(names))]
    for value, ours in table.rows.items():
        cells = (f"{a:,.{decimals}f} / {b:,.{decimals}f}" for a, b in zip(ours, paper.rows[value], strict=True))
        expected = f"{table.expected[value][0]:,.{decimals + 1}f} ± {table.errors[value][0]:.{decimals + 1}f}"
        lines.append(_row([f"{value:,g}", str(table.worlds[value]), expected, *cells]))
    nearness = (
        f"{paper.columns[0].name} depends on the rates alone. Here it is within {table.deviation:.1f} standard errors"
        " of what is expected, in all rows."
    )
    left_out = ", ".join(f"{value:,g}" for value in paper.rows if value not in table.rows)
    return "\n".join([*lines, "", nearness, *([f"Not simulated: {left_out}."] if left_out else [])])


def verdicts(tables: Sequence[Simulated]) -> str:
    """What the paper's text claims, and whether it holds in our numbers and in its own; by table."""
    ours, expected, papers = {}, {}, {}
    for table in tables:
        ours[table.paper.number] = table.rows
        expected[table.paper.number] = table.expected
        papers[table.paper.number] = {value: table.paper.rows[value] for value in table.rows}
    checked = zip(check(ours, CHANCE), check(expected, EXACT), check(papers, CHANCE), strict=True)
    lines = [_row(["tables", "claim", "holds here", "in expectation", "in the paper's own numbers"]), _row(["---"] * 5)]
    for three in checked:
        claim = three[0][0]
        lines.append(_row([", ".join(claim.tables), claim.text, *("yes" if holds else "**no**" for _, holds in three)]))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
