"""Options of commands that are rows of the table of options, too: how they are read and what they are is said there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from sharc_crawler.options.pages import plain_text
from sharc_crawler.options.reading import ROWS, checked

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any]")
_BY_NAME = {row.name: row for row in ROWS}


def row(name: str, help: str = "", **more: Any) -> Callable[[Command], Command]:  # noqa: A002 - as click's
    """An option ``--name``; what is given here is another one for this command than the row's."""
    found = _BY_NAME[name]
    default = more.pop("default", found.default)

    def read(_: click.Context, parameter: click.Parameter, value: object) -> Any:
        return value if value == default else checked(found.option.kind, parameter.opts[0], value)

    more = {"default": default, "show_default": bool(default), "metavar": name.upper()} | more
    return click.option(f"--{name}", type=click.UNPROCESSED, callback=read, help=help or plain_text(found), **more)
