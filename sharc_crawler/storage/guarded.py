"""A store of somebody else, as the crawl sees it: what it raises or answers badly is said to be its own fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import DataError, SharcError
from sharc_crawler.frontier.rows import Batch

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

    def __getattr__(self, attribute: str) -> Any:
        """What it has of this name; methods are guarded as they are called."""
        found = getattr(self._guarded, attribute)
        return self._method(attribute, found) if callable(found) else found

    def _method(self, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            answer = self._tried(what, method, *args, **kwargs)
            expected = _ANSWERS.get(what)
            if expected is not None and not isinstance(answer, expected):
                raise self._fault(what, f"answered with {type(answer).__name__}, not {expected.__name__}")
            return self._walked(what, self._tried(what, iter, answer)) if what in _WALKED else answer

        return called

    def _walked(self, what: str, rows: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (row := self._tried(what, next, rows, end)) is not end:
            yield row

    def _tried(self, what: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except (SharcError, OSError):  # as the port has it; what a disk says is said as of any
            raise
        except (Exception, SystemExit) as error:
            raise self._fault(what, f"raised {type(error).__name__}: {error}") from error

    def _fault(self, what: str, how: str) -> DataError:
        return DataError(f"SHARC_STORE={self._name!r} {how} (in {what}). That is a fault of this plug-in")


class GuardedKind(Guarded):
    """What makes a guarded store."""

    def __call__(self, folder: Path, *, reading: bool = False) -> Guarded:
        """The state in a folder."""
        return Guarded(self._name, self._tried("being made", self._guarded, folder, reading=reading))


def guarded(name: str, kind: StoreKind) -> Any:
    """The same kind of store; ours need no guard."""
    return kind if getattr(kind, "__module__", "").startswith("sharc_crawler.") else GuardedKind(name, kind)
