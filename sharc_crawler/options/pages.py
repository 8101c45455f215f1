"""The table of options for readers: Markdown in the docs, plain text for ``scrapy crawl --help``.

``python -m sharc_crawler.options.pages docs/arguments.md docs/settings.md`` updates the docs; a test compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from sharc_crawler.options.kinds import Real
from sharc_crawler.options.reading import ARGUMENTS, SETTINGS, OptionRow

_MARKED = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXAMPLE = "scrapy crawl site -a url=https://www.example.org/ -a max_bytes=2G -a output=captures/example"


def written(page: str) -> str:
    """A page's text with up-to-date tables."""
    return _MARKED.sub(lambda found: found[1] + table(found[2]) + found[3], page)


def table(section: str) -> str:
    """A section of the arguments, or ``settings``, as Markdown."""
    if section == "settings":
        head = "| setting | value | what it is | default |\n|---|---|---|---|\n"
        return head + "".join(_line(name, row, _also(row)) for name, row in SETTINGS.items())
    rows = [row for row in ARGUMENTS.values() if row.section == section]
    return "| argument | value | what it is | default |\n|---|---|---|---|\n" + "".join(
        _line(row.name, row, _only(row)) for row in rows
    )


def help_text() -> str:
    """All arguments, a paragraph each, and an example."""
    return "\n".join(
        [
            "arguments of the spider site, each as -a NAME=VALUE:",
            *(_paragraph(row) for row in ARGUMENTS.values()),
            "\nexample:",
            f"  {EXAMPLE}",
            "",
        ]
    )


def default(row: OptionRow) -> str:
    """The default in words, or as it is written."""
    option = row.option
    value = option.shown or ("none" if row.default in (None, ()) else f"`{option.kind.show(row.default)}`")
    return value if option.profile is None else f"{value}; `site`: `{option.kind.show(option.profile)}`"


def _line(name: str, row: OptionRow, more: str) -> str:
    kind = row.option.kind if name != row.setting or name.startswith("SHARC_") else Real(form="seconds")
    return f"| `{name}` | {kind.form} | {row.option.help}{more} | {default(row)} |\n"


def _also(row: OptionRow) -> str:
    return f"; argument [`{row.name}=`](arguments.md)" if row.option.argument else ""


def _only(row: OptionRow) -> str:
    return f" (with `{row.option.needs.rstrip('=').replace('|', ', ')}`)" if row.option.needs else ""


def _paragraph(row: OptionRow) -> str:
    text = _plain(f"{row.option.help}{_only(row)} ({row.option.kind.form}; default: {default(row)})")
    return fill(text, 100, initial_indent=f"  {row.name:<14}", subsequent_indent=" " * 16)


def plain_text(row: OptionRow) -> str:
    """An option's help and form, as a sentence."""
    text = _plain(f"{row.option.help} ({row.option.kind.form})")
    return f"{text if row.option.help[0] == '`' else text[0].upper() + text[1:]}."


def _plain(text: str) -> str:
    text = re.sub(r" ?\((?:\[[^]]*\]\([^()]*\)(?:, )?)+\)", "", text)  # pages of the docs are not at hand here
    return re.sub(r"\[([^]]+)\]\((?:[^()]|\([^)]*\))*\)", r"\1", text).replace("`", "")


def write(paths: Iterable[Path]) -> None:
    """Update the tables of these pages."""
    for path in paths:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(map(Path, sys.argv[1:]))
