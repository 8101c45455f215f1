"""The paper's tables, simulated: ours beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.paper import BASE, TABLES, PaperTable
from benchmarks.paper_claims import CHANCE, EXACT, check
from benchmarks.paper_examples import EXAMPLES
from sharc_crawler.errors import unknown_name
from sharc_crawler.lab.experiment import facts
from sharc_crawler.lab.pool import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sharc_crawler.lab.experiment import Facts, RunSpec


@dataclass(frozen=True, slots=True)
class Simulated:
    """A table as it comes out here: numbers by the value of what varies, in the order of the paper's columns."""

    paper: PaperTable
    worlds: dict[float, int] = field(default_factory=dict)  #: value → how many; numbers are their means
    rows: dict[float, tuple[float, ...]] = field(default_factory=dict)
    expected: dict[float, tuple[float, ...]] = field(default_factory=dict)  #: by formula, from each order's times
    errors: dict[float, tuple[float, ...]] = field(default_factory=dict)  #: standard errors of the rows, by formula

    @property
    def deviation(self) -> float:
        """How far the first column, which depends on the rates alone, is from its expectation at most: in standard
        errors.
        """
        return max(abs(self.rows[v][0] - self.expected[v][0]) / self.errors[v][0] for v in self.rows)


def selected(numbers: Sequence[str]) -> list[PaperTable]:
    """The simulated tables among these numbers; ``19`` is both its halves. Raises UsageError for an unknown number."""
    known = {table.number for table in TABLES}
    for number in numbers:
        if number not in known | {"19", *EXAMPLES}:
            raise unknown_name("table", number, [*EXAMPLES, *known])
    return [table for table in TABLES if table.number in numbers or table.number.rstrip("ab") in numbers]


@dataclass(frozen=True)
class Extent:
    """How much of the tables is simulated."""

    seeds: int = 1  #: worlds per cell; of sites larger than the usual, fewer: never more pages in all
    max_size: int = 1_000_000  #: rows of larger sites are left out

    def cells(self, table: PaperTable) -> list[tuple[float, list[RunSpec]]]:
        """The runs of each row: world by world, all methods in each."""
        rows = []
        for value in table.rows:
            size = int(value) if table.varied == "size" else BASE.size
            worlds = max(1, self.seeds * BASE.size // max(size, BASE.size))
            if size <= self.max_size:
                specs = [table.spec(value, column, seed) for seed in range(worlds) for column in table.columns]
                rows.append((value, specs))
        return rows


def simulate(tables: Sequence[PaperTable], extent: Extent, jobs: int, tell: Callable[[float], None]) -> list[Simulated]:
    """Simulate the cells of the tables; ``tell`` is given which share of the work is done."""
    cells = [(Simulated(table), value, specs) for table in tables for value, specs in extent.cells(table)]
    orders = [spec for *_, specs in cells for spec in specs]
    found = iter(run_all(facts, orders, jobs, lambda done: tell(done / len(orders))))
    results: dict[str, Simulated] = {}
    for blank, value, specs in cells:
        result = results.setdefault(blank.paper.number, blank)
        _fill(result, value, list(islice(found, len(specs))))
    return list(results.values())


def _fill(table: Simulated, value: float, runs: list[Facts]) -> None:
    """Fill a row with means over its worlds."""
    paper = table.paper
    methods = len(paper.columns)
    worlds = table.worlds[value] = len(runs) // methods

    def means(key: str) -> tuple[float, ...]:
        return tuple(fmean(run[key] for run in runs[method::methods]) for method in range(methods))

    table.rows[value] = means(paper.measure)
    table.expected[value] = means(paper.expectation)
    table.errors[value] = tuple(error / worlds**0.5 for error in means(paper.error))


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
    rows: dict[tuple[str, ...], list[str]] = {}  # claim, and how it fares: the tables of which that is so
    for three in checked:
        claim = three[0][0]
        fares = ("yes" if holds else "**no**" for _, holds in three)
        rows.setdefault((claim.text, *fares), []).append(" and ".join(claim.tables))
    lines = [_row(["tables", "claim", "holds here", "in expectation", "in the paper's own numbers"]), _row(["---"] * 5)]
    lines += [_row([", ".join(tables), *row]) for row, tables in rows.items()]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
