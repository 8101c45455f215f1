"""A progress bar with the time left, on stderr; in a log, lines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sharc_crawler.report.words import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

FIRST_LINE, EVERY_LINE = 2.0, 30.0  #: seconds


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Within the block, call what it yields with how much of ``total`` is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _in_lines(what, total)
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _in_lines(what: str, total: float) -> Callable[[float], None]:
    """In a log: a line after two seconds and every half minute, with the time left at the pace so far."""
    began = time.monotonic()
    due = began + FIRST_LINE

    def show(done: float) -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + EVERY_LINE
            left = f", {span((now - began) * (total - done) / done)} left" if done else ""
            click.echo(f"{what}: {done / total:.0%}{left}", err=True)

    return show


@contextmanager
def adding(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Like :func:`progress`, but called with how much more is done each time."""
    done = 0.0
    with progress(what, total) as show:

        def told(more: float) -> None:
            nonlocal done
            done += more
            show(done)

        yield told


@contextmanager
def phases() -> Iterator[Callable[[str, int, int], None]]:
    """The same for work whose phases come to light as it goes: call with the phase, what is done and of how much."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        lines: dict[str, Callable[[float], None]] = {}
        yield lambda phase, done, total: lines.setdefault(phase, _in_lines(phase, total))(done)
        return
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as bar:

        def report(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bar.add_task(phase, total=total)
            bar.update(tasks[phase], completed=done, total=total)

        yield report
