"""Limit the WARC files that a process holds open at once: those least recently used are closed."""

from __future__ import annotations

import resource
from collections import OrderedDict
from pathlib import Path
from typing import Protocol
from weakref import ReferenceType, ref

ENOUGH = 65_536  #: descriptors; more are not needed
RESERVE = 56  #: descriptors for other files: sockets, databases, temporary files, those of libraries
MOST = 512  #: open WARC files; more are not faster


class Suspendable(Protocol):
    """A file that can close its descriptor, and reopen itself when it is used again."""

    def suspend(self) -> None:
        """Close the descriptor until it is needed again; must not raise."""


class OpenFiles:
    """The open files, at most ``most``; beyond that the least recently used one is suspended.

    >>> class File:
    ...     def __init__(self, name): self.name = name
    ...     def suspend(self): print("suspends", self.name)
    >>> open_files, (a, b, c) = OpenFiles(2), map(File, "abc")
    >>> open_files.use(a); open_files.use(b); open_files.use(a); open_files.use(c)
    suspends b
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._files: OrderedDict[int, ReferenceType[Suspendable]] = OrderedDict()

    def use(self, file: Suspendable) -> None:
        """Note that a file is open and was just used."""
        self._files[id(file)] = ref(file)
        self._files.move_to_end(id(file))
        while len(self._files) > self._most:
            if (oldest := self._files.popitem(last=False)[1]()) is not None:
                oldest.suspend()

    def drop(self, file: Suspendable) -> None:
        """Forget a file that was closed."""
        self._files.pop(id(file), None)


def limit() -> int:
    """The number of descriptors that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ENOUGH if soft == resource.RLIM_INFINITY else soft


def raise_limit() -> int:
    """Raise the soft limit to the hard one, up to :data:`ENOUGH`; returns the new limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if limit() < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def left() -> int:
    """The number of descriptors still free; the limit if the system does not tell."""
    try:
        return limit() - len(list(Path("/proc/self/fd").iterdir()))
    except OSError:
        return limit()


def share(descriptors: int) -> int:
    """How many of these descriptors may be open WARC files.

    >>> share(256), share(1_000_000), share(20)
    (200, 512, 4)
    """
    return max(4, min(MOST, descriptors - RESERVE))


here = OpenFiles(share(limit()))  #: the open files of this process
