"""A site's folder is taken over from a former owner, which may not be dead, only slow.

What that one writes for itself is removed, so that it can put none of it elsewhere any more. WARC files that it left
open are sealed by copying.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sharc_crawler.archive import checkpoints
from sharc_crawler.archive.cdxj import write_index
from sharc_crawler.archive.files import OPEN, SUFFIX, TAKEN, forget_drafts, sync_folder
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.owners import former, own_name
from sharc_crawler.archive.recovery import record_ends
from sharc_crawler.errors import Superseded

STAY = (SUFFIX, ".cdxj")  #: what never changes once it is there
_DRAFT = ".draft"
_GONE = ".gone"


def take_over(folder: Path, epoch: int) -> list[Path]:
    """Go on in a folder as the owner of this epoch; the files that were sealed.

    Raises :class:`~sharc_crawler.errors.Superseded` where a later one has been here.
    """
    remove_own(folder, epoch - 1)
    return seal_former(folder, epoch)


def remove_own(folder: Path, upto: int) -> None:
    """What owners up to an epoch wrote for themselves goes: at once under its name, whatever is still written there."""
    for name in former((path.name for path in folder.glob(f"{own_name(0)[:-1]}*")), upto + 1):
        path = folder / name
        if not name.endswith(_GONE):
            with suppress(FileNotFoundError):  # somebody else takes the site over, too
                path = path.rename(folder / f"{name}{_GONE}")
        shutil.rmtree(path, ignore_errors=True)


def put_in_place(ready: Path, folder: Path, check: Callable[[], None]) -> None:
    """Rename what an owner has made ready, among its own; WARC files and indexes that are there stay.

    ``check`` is called before each file, and raises where it is not to be put any more. Raises
    :class:`~sharc_crawler.errors.Superseded` where the folder was taken over.
    """
    try:
        for path in sorted(ready.iterdir()):
            to = folder / path.name
            if not (path.name.startswith(".") or (path.name.endswith(STAY) and to.exists())):
                check()
                path.replace(to)
    except FileNotFoundError as error:
        raise Superseded(f"output={str(folder)!r} was taken over by another worker") from error


def seal_former(folder: Path, epoch: int) -> list[Path]:
    """Give every file that former owners left open its final name, with its whole records; those that were sealed.

    Nobody writes in the folder but them and the caller. What an owner that goes on all the same appends is in nobody's
    archive. A sealing that was cut off is done by the next one.
    """
    names = former((path.name for path in folder.glob(f"*{SUFFIX}*")), epoch)
    forget_drafts(folder)
    for path in (folder / name for name in names if name.endswith(f"{SUFFIX}{OPEN}")):
        path.rename(path.with_name(path.name + TAKEN))
    sealed = [_sealed(path) for path in sorted(folder.glob(f"*{SUFFIX}{OPEN}{TAKEN}"))]
    return [path for path in sealed if path is not None]


def _sealed(taken: Path) -> Path | None:
    final = taken.with_name(taken.name.removesuffix(f"{OPEN}{TAKEN}"))
    draft = final.with_name(final.name + _DRAFT)
    with taken.open("rb") as source, draft.open("w+b") as copy:
        shutil.copyfileobj(source, copy)
        copy.seek(0)
        ends = list(record_ends(copy))
        copy.truncate(ends[-1] if ends else 0)
        copy.flush()
        os.fsync(copy.fileno())
    if ends:
        draft.rename(final)
        write_index(final, entries(final))
    else:
        draft.unlink()
    taken.unlink()
    checkpoints.forget(final)
    sync_folder(folder=taken.parent)
    return final if ends else None
