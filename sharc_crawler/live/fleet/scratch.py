"""Folders of a worker's own: they go with it. Those of workers that were killed go when the next one begins here."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

from sharc_crawler.archive.warc_names import lock

if TYPE_CHECKING:
    from collections.abc import Iterator

_HELD = ".held"  #: locked as long as the worker, or a process of its own, lives


@contextmanager
def own_folder(prefix: str, scratch: Path | None) -> Iterator[Path]:
    """A folder in ``scratch`` (``None``: where temporary files lie), as long as it is wanted.

    >>> with own_folder("sharc-doctest-", None) as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    _clear(prefix, scratch or Path(gettempdir()))
    with TemporaryDirectory(prefix=prefix, dir=scratch) as name:
        folder = Path(name)
        with (folder / f"{_HELD}.new").open("wb") as held:
            lock(held.fileno())
            (folder / f"{_HELD}.new").rename(folder / _HELD)  # nobody sees it before it is locked
            yield folder


def _clear(prefix: str, scratch: Path) -> None:
    """Remove what nobody holds any more."""
    if sys.platform == "win32":  # nothing is locked there
        return
    for path in scratch.glob(f"{prefix}*/{_HELD}"):
        with suppress(OSError), path.open("rb") as held:  # another user's is theirs
            if lock(held.fileno()):
                shutil.rmtree(path.parent, ignore_errors=True)
