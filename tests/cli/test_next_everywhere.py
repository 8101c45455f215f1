"""Each command, however deep, ends with what one would do next; those that do not are named here, and why."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

SAYS = {"say_next", "say_again"}
NO_NEXT = {
    "log": "lines for other programs",
    "replay": "serves until Ctrl-C, and names the addresses to look at",
    "fleet metrics": "serves until Ctrl-C",
    "start": "the next command is its answer, on stdout",
}


def leaves(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for short in group.list_commands(context):
        command = group.get_command(context, short)
        if isinstance(command, click.Group):
            yield from leaves(command, f"{name}{short} ")
        else:
            yield f"{name}{short}", command


COMMANDS = dict(leaves(main))


def says_next(function: FunctionType, seen: set[FunctionType]) -> bool:
    """Does it, or one of ours that it calls, say what comes next?"""
    seen.add(function)
    names = set(function.__code__.co_names)
    called = [function.__globals__.get(name) for name in names]
    ours = [one for one in called if isinstance(one, FunctionType) and one.__module__.startswith("sharc_crawler.cli")]
    return bool(names & SAYS) or any(says_next(one, seen) for one in ours if one not in seen)


def test_all_commands_are_found() -> None:
    assert len(COMMANDS) > 35
    assert COMMANDS.keys() >= NO_NEXT.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_comes_next(name: str) -> None:
    assert COMMANDS[name].callback is not None
    function = inspect.unwrap(COMMANDS[name].callback)
    assert says_next(function, set()) == (name not in NO_NEXT), "or say in NO_NEXT why it does not"


@pytest.mark.parametrize(
    ("words", "next_words"),
    [
        (("init", "sqlite:f.db"), "sharc fleet add sqlite:f.db seeds.txt"),
        (
            ("add", "sqlite:f.db", "seeds.txt"),
            "sharc fleet work sqlite:f.db --output captures -s SHARC_OPERATOR=CONTACT",
        ),
        (("pause", "sqlite:f.db"), "sharc fleet resume sqlite:f.db"),
        (("status", "sqlite:f.db", "--once"), "sharc watch sqlite:f.db --web"),
    ],
)
def test_what_a_fleet_is_told_next(words, next_words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    CliRunner().invoke(main, ["fleet", "init", "sqlite:f.db"])
    done = CliRunner().invoke(main, ["fleet", *words])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"Next: {next_words}"
    assert "Next:" not in CliRunner().invoke(main, ["fleet", "init", "sqlite:f.db", "--json"]).output
