"""| Options of commands that are rows of the table of options: the table says how they are read, and their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sharc_crawler.options.pages import plain_text
from sharc_crawler.options.reading import ROWS, checked

if TYPE_CHECKING:
    from sharc_crawler.certificate.identities import Ask

Command = TypeVar("Command", bound="Callable[..., Any]")
_BY_NAME = {row.name: row for row in ROWS}


def row(name: str, help: str = "", **more: Any) -> Callable[[Command], Command]:  # noqa: A002 - as click's
    """An option ``--name``; ``help`` and ``more`` override the row for this command."""
    found = _BY_NAME[name]
    default = more.pop("default", found.default)

    def read(_: click.Context, parameter: click.Parameter, value: object) -> Any:
        return value if value == default else checked(found.option.kind, parameter.opts[0], value)

    more = {"default": default, "show_default": bool(default), "metavar": name.upper()} | more
    return click.option(f"--{name}", type=click.UNPROCESSED, callback=read, help=help or plain_text(found), **more)


def asks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who asks, and which private networks may be asked."""
    allow = click.option("--allow", multiple=True, metavar="NETWORK", help="A private network that may be contacted.")
    return row("operator", envvar="SHARC_OPERATOR")(allow(command))


def may_ask(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that :func:`asking` takes."""
    return row("timestamp", metavar="URL")(asks(command))


def asking(timestamp: str | None, operator: str | None, allow: Sequence[str]) -> Ask | None:
    """Asks the named time stamp authority; ``None``: none is named."""
    if timestamp is None:
        return None
    from sharc_crawler.live.setup.operator import user_agent
    from sharc_crawler.live.wire.authority import ask

    return lambda query: ask(timestamp, query, user_agent(operator), allow)
