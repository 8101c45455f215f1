from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from benchmarks import paper, paper_simulated, paper_tables


def made(*words: object) -> Result:
    return CliRunner().invoke(paper_tables.command, [*map(str, words)])


def test_the_papers_examples():
    done = made("--table", 1, "--table", 2, "--table", 3)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("Downloads as in the paper") == 3
    assert "| 3 | p0 p1 p4 | p2 p3 |" in done.stdout


@pytest.fixture
def small_table(monkeypatch):
    row = (1.0,) * len(paper.INCOHERENCE)
    table = paper.PaperTable(
        "13", "Scalability: incoherence", paper.INCOHERENCE, "size", "cold", {30.0: row, 60.0: row}
    )
    for module in (paper_simulated, paper_tables):
        monkeypatch.setattr(module, "TABLES", (table,))


@pytest.mark.slow
def test_tables_are_written_with_their_pictures(tmp_path, small_table):
    done = made("--table", 13, "--output", tmp_path, "--jobs", 1, "--max-size", 50, "--seeds", 2)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "tables.md").read_text()
    assert "## Table 13: Scalability: incoherence (cold leaves)" in text
    assert text.count("\n| 30 | 2 |") == 1
    assert "\n| 60 |" not in text
    assert "Not simulated: 60." in text
    assert "Made by `python benchmarks/paper_tables.py --table 13 --max-size 50 --seeds 2`" in text
    assert "| 13 | Both selective strategies outperform all others |" in text
    assert (tmp_path / "pictures/table-13.svg").read_text().startswith("<?xml")


def test_a_table_without_rows_of_that_size_is_named(small_table):
    done = made("--table", 13, "--max-size", 20)
    assert done.exit_code == 0, done.output
    assert "Table 13 is left out: --max-size 20 leaves none of its rows" in done.stderr
    assert "## Table 13" not in done.stdout


def test_an_unknown_table():
    done = made("--table", 5)
    assert done.exit_code == 2
    assert "table='5' is not known" in done.stderr
