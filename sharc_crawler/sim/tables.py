"""The paper's tables, simulated: ours beside the paper's, in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sharc_crawler.errors import unknown_name
from sharc_crawler.sim.claims import check
from sharc_crawler.sim.examples import EXAMPLES
from sharc_crawler.sim.experiment import facts
from sharc_crawler.sim.paper import BLUR, TABLES, PaperTable
from sharc_crawler.sim.pool import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Simulated:
    """A table as it comes out here."""

    paper: PaperTable
    rows: dict[float, tuple[float, ...]]  #: value of what varies → our numbers, in the order of the paper's columns
    expected: dict[float, float]  #: of the first column, by formula


def selected(numbers: Sequence[str]) -> list[PaperTable]:
    """The simulated tables among these numbers; ``19`` is both its halves. Raises UsageError for an unknown number."""
    known = {table.number for table in TABLES}
    for number in numbers:
        if number not in known | {"19", *EXAMPLES}:
            raise unknown_name("table", number, [*EXAMPLES, *known])
    return [table for table in TABLES if table.number in numbers or table.number.rstrip("ab") in numbers]


def simulate(
    tables: Sequence[PaperTable], jobs: int, seed: int, max_size: int, tell: Callable[[float], None]
) -> list[Simulated]:
    """Simulate all cells of the tables, but for rows of sites larger than ``max_size``."""
    rows = [(table, value) for table in tables for value in table.rows if table.varied != "size" or value <= max_size]
    specs = [table.spec(value, column, seed) for table, value in rows for column in table.columns]
    found = iter(run_all(facts, specs, jobs, tell))
    results = [Simulated(table, {}, {}) for table in tables]
    places = {table.number: result for table, result in zip(tables, results, strict=True)}
    for table, value in rows:
        cells = [next(found) for _ in table.columns]
        places[table.number].rows[value] = tuple(cell[table.measure] for cell in cells)
        places[table.number].expected[value] = cells[0][table.expectation]
    return results


def markdown(table: Simulated) -> str:
    """One table: every cell ours / the paper's."""
    paper = table.paper
    decimals = 2 if paper.columns is BLUR else 0
    names = [paper.varied.replace("_", "-"), "expected", *(column.name for column in paper.columns)]
    lines = [
        f"## Table {paper.number}: {paper.title} ({paper.leaves} leaves)",
        "",
        _row(names),
        _row(["--:"] * len(names)),
    ]
    for value, ours in table.rows.items():
        cells = (f"{a:,.{decimals}f} / {b:,.{decimals}f}" for a, b in zip(ours, paper.rows[value], strict=True))
        lines.append(_row([f"{value:,g}", f"{table.expected[value]:,.{decimals}f}", *cells]))
    return "\n".join(lines)


def verdicts(tables: Iterable[Simulated]) -> str:
    """What the paper's text claims, and whether it holds in our numbers and in its own."""
    ours, papers = {}, {}
    for table in tables:
        ours[table.paper.number] = table.rows
        papers[table.paper.number] = {value: table.paper.rows[value] for value in table.rows}
    lines = [_row(["tables", "claim", "holds here", "in the paper's own numbers"]), _row(["---"] * 4)]
    for (claim, here), (_, there) in zip(check(ours), check(papers), strict=True):
        lines.append(
            _row([", ".join(claim.tables), claim.text, *("yes" if holds else "**no**" for holds in (here, there))])
        )
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
