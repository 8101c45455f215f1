"""Options that draw: what they need, and where, is looked for before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler import extras
from sharc_crawler.cli._outputs import try_file, try_folder
from sharc_crawler.errors import UsageError

FORMS = (".png", ".svg", ".pdf")

if TYPE_CHECKING:
    from pathlib import Path

    import click


def drawn(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    """For ``callback=`` of an option that names where to draw."""
    if value is not None:
        option = parameter.opts[0]
        if option == "--picture" and value.suffix not in FORMS:
            raise UsageError(f"{option} {value} is no picture that can be drawn; end its name with {', '.join(FORMS)}")
        extras.check(option, "matplotlib")
        (try_file if option == "--picture" else try_folder)(parameter.opts[-1], value)
    return value
