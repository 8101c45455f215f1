"""Ctrl-C while a tool works: it ends at once, and leaves nothing that is half made."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from benchmarks.made_capture import Maker
from sharc_crawler.cli import main
from sharc_crawler.live.monitoring.busy import busy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    Maker(made, 30, 20).make()
    assert CliRunner().invoke(main, ["report", str(made)]).exit_code == 0
    return made


@contextmanager
def somebody_stops_it(*_: object, **__: object) -> Iterator[SimpleNamespace]:
    """At the first word of how far the work is; side by side tests are run by processes that ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield SimpleNamespace(more=lambda _: os.kill(os.getpid(), signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, former)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "package"])
def test_ctrl_c_ends_it_and_nothing_half_made_is_left(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    before = sorted(path.name for path in folder.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(f"sharc_crawler.cli.{command}.busy", somebody_stops_it)
        stopped = CliRunner().invoke(main, [command, str(folder)])
    assert stopped.exit_code == 130
    assert "Aborted!" in stopped.output
    assert sorted(path.name for path in folder.iterdir()) == before
    again = CliRunner().invoke(main, ["verify", str(folder)])
    assert again.exit_code == 0, again.output


@pytest.mark.slow
def test_adding_to_a_collection_says_what_takes_long_and_stopped_leaves_nothing(folder, tmp_path, monkeypatch):
    command = ["collection", "add", str(tmp_path / "kept"), str(folder)]
    with monkeypatch.context() as patched:
        patched.setattr("sharc_crawler.cli.collection.busy", somebody_stops_it)
        stopped = CliRunner().invoke(main, command)
    assert (stopped.exit_code, list(tmp_path.iterdir())) == (130, [])
    monkeypatch.setattr(busy.__wrapped__, "__defaults__", (True, None, 0.0))
    added = CliRunner().invoke(main, command)
    assert added.exit_code == 0, added.output
    assert added.stderr.startswith("verifying … ")
    assert f"copying {folder}, and learning from it …" in added.stderr
