"""The docs' tables, and the help, are those of the options."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharc_crawler.options.pages import help_text, written
from sharc_crawler.options.reading import ARGUMENTS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["arguments.md", "settings.md"])
def test_the_page_is_made_from_the_table(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == written(text), f"run `python -m sharc_crawler.options.pages docs/{page}`"


def test_every_argument_is_in_the_help_and_no_markdown():
    lines = help_text().splitlines()
    assert {line.split()[0] for line in lines if line[:2] == "  " and line[2:3].strip()} >= {*ARGUMENTS}
    assert not any("`" in line or "](" in line or len(line) > 100 for line in lines)
