"""Options of commands that ask others: an archive, a time stamp authority."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sharc_crawler.cli._from_table import row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.certificate.identities import Ask


def asks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Who asks, and whom else than the public web."""
    allow = click.option("--allow", multiple=True, metavar="NETWORK", help="A private network that may be contacted.")
    return row("operator", envvar="SHARC_OPERATOR")(allow(command))


def may_ask(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that :func:`asking` takes."""
    return row("timestamp", metavar="URL")(asks(command))


def asking(timestamp: str | None, operator: str | None, allow: Sequence[str]) -> Ask | None:
    """Asks the authority that is named, if one is."""
    if timestamp is None:
        return None
    from sharc_crawler.live.setup.operator import user_agent
    from sharc_crawler.live.wire.authority import ask

    return lambda query: ask(timestamp, query, user_agent(operator), allow)
