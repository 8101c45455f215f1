"""The list of differences that Scrapy's own tests show is the one in the docs."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.scrapy_suite import DIFFERENCES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "drop-in.md"


def test_each_difference_is_in_the_docs_with_its_reason():
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| `test_")]
    for test, why in DIFFERENCES.items():
        name = test.rpartition("::")[2]
        assert any(f"`{name}`" in row and row.endswith(f"| {why} |") for row in rows), test
