"""What tells a site's owners apart in its folder: each writes under names that bear its epoch.

An epoch is one more with each owner. One that is late cannot be kept from writing such names. What it would put
elsewhere it puts there from one of them, which whoever takes the site over removes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sharc_crawler.errors import Superseded

MARK = "owner"
_EPOCH = re.compile(r"\.epoch-(\d+)")


def own_name(epoch: int) -> str:
    """The name of the folder of what only an owner of this epoch writes, until the site is done."""
    return f".epoch-{epoch}"


def epoch_of(name: str) -> int | None:
    """The epoch in the name of a file, or of what lies in an owner's folder; ``None``: it bears none.

    >>> epoch_of("a.example-20261118110640-00000-round-1.epoch-0007.warc.gz"), epoch_of(".epoch-12/report.html")
    (7, 12)
    >>> epoch_of("report.html") is None
    True
    """
    last = name.rpartition("/")[2] if not name.startswith(".") else name.partition("/")[0]
    found = _EPOCH.findall(last)
    return int(found[-1]) if found else None


def mark_of(epoch: int) -> str:
    """The name of the mark in an object store while a site is this owner's; whoever takes over removes it first.

    >>> mark_of(7)
    '.epoch-7/owner'
    """
    return f"{own_name(epoch)}/{MARK}"


def check_own(path: Path) -> None:
    """Raise :class:`~sharc_crawler.errors.Superseded` for a file that its owner began after its site was taken over."""
    epoch = epoch_of(path.name)
    if epoch is not None and not (path.parent / own_name(epoch)).is_dir():
        raise Superseded(f"{path} is of epoch {epoch} of its site, which is over")


def former(names: Iterable[str], epoch: int) -> list[str]:
    """Files of former owners, or of nobody known; raises :class:`~sharc_crawler.errors.Superseded` for a later one's.

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
