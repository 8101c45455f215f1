"""Take a site's folder over from a former owner, which may still be alive, only slow.

The former owner's own folder is removed, so that it cannot move files from there any more. WARC files that it left open
are finished in a copy.
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

STAY = (SUFFIX, ".cdxj")  #: files that never change once they are there
_DRAFT = ".draft"
_GONE = ".gone"


def take_over(folder: Path, epoch: int) -> list[Path]:
    """Become the owner of a folder with this epoch; returns the files that were sealed.

    Raises :class:`~sharc_crawler.errors.Superseded` if there is a later owner.
    """
    remove_own(folder, epoch - 1)
    return seal_former(folder, epoch)


def remove_own(folder: Path, upto: int) -> None:
    """Remove the own folders of owners up to an epoch. Renaming first makes them unusable even if still written to."""
    for name in former((path.name for path in folder.glob(f"{own_name(0)[:-1]}*")), upto + 1):
        path = folder / name
        if not name.endswith(_GONE):
            with suppress(FileNotFoundError):  # another process takes the site over, too
                path = path.rename(folder / f"{name}{_GONE}")
        shutil.rmtree(path, ignore_errors=True)


def put_in_place(ready: Path, folder: Path, check: Callable[[], None]) -> None:
    """Move the files that an owner has prepared to their places; existing WARC files and indexes stay.

    ``check`` is called before each file, and raises to stop. Raises :class:`~sharc_crawler.errors.Superseded` if the
    folder was taken over.
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
    """Finish every file that former owners left open, with its whole records; returns the finished files.

    Only former owners and the caller may write to the folder. Whatever a former owner still appends is lost. An
    interrupted sealing is completed by the next one.
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
