"""What people read first is written for them: short, in short sentences."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIRST_READ = (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/capturing.md", "docs/certificate.md", "docs/drop-in.md",
    "docs/security.md", "docs/tutorial.md", "docs/arguments.md", "docs/browser.md", "docs/changes.md", "docs/collection.md",
    "docs/fleet.md", "docs/install.md", "docs/observations.md", "docs/report.md", "docs/settings.md", "docs/strategies.md",
    "docs/subsites.md", "docs/temporal.md", "docs/upstream.md", "docs/warc.md",
)  # fmt: skip
LONGEST_README = 900  #: words
MEDIAN, LONGEST = 16, 40  #: words of a sentence


def sentences(text: str) -> list[str]:
    """Of the running text: no code, tables, headings or addresses."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "#", "!", "---"))]
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", "\n".join(lines))
    found = [one.strip() for part in paragraphs for one in re.split(r"(?<=[.!?:])\s+", part.replace("\n", " "))]
    return [one for one in found if len(one.split()) > 2]


def test_sentences_are_told_apart():
    assert sentences("# A b c\n\nOne two three. Four five\nsix: seven eight nine.\n\n- ten ten ten\n| a | b |\n") == [
        "One two three.",
        "Four five six:",
        "seven eight nine.",
        "- ten ten ten",
    ]


@pytest.mark.parametrize("name", FIRST_READ)
def test_sentences_are_short(name):
    lengths = {one: len(one.split()) for one in sentences((ROOT / name).read_text())}
    assert median(lengths.values()) <= MEDIAN
    assert [one for one, length in lengths.items() if length > LONGEST] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= LONGEST_README
