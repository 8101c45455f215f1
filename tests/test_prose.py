"""What people read is written for them: short, in short sentences (the tables of docs/hacs-evaluation.md apart)."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUIDES = (
    "architecture", "arguments", "benchmarks", "broken-http", "browser", "capturing", "certificate", "changes",
    "collection", "drop-in", "fleet", "glossary", "hacs", "install", "observations", "rates", "report", "results",
    "security", "settings", "simulate", "stores", "strategies", "subsites", "tables", "temporal", "tutorial",
    "upstream", "warc",
)  # fmt: skip
READ = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", *(f"docs/{name}.md" for name in GUIDES))
LONGEST_README = 900  #: words
MEDIAN, LONGEST = 16, 40  #: words of a sentence
END = r"(?<=[.!?])\s+|(?<=[.!?][*)])\s+"


def sentences(text: str) -> list[str]:
    """Of the running text: no code, tables, headings or addresses."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "#", "!", "---"))]
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:-|\*|\d+\.) )", "\n".join(lines))
    found = [one.strip() for part in paragraphs for one in re.split(END, part.replace("\n", " "))]
    return [one for one in found if len(one.split()) > 2]


def test_sentences_are_told_apart():
    assert sentences(
        "# A b c\n\nOne two three. Four five\nsix: seven eight nine.\n\n- ten ten ten\n* a b\n| a | b |\n"
    ) == [
        "One two three.",
        "Four five six: seven eight nine.",
        "- ten ten ten",
        "* a b",
    ]


@pytest.mark.parametrize("name", READ)
def test_sentences_are_short(name):
    text = (ROOT / name).read_text()
    found = sentences(text)
    assert median(len(one.split()) for one in found) <= MEDIAN
    assert [one for one in found if len(one.split()) > LONGEST] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= LONGEST_README
