"""Load plug-ins by entry point or dotted path. Our own are registered in the same way as third parties'."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS = f"{__package__}."  #: begins our own dotted paths
#: port name → entry point group
GROUPS = {
    "strategy": "sharc_crawler.strategies",
    "upkeep": "sharc_crawler.upkeep",
    "rates": "sharc_crawler.rates",
    "store": "sharc_crawler.stores",
    "ranker": "sharc_crawler.seeds",
    "subsites": "sharc_crawler.subsites",
    "updates": "sharc_crawler.updates",
    "detector": "sharc_crawler.changes",
    "writer": "sharc_crawler.writers",
}


@cache  # it searches all distributions, which takes a hundredth of a second
def _installed(path: tuple[str, ...]) -> dict[str, dict[str, EntryPoint]]:  # noqa: ARG001 - key of the cache
    """Return the entry points of the packages on a path, by port and name; the first of equal names wins."""
    from importlib.metadata import entry_points  # not needed for dotted paths

    found = entry_points()
    return {
        port: {point.name: point for point in reversed(tuple(found.select(group=group)))}
        for port, group in GROUPS.items()
    }


def _registered(port: str) -> dict[str, EntryPoint]:
    return _installed(tuple(sys.path))[port]


def names(port: str) -> list[str]:
    """Return the names of a port's plug-ins.

    >>> "bfs" in names("strategy")
    True
    """
    return sorted(_registered(port))


def path_of(port: str, name: str) -> str:
    """Return the dotted path of a plug-in, so that other processes need not search entry points.

    >>> path_of("detector", "content"), path_of("detector", "a.module.Detector")
    ('sharc_crawler.changes.content.ContentDetector', 'a.module.Detector')
    """
    point = _registered(port).get(name)
    return point.value.replace(":", ".") if point else name


def load(port: str, name: str) -> Any:
    """Load a port's plug-in by its entry point's name or its dotted path ``package.module.Class``.

    Raises :class:`~sharc_crawler.errors.UsageError` that names the nearest known name.
    """
    point = None if name.startswith(_OURS) else _registered(port).get(name)
    module, _, attribute = (point.value.replace(":", ".") if point else name).rpartition(".")
    if not module:
        raise unknown_name(port, name, names(port))
    try:
        found = point.load() if point else getattr(import_module(module), attribute)
    except Exception as error:  # a third party's module may raise anything
        from sharc_crawler.dotted_paths import why_not  # rare

        raise UsageError(f"{port}={name!r} cannot be imported: {why_not(module, attribute, error)}") from error
    if not callable(found):
        raise UsageError(f"{port}={name!r} is of type {type(found).__name__}, and no class or function")
    return found
