"""The site's pages beside docs/: README as its front page, files that documents link to, and what is made from code.

``commands.md`` has every command with its options (mkdocs-click), ``api.md`` the public modules (mkdocstrings).
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from typing import Any, cast

import click
import griffe
from mkdocs.structure.files import File, Files

from sharc_crawler.cli import COMMANDS

ROOT = Path(__file__).parent
PAGES = {
    "index.md": "README.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
#: the public modules (CONTRIBUTING.md, "Versions and releases")
PUBLIC = {
    "A strategy": ("sharc_crawler.strategies.base", "sharc_crawler.testing.strategies"),
    "A store": ("sharc_crawler.state.store", "sharc_crawler.state.rows", "sharc_crawler.testing.stores"),
    "A change detector": ("sharc_crawler.changes.base", "sharc_crawler.testing.detectors"),
    "A source of change rates": ("sharc_crawler.rates.base", "sharc_crawler.testing.rates"),
    "A ranker of seeds": ("sharc_crawler.seeds.base", "sharc_crawler.testing.rankers"),
    "What all of them speak of": ("sharc_crawler.model", "sharc_crawler.errors"),
    "For notebooks": ("sharc_crawler.lab.frames",),
}
COMMAND = """::: mkdocs-click
    :module: sharc_crawler.cli.{0}
    :command: command
    :prog_name: sharc {0}
    :depth: 1
"""
ROLE = re.compile(r":[a-z]+:`~?(?:[\w.]+\.)?(\w+)`")  #: a cross-reference as docstrings have it
EXAMPLE = re.compile(r"(?:\\b|\x08)\n\s*Examples?:\n((?:.+\n?)+)")  #: of a command's help
DOCTEST = re.compile(r"^(>>> .*(?:\n(?!\n).+)*)", re.MULTILINE)
ABOVE = re.compile(r"\]\(\.\./([^)#]+)")  #: a link from docs/ to elsewhere in the repository


def on_files(files: Files, config: Any) -> Files:
    """Add what lies outside of docs/."""
    for name, source in PAGES.items():
        text = (ROOT / source).read_text().replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    linked = {name for document in ROOT.glob("docs/*.md") for name in ABOVE.findall(document.read_text())}
    for name in sorted(linked - set(PAGES.values())):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for name, content in (("commands.md", _commands()), ("api.md", _api()), ("notebook.md", _notebook())):
        files.append(File.generated(config, name, content=content))
    return files


def _commands() -> str:
    """A page of all commands, as ``sharc NAME --help`` says them, with examples as code."""
    for name in COMMANDS:
        command = cast("click.Command", import_module(f"sharc_crawler.cli.{name}").command)
        for one in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            one.help = EXAMPLE.sub(_fenced, cleandoc(one.help or ""))
    return "# Commands\n\n" + "\n".join(COMMAND.format(name) for name in sorted(COMMANDS))


def _fenced(example: re.Match[str]) -> str:
    return f"```\n{dedent(example[1]).strip()}\n```\n\n"


class Docstrings(griffe.Extension):
    """Docstrings as Markdown: cross-references as names, doctests as code."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: D102 - griffe's
        if obj.docstring:
            text = ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = DOCTEST.sub(r"```python\n\1\n```", text)


def _api() -> str:
    """A page of all public modules."""
    parts = (f"## {title}\n\n" + "".join(f"::: {name}\n\n" for name in modules) for title, modules in PUBLIC.items())
    return "# Python modules\n\n" + "".join(parts)


def _notebook() -> str:
    """The notebook as a page: its text, and its cells as code."""
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
    page = "\n\n".join(text if kind == "markdown" else f"```python\n{text}\n```" for text, kind in texts)
    return f"{page}\n\n[The notebook itself](notebook.ipynb)\n"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links of the repository, as the site has them."""
    return ABOVE.sub(r"](\1", markdown).replace("](README.md", "](index.md")
