"""What holds for every command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest
from click.testing import CliRunner

from sharc_crawler import __version__, cli
from sharc_crawler.cli import COMMANDS, main
from sharc_crawler.cli import demo as any_module
from sharc_crawler.errors import DataError, SharcError, UsageError


def test_help_lists_every_command() -> None:
    answer = CliRunner().invoke(main, ["--help"])
    assert answer.exit_code == 0
    for name, what in COMMANDS.items():
        assert f"  {name} " in answer.output
        assert what.split()[0] in answer.output


def test_commands_and_modules_are_the_same() -> None:
    modules = {name for _, name, _ in iter_modules(cli.__path__) if not name.startswith("_")}
    assert modules == {*COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name: str) -> None:
    answer = CliRunner().invoke(main, [name, "--help"])
    assert answer.exit_code == 0
    assert "Example" in answer.output
    assert f"sharc {name}" in answer.output
    assert "\\b" not in answer.output


def every(command: click.Command, *names: str) -> Iterator[tuple[list[str], click.Command]]:
    yield [*names], command
    if isinstance(command, click.Group):
        for name in command.list_commands(context := click.Context(command)):
            yield from every(command.get_command(context, name), *names, name)


@pytest.mark.slow
def test_examples_can_be_typed_as_they_stand() -> None:
    for names, command in every(main):
        told = (command.epilog or "").removeprefix("\b\n").removeprefix("Example:")
        shown = CliRunner().invoke(main, [*names, "--help"]).output.splitlines()
        for line in filter(None, map(str.strip, told.splitlines())):
            assert [one for one in shown if one.endswith(f" {line}")], (names, line)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sharc_crawler.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=280)
    imported = set(done.stdout.splitlines()[-1].split())
    assert "sharc_crawler.cli" in imported
    assert not imported & {"numpy", "scipy", "scrapy", "twisted", "matplotlib", "rich"}


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"sharc, version {__version__}\n"


def test_an_unknown_command_is_told_the_nearest() -> None:
    answer = CliRunner().invoke(main, ["dmeo"])
    assert answer.exit_code == 2
    assert "sharc: error: command='dmeo' is not known; did you mean 'demo'?" in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize(("error", "code"), [(UsageError, 2), (DataError, 3), (SharcError, 1)])
def test_an_error_is_said_and_ends_with_its_code(
    monkeypatch: pytest.MonkeyPatch, error: type[SharcError], code: int
) -> None:
    @click.command()
    def fails() -> None:
        raise error("file='x' is not there")

    monkeypatch.setattr(any_module, "command", fails)
    answer = CliRunner().invoke(main, ["demo"])
    assert answer.exit_code == code
    assert answer.stderr == "sharc: error: file='x' is not there\n"


def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @click.command()
    def fails() -> None:
        (tmp_path / "nowhere" / "out").write_text("")

    monkeypatch.setattr(any_module, "command", fails)
    answer = CliRunner().invoke(main, ["demo"])
    assert answer.exit_code == 2
    assert answer.stderr == f"sharc: error: '{tmp_path}/nowhere/out': No such file or directory\n"


def test_a_path_that_is_too_long_is_told_as_one_that_is_not_there() -> None:
    answer = CliRunner().invoke(main, ["log", "/" + "x/" * 3000])
    assert answer.exit_code == 2, answer.exception
    assert "does not exist" in answer.output


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_help_that_cannot_be_written_is_no_traceback() -> None:
    for words in (["--help"], ["log", "--help"]):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-c", "from sharc_crawler.cli import main; main()", *words]
            done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert "No space left on device" in done.stderr


def test_a_setting_of_crawls_is_told_what_it_is_here(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["seal", str(tmp_path), "-s", "SHARC_OPERATOR=a@b.example"])
    assert answer.exit_code == 2
    assert "Give --operator CONTACT here" in answer.stderr


def test_an_error_that_nobody_meant_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def fails() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(any_module, "command", fails)
    assert isinstance(CliRunner().invoke(main, ["demo"]).exception, ZeroDivisionError)


@pytest.mark.parametrize("name", ["verify", "report", "package", "confirm", "log", "masks", "diff"])
def test_a_folder_without_a_capture_is_one_fault_with_one_code(name: str, tmp_path: Path) -> None:
    (tmp_path / "monday").mkdir()
    folders = [str(tmp_path)] * (2 if name == "diff" else 1)
    answer = CliRunner().invoke(main, [name, *folders])
    assert (answer.exit_code, "holds no capture" in answer.stderr) == (UsageError.exit_code, True), answer.stderr
    missing = CliRunner().invoke(main, [name, *(f"{folder}/nowhere" for folder in folders)])
    assert missing.exit_code == UsageError.exit_code
    misspelt = CliRunner().invoke(main, [name, *(f"{folder}/mondey" for folder in folders)])
    assert f"does not exist. Did you mean '{tmp_path / 'monday'}'?" in " ".join(misspelt.stderr.split())


@pytest.mark.parametrize(
    ("words", "missing"), [("rates show news", "option '--history'"), ("rates news", "option '--history'"),
                           ("verify", "argument 'CAPTURE'"), ("package", "argument 'FOLDER'")]
)  # fmt: skip
def test_what_is_missing_is_named(words: str, missing: str) -> None:
    answer = CliRunner().invoke(main, words.split())
    assert (answer.exit_code, answer.output.splitlines()[-1]) == (2, f"Error: Missing {missing}.")
