"""Options of commands that may ask a time stamp authority."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sharc_crawler import extras
from sharc_crawler.errors import UsageError
from sharc_crawler.options.sites import url as checked_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.certificate.identities import Ask

_OPTIONS = (
    click.option("--timestamp", metavar="URL", help="Time stamp authority (RFC 3161) to ask."),
    click.option("--operator", envvar="SHARC_OPERATOR", help="Your contact: URL or mail address, for the authority."),
    click.option("--allow", multiple=True, metavar="NETWORK", help="A private network that may be contacted."),
)


def may_ask(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that :func:`asking` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asking(timestamp: str | None, operator: str | None, allow: Sequence[str]) -> Ask | None:
    """Asks the authority that is named, if one is. Raises :class:`~sharc_crawler.errors.UsageError`."""
    if timestamp is None:
        return None
    extras.check("--timestamp", "rfc3161_client")
    from sharc_crawler.live.setup.operator import user_agent
    from sharc_crawler.live.wire.authority import ask

    try:
        authority = checked_url(timestamp)
    except ValueError as error:
        raise UsageError(f"--timestamp={timestamp!r} {error}") from error
    return lambda query: ask(authority, query, user_agent(operator), allow)
