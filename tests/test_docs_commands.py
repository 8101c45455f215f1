"""The commands that the documents show, beside what `--help` says of them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from sharc_crawler.cli import COMMANDS, main
from sharc_crawler.options.reading import ARGUMENTS, SETTINGS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("examples/*/README.md"))]
COMMAND = re.compile(rf"(?:^|[`$\s(])sharc ((?:{'|'.join(COMMANDS)})\b[^`\n|#]*)", re.MULTILINE)
OPTION = re.compile(r"(?<=\s)(?:--[a-z][a-z-]*|-[a-z])(?=[\s=,.)]|$)")
OTHERS = {"--nolog", "--no-fence"}  #: of Scrapy's, and the other half of `--fence`


def told(path):
    """A document's text, in which a command is a line."""
    return re.sub(r"\\\n\s*", " ", path.read_text())


def options(command):
    return {"--help"} | {name for one in command.params for name in (*one.opts, *one.secondary_opts)}


def called(line):
    """The command that a line calls."""
    command = main
    for word in line.split():
        if not isinstance(command, click.Group):
            break
        context = click.Context(command)
        if word not in command.list_commands(context):
            break
        command = command.get_command(context, word)
    if isinstance(command, click.Group) and "show" in command.list_commands(click.Context(command)):
        return command.get_command(click.Context(command), "show")  # sharc rates SITE is short for it
    return command


def every(command):
    """All options of a command, and of those below it."""
    found = options(command)
    if isinstance(command, click.Group):
        context = click.Context(command)
        found = found.union(*(every(command.get_command(context, name)) for name in command.list_commands(context)))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_have_the_options_that_the_documents_give_them(path):
    lines = COMMAND.findall(told(path))
    wrong = [(line, one) for line in lines for one in OPTION.findall(line) if one not in options(called(line))]
    assert wrong == []


def test_options_that_stand_by_themselves_are_some_commands_or_a_benchmarks():
    benchmarks = "".join(path.read_text() for path in (ROOT / "benchmarks").rglob("*.py"))
    known = every(main) | OTHERS | set(re.findall(r"[\"'](--[a-z][a-z-]*)", benchmarks))
    assert {"--world", "--truth"} <= known
    for path in PAGES:
        named = set(re.findall(r"`(--[a-z][a-z-]*)", path.read_text()))
        assert named <= known, path.name


def test_arguments_and_settings_that_the_documents_give_exist():
    for path in PAGES:
        site = "\n".join(line for line in told(path).splitlines() if "crawl pages" not in line)  # a spider of its own
        assert set(re.findall(r"-a ([a-z_]+)=", site)) - {"name"} <= set(ARGUMENTS), path.name
        assert set(re.findall(r"-s (SHARC_[A-Z_]+)", told(path))) <= set(SETTINGS), path.name
