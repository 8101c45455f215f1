"""Stores of other people: looked through before a crawl trusts its state to one; what one then does is its fault."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.faults import fault, tried
from sharc_crawler.frontier.rows import Batch
from sharc_crawler.frontier.store import FrontierStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sharc_crawler.frontier.store import StoreKind

#: what methods answer with; others with nothing
_ANSWERS = {"load": Batch, "captures": dict, "hosts": dict, "subsites": dict, "holds": bool}
_WALKED = frozenset({"links", "urls", "outside", "exchanges"})


class Guarded:
    """A store, or what makes one, each of whose methods is guarded."""

    def __init__(self, name: str, guarded: Any) -> None:
        self._name, self._guarded = name, guarded
        self._who = f"SHARC_STORE={name!r}"

    def __getattr__(self, attribute: str) -> Any:
        """What it has of this name; methods are guarded as they are called."""
        found = getattr(self._guarded, attribute)
        return self._method(attribute, found) if callable(found) else found

    def _method(self, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            answer = self._tried(what, method, *args, **kwargs)
            expected = _ANSWERS.get(what)
            if expected is not None and not isinstance(answer, expected):
                raise fault(self._who, f"answered with {type(answer).__name__}, not {expected.__name__} (in {what})")
            return self._walked(what, self._tried(what, iter, answer)) if what in _WALKED else answer

        return called

    def _walked(self, what: str, rows: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (row := self._tried(what, next, rows, end)) is not end:
            yield row

    def _tried(self, what: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        asked = partial(method, *args, **kwargs)
        return tried(self._who, asked, f" (in {what})", (OSError,))  # what a disk says is said as of any


class GuardedKind(Guarded):
    """What makes a guarded store."""

    def __call__(self, folder: Path, *, reading: bool = False) -> Guarded:
        """The state in a folder."""
        return Guarded(self._name, self._tried("being made", self._guarded, folder, reading=reading))


def guarded(name: str, kind: StoreKind) -> Any:
    """The kind of store, guarded where it is a plug-in's; ours need no guard."""
    return kind if getattr(kind, "__module__", "").startswith("sharc_crawler.") else GuardedKind(name, kind)


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
