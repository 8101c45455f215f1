"""Plug-ins by name: entry points, or a dotted path. Our own are registered the way anybody's are."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from sharc_crawler.errors import UsageError, unknown_name

#: port name → entry point group
GROUPS = {
    "strategy": "sharc_crawler.strategies",
    "rates": "sharc_crawler.rates",
    "store": "sharc_crawler.stores",
    "ranker": "sharc_crawler.seeds",
    "subsites": "sharc_crawler.subsites",
    "updates": "sharc_crawler.updates",
    "detector": "sharc_crawler.changes",
    "writer": "sharc_crawler.writers",
}


def names(port: str) -> list[str]:
    """The names that plug-ins of a port are known by.

    >>> "bfs" in names("strategy")
    True
    """
    return sorted({point.name for point in entry_points(group=GROUPS[port])})


def load(port: str, name: str) -> Any:
    """The plug-in of a port by its entry point's name or by its dotted path ``package.module.Class``.

    Raises :class:`~sharc_crawler.errors.UsageError` that names the nearest known name.
    """
    for point in entry_points(group=GROUPS[port]):
        if point.name == name:
            return point.load()
    module, _, attribute = name.rpartition(".")
    if not module:
        raise unknown_name(port, name, names(port))
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{port}={name!r} cannot be imported: {error}") from error
