"""How many WARC files a process holds open at once: of many sites' files those that were written to last."""

from __future__ import annotations

import resource
from collections import OrderedDict
from pathlib import Path
from typing import Protocol
from weakref import ReferenceType, ref

ENOUGH = 65_536  #: nothing here can use more
RESERVE = 56  #: descriptors that are no WARC file: sockets, databases, temporary files, what libraries open
MOST = 512  #: more make nothing faster


class Suspendable(Protocol):
    """A file that can let go of its descriptor, and have another one when it is used again."""

    def suspend(self) -> None:
        """Close what is open until it is needed again; raises nothing."""


class OpenFiles:
    """The files in use, at most so many; the one that was not used for longest is suspended for another.

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
        """The file is open, and was just used."""
        self._files[id(file)] = ref(file)
        self._files.move_to_end(id(file))
        while len(self._files) > self._most:
            if (oldest := self._files.popitem(last=False)[1]()) is not None:
                oldest.suspend()

    def drop(self, file: Suspendable) -> None:
        """Forget a file that was closed."""
        self._files.pop(id(file), None)


def limit() -> int:
    """Descriptors that this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ENOUGH if soft == resource.RLIM_INFINITY else soft


def raise_limit() -> int:
    """Raise the soft limit to the hard one, as far as anything here can use it; what it is now."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if limit() < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def left() -> int:
    """Descriptors that this process may still have; where the system does not tell what it has, all."""
    try:
        return limit() - len(list(Path("/proc/self/fd").iterdir()))
    except OSError:
        return limit()


def share(descriptors: int) -> int:
    """How many of so many descriptors may be open WARC files.

    >>> share(256), share(1_000_000), share(20)
    (200, 512, 4)
    """
    return max(4, min(MOST, descriptors - RESERVE))


here = OpenFiles(share(limit()))  #: this process's
