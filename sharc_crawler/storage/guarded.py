"""Guard plug-ins' stores: check their methods and answers, and name them in errors."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Container, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Phase
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.plural import counted
from sharc_crawler.state.rows import Batch, UrlRow
from sharc_crawler.state.store import FrontierStore, StoreKind

#: the types that methods return
_ANSWERS = {"load": Batch, "captures": dict, "hosts": dict, "subsites": dict, "holds": bool}
_WALKED = frozenset({"links", "urls", "outside", "exchanges"})


class _Committed:
    """What this process has committed to a store: phases of captures, and numbers of visits of pages."""

    def __init__(self) -> None:
        self._phases: dict[int, Phase] = {}
        self._visits = array("I")  # page → number of visits

    def note(self, what: str, given: tuple[Any, ...]) -> None:
        """Note a method's arguments after it has returned."""
        if what == "replace":
            self._phases, self._visits = {}, array("I")
        if what in ("commit", "replace"):
            self._phases |= {number: row.phase for number, row in given[0].captures.items()}
            for row in given[0].visits:
                self._visits.extend([0] * (row.page + 1 - len(self._visits)))
                self._visits[row.page] += 1

    def lacking(self, what: str, answer: Any) -> str:
        """What is missing in the answer of ``captures``, or in a row of ``urls``; empty: nothing."""
        if what == "captures":
            for number, phase in self._phases.items():
                if number not in answer or answer[number].phase is not phase:
                    return f"that capture {number} is {phase.value}"
        if what == "urls" and isinstance(answer, UrlRow) and answer.page.page < len(self._visits):
            lost = self._visits[answer.page.page] - len(answer.visits)
            return f"{counted(lost, 'visit')} of {answer.page.url}" if lost > 0 else ""
        return ""


class Guarded:
    """A store whose methods are guarded."""

    def __init__(self, name: str, guarded: Any) -> None:
        self._name, self._guarded = name, guarded
        self._who = f"SHARC_STORE={name!r}"
        self._committed = _Committed()

    def __getattr__(self, attribute: str) -> Any:
        """An attribute of the store; methods are wrapped."""
        found = getattr(self._guarded, attribute)
        return self._method(attribute, found) if callable(found) else found

    def _method(self, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            answer = self._tried(what, method, *args, **kwargs)
            expected = _ANSWERS.get(what)
            if expected is not None and not isinstance(answer, expected):
                raise fault(self._who, f"answered with {type(answer).__name__}, not {expected.__name__} (in {what})")
            self._committed.note(what, args)
            self._keeps(what, answer)
            return self._walked(what, self._tried(what, iter, answer)) if what in _WALKED else answer

        return called

    def _walked(self, what: str, rows: Iterator[Any]) -> Iterator[Any]:
        end, last = object(), -1
        while (row := self._tried(what, next, rows, end)) is not end:
            self._keeps(what, row)
            if isinstance(row, UrlRow):
                if row.page.page <= last:
                    raise fault(self._who, f"answered with pages in another order than they were found in (in {what})")
                last = row.page.page
            yield row

    def _keeps(self, what: str, answer: Any) -> None:
        """Raise if something committed is missing in an answer."""
        if lacking := self._committed.lacking(what, answer):
            raise fault(self._who, f"lost what was committed: {lacking} (in {what})")

    def _tried(self, what: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        asked = partial(method, *args, **kwargs)
        return tried(self._who, asked, f" (in {what})", (OSError,))  # a disk's errors are not the plug-in's fault


class GuardedKind(Guarded):
    """Makes guarded stores."""

    def __call__(self, folder: Path, *, reading: bool = False) -> Guarded:
        """Open the state in a folder."""
        return Guarded(self._name, self._tried("being made", self._guarded, folder, reading=reading))


def guarded(name: str, kind: StoreKind) -> Any:
    """The kind of store; a plug-in's is guarded."""
    return kind if getattr(kind, "__module__", "").startswith("sharc_crawler.") else GuardedKind(name, kind)


def store_of(name: str) -> StoreKind:
    """The store with an entry point's name or a dotted path.

    Raises :class:`~sharc_crawler.errors.UsageError` if it lacks a method of the port.
    """
    kind = plugins.load("store", name)
    wanted = {"holds", "set_aside"} | (_methods(FrontierStore) if isinstance(kind, type) else set())
    if missing := sorted(one for one in wanted if not callable(getattr(kind, one, None))):
        port = f"{FrontierStore.__module__}.{FrontierStore.__name__}"
        raise UsageError(f"SHARC_STORE={name!r} is no store: it lacks {', '.join(missing)} ({port} has all)")
    return cast("StoreKind", guarded(name, kind))


def store_named_in(folder: Path, name: str, trusted: Container[str]) -> StoreKind:
    """The store that a folder names.

    Raises :class:`~sharc_crawler.errors.UsageError` for a dotted path that only the folder names: importing it runs
    code, and the folder may come from anybody.
    """
    if "." in name and name not in trusted and os.environ.get("SHARC_STORE") != name:
        raise UsageError(
            f"{str(folder)!r} says that its state is kept by store {name!r}, a module that would be run: if it is"
            f" yours, set SHARC_STORE={name} (sharc: in the environment), and give the same command again"
        )
    return store_of(name)


def _methods(port: type) -> set[str]:
    return {name for base in port.__mro__ for name in vars(base) if not name.startswith("_")}
