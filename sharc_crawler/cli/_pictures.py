"""Options that draw: what they need is looked for before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler import extras

if TYPE_CHECKING:
    from pathlib import Path

    import click


def drawn(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    """For ``callback=`` of an option that names where to draw."""
    if value is not None:
        extras.check(parameter.opts[0], "matplotlib")
    return value
