"""Distinguish a site's owners in its folder: each writes files whose names contain its epoch.

Each new owner's epoch is one higher. A late owner cannot be kept from writing files of its epoch. But it moves them to
other names only from its own folder, which the next owner removes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sharc_crawler.errors import Superseded

MARK = "owner"
_EPOCH = re.compile(r"\.epoch-(\d+)")


def own_name(epoch: int) -> str:
    """The name of the folder in which an owner of this epoch prepares files."""
    return f".epoch-{epoch}"


def epoch_of(name: str) -> int | None:
    """The epoch in the name of a file or of an owner's folder; ``None``: it has none.

    >>> epoch_of("a.example-20261118110640-00000-round-1.epoch-0007.warc.gz"), epoch_of(".epoch-12/report.html")
    (7, 12)
    >>> epoch_of("report.html") is None
    True
    """
    last = name.rpartition("/")[2] if not name.startswith(".") else name.partition("/")[0]
    found = _EPOCH.findall(last)
    return int(found[-1]) if found else None


def mark_of(epoch: int) -> str:
    """The name of the object that exists while a site is this owner's; the next owner removes it first.

    >>> mark_of(7)
    '.epoch-7/owner'
    """
    return f"{own_name(epoch)}/{MARK}"


def check_own(path: Path) -> None:
    """Raise :class:`~sharc_crawler.errors.Superseded` for a file begun after its site was taken over."""
    epoch = epoch_of(path.name)
    if epoch is not None and not (path.parent / own_name(epoch)).is_dir():
        raise Superseded(f"{path} is of epoch {epoch} of its site, which is over")


def former(names: Iterable[str], epoch: int) -> list[str]:
    """The files of former owners, or without epoch; raises :class:`~sharc_crawler.errors.Superseded` for a later one's.

    >>> former(["a.epoch-0001.warc.gz", "a.epoch-0002.warc.gz", "report.html"], 2)
    ['a.epoch-0001.warc.gz', 'report.html']
    """
    found = []
    for name in names:
        own = epoch_of(name)
        if own is not None and own > epoch:
            raise Superseded(f"{name} is of a later owner than epoch {epoch}")
        if own != epoch:
            found.append(name)
    return found
