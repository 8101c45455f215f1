"""WARC files that a former owner of a site left open, sealed by copying: it may not be dead, only slow."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from sharc_crawler.archive import checkpoints
from sharc_crawler.archive.cdxj import entries, write_index
from sharc_crawler.archive.files import OPEN, SUFFIX, TAKEN, forget_drafts, sync_folder
from sharc_crawler.archive.recovery import record_ends

if TYPE_CHECKING:
    from pathlib import Path

_DRAFT = ".draft"


def seal_former(folder: Path) -> list[Path]:
    """Give every file that former owners left open its final name, with its whole records; those that were sealed.

    Nobody writes in the folder but them and the caller. What an owner that goes on all the same appends is in nobody's
    archive. A sealing that was cut off is done by the next one.
    """
    forget_drafts(folder)
    for path in folder.glob(f"*{SUFFIX}{OPEN}"):
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
