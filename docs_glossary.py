"""Words of the glossary: each page of the site links them where it uses them first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GLOSSARY = "glossary.md"
ROW = re.compile(r"^\| ([^|\n]+?) \|(?! (?:meaning|-))", re.MULTILINE)
EVERYDAY = {
    "chance",
    "content kept",
    "cut short",
    "data",
    "finding",
    "gone",
    "look",
    "note",
    "page",
    "quiet",
    "round",
    "shell",
    "site",
    "term",
    "trust",
    "Δ",
}
#: pages that nobody reads from their beginning
APART = {"CHANGELOG.md", "api.md", "benchmarks.md", "commands.md", "hacs-evaluation.md", "results.md", "tables.md"}
#: what stays as it is: code, links, headings, tables, HTML
KEPT = re.compile(
    r"```.*?```|`[^`\n]*`|!?\[(?:[^][]|\[[^]]*\])*\](?:\([^)]*\))?|^#[^\n]*|^\|[^\n]*|^    [^\n]*|<[^>]*>",
    re.DOTALL | re.MULTILINE,
)


def words(glossary: str) -> Iterator[tuple[str, str]]:
    r"""Each word of the glossary, and the anchor of its row.

    >>> list(words("| word | meaning |\n|---|---|\n| reference instant (T) | … |\n| hot, cold | … |"))
    [('reference instant', 'reference-instant'), ('hot', 'hot'), ('cold', 'hot')]
    """
    for cell in ROW.findall(glossary):
        names = [name.partition(" (")[0] for name in cell.split(", ")]
        yield from ((name, _anchor(cell)) for name in names)


def _anchor(cell: str) -> str:
    return cell.partition(",")[0].partition(" (")[0].lower().replace(" ", "-")


def anchored(glossary: str) -> str:
    """The glossary with an anchor in each row."""
    return ROW.sub(lambda row: f'| <span id="{_anchor(row[1])}"></span>{row[1]} |', glossary)


def linked(text: str, known: Mapping[str, str]) -> str:
    r"""A page whose words lead to the glossary, each from where it stands first.

    >>> linked("# Blur\n\n`blur`: Blurs differ, hot-blur too. [A blur](x), a blur.", {"blur": "blur"})
    '# Blur\n\n`blur`: [Blurs](glossary.md#blur) differ, hot-blur too. [A blur](x), a blur.'
    """
    left = {name.lower(): name for name in known}
    listed = "|".join(map(re.escape, sorted(left, key=len, reverse=True)))
    word = re.compile(rf"(?<![\w/.-])({listed})s?(?![\w/-])", re.IGNORECASE)

    def link(found: re.Match[str]) -> str:
        name = left.pop(found[1].lower(), None)
        return f"[{found[0]}]({GLOSSARY}#{known[name]})" if name else found[0]

    pieces, end = list[str](), 0
    for kept in KEPT.finditer(text):
        pieces += [word.sub(link, text[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*pieces, word.sub(link, text[end:])])


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Called by mkdocs."""
    name = page.file.src_uri
    if name == GLOSSARY:
        return anchored(markdown)
    glossary = (Path(config["docs_dir"]) / GLOSSARY).read_text(encoding="utf-8")
    known = {word: place for word, place in words(glossary) if word not in EVERYDAY}
    return markdown if name in APART or "/" in name else linked(markdown, known)
