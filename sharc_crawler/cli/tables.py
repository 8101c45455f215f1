"""``sharc tables``: the paper's tables, simulated."""

from __future__ import annotations

from pathlib import Path

import click

from sharc_crawler.cli._progress import progress
from sharc_crawler.sim.examples import EXAMPLES, example
from sharc_crawler.sim.paper import TABLES
from sharc_crawler.sim.pictures import draw
from sharc_crawler.sim.tables import markdown, selected, simulate, verdicts

ABOUT = """# The paper's tables, simulated

Every cell is ours / the paper's (Denev, Mazeika, Spaniol, Weikum: *The SHARC framework for data quality in Web
archiving*, VLDB Journal 2011), made by `sharc tables`. *Expected* is what the first column comes to by formula.

Sites are trees whose pages change as Poisson processes with rates 1/(i+1)^skew, Δ = 1. Where it is not what varies:
10,000 pages, skew 1.2, outdegree 400, slow-down 1. Pages are numbered level by level and their rates fall (cold leaves)
or rise (hot leaves) with their numbers. The paper does not say how it laid pages out within a level, so of most columns
only the order can be compared; of the first, which depends on the rates alone, the numbers. Offline methods and OP know
all pages in advance, the others discover them.
"""


@click.command()
@click.option("--table", "numbers", multiple=True, help="Only this one (may be repeated): 1-3, 11-21.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for tables.md and pictures.")
@click.option("--max-size", default=1_000_000, show_default=True, help="Leave out rows of larger sites.")
@click.option("--seed", default=0, show_default=True, help="Another seed, other changes.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
def command(numbers: tuple[str, ...], output: Path | None, max_size: int, seed: int, jobs: int) -> None:
    r"""Simulate the paper's Tables 1-3 and 11-21, and print ours beside the paper's in Markdown.

    \b
    Example:
      sharc tables --table 3 --table 17
      sharc tables --output docs
    """
    wanted = numbers or (*EXAMPLES, *(table.number for table in TABLES))
    tables = selected(wanted)
    cells = sum(len(table.columns) for table in tables for value in table.rows)
    with progress("tables", cells) as tell:
        results = simulate(tables, jobs, seed, max_size, tell)
    parts = [ABOUT, *(example(number) for number in EXAMPLES if number in wanted)]
    if results:
        parts += ["## What the paper's text claims", verdicts(results)]
    if output:
        (output / "pictures").mkdir(parents=True, exist_ok=True)
    for result in results:
        parts.append(markdown(result))
        if output:
            picture = f"pictures/table-{result.paper.number}.svg"
            draw(result, output / picture)
            parts.append(f"![Table {result.paper.number}]({picture})")
    text = "\n\n".join(parts) + "\n"
    if output:
        (output / "tables.md").write_text(text)
    else:
        click.echo(text, nl=False)
