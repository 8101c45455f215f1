"""Stores of other people: looked through before a crawl trusts its state to one, and guarded while it does."""

from __future__ import annotations

from typing import cast

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.store import FrontierStore, StoreKind
from sharc_crawler.storage.guarded import guarded


def store_of(name: str) -> StoreKind:
    """The store of an entry point's name or a dotted path.

    Raises :class:`~sharc_crawler.errors.UsageError` where it lacks a method of the port.
    """
    kind = plugins.load("store", name)
    wanted = {"holds", "set_aside"} | (_methods(FrontierStore) if isinstance(kind, type) else set())
    if missing := sorted(one for one in wanted if not callable(getattr(kind, one, None))):
        port = f"{FrontierStore.__module__}.{FrontierStore.__name__}"
        raise UsageError(f"SHARC_STORE={name!r} is no store: it lacks {', '.join(missing)} ({port} has all)")
    return cast("StoreKind", guarded(name, kind))


def _methods(port: type) -> set[str]:
    return {name for base in port.__mro__ for name in vars(base) if not name.startswith("_")}
