"""Check the WARC files of a capture that is resumed, and mend damaged ones, whose originals are kept.

This finds whatever was deleted, cut off or overwritten since the capture was interrupted.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sharc_crawler.archive.cdxj import write_index
from sharc_crawler.archive.checkpoints import NOTHING, remembered, vouched_for
from sharc_crawler.archive.files import SUFFIX, sync_folder
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.recovery import finish
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.instants import iso
from sharc_crawler.model import Instant

Place = tuple[str, int]  #: file and offset

DAMAGED = ".damaged"  #: appended to the name of the damaged original
_MENDING = ".mending"
_ANSWERS = ("response", "revisit")


class WholeRecord(NamedTuple):
    """A whole record, and the records it is related to."""

    offset: int
    length: int
    kind: str  #: WARC-Type
    digest: str | None  #: WARC-Payload-Digest
    name: str  #: WARC-Record-ID
    moment: tuple[str | None, str | None]  #: WARC-Target-URI, WARC-Date
    main: str | None  #: WARC-Concurrent-To
    refers: tuple[str | None, str | None] | None  #: the moment that a revisit record refers to


@dataclass(frozen=True, slots=True)
class Stock:
    """The usable records of a folder."""

    held: dict[str, dict[int, WholeRecord]] = field(default_factory=dict)  #: file → offset before mending → record
    mended: dict[str, int] = field(default_factory=dict)  #: file → bytes that were removed

    def at(self, file: str, offset: int) -> WholeRecord | None:
        """The record at this place, or that was there before its file was mended."""
        return self.held.get(file, {}).get(offset)


def is_sound(
    folder: Path, stated: Mapping[Place, str | None], progress: Callable[[int, int], None] = lambda _, __: None
) -> bool:
    """Do the WARC files consist of whole records only, with one at every stated place?

    ``stated``: place → payload digest (None: not known). Files left open by a crash are finished first. ``progress`` is
    given the bytes read so far, and all. Raises OSError.
    """
    noted = {found.path.name: found.noted for found in finish(folder)}
    places: defaultdict[str, dict[int, str | None]] = defaultdict(dict)
    for (file, offset), digest in stated.items():
        places[file][offset] = digest
    known, found, read = remembered(folder), 0, 0
    total = sum(path.stat().st_size for path in _files(folder))
    for path in _files(folder):
        further = partial(_further, progress, read, total)
        with path.open("rb") as stream:
            end = noted.get(path.name) or vouched_for(stream, known.get(path.name, NOTHING), further)
            there = _borne_out(stream, end, places[path.name], further)
        if there is None:
            return False
        found += there
        read += path.stat().st_size
    return found == len(stated)


def _further(progress: Callable[[int, int], None], before: int, total: int, read: int) -> None:
    progress(before + read, total)


def _borne_out(
    stream: BinaryIO, end: int, stated: Mapping[int, str | None], progress: Callable[[int], None]
) -> int | None:
    """How many records of a file lie at their stated places; ``None``: the file has more than whole records.

    Up to ``end`` it is confirmed by a checkpoint, so the stated places there count without being read.
    """
    found = sum(offset < end for offset in stated)
    for record in records(stream, end):
        if not isinstance(record, Record) or record.offset != end:
            return None
        end = record.end
        progress(end)
        if record.offset in stated:
            found += fits(record.get("WARC-Payload-Digest"), stated[record.offset])
    return found if end == os.fstat(stream.fileno()).st_size else None


def fits(digest: str | None, stated: str | None) -> bool:
    """Are a record's payload digest and the stated one compatible?"""
    return digest is None or stated is None or digest == stated


def take_stock(folder: Path, since: Instant) -> Stock:
    """Read all WARC files, and mend those with unusable records. Raises OSError.

    An answer is unusable without its request, a request without its answer, and a revisit record without the payload it
    refers to. Payloads older than ``since`` lie in former captures.
    """
    for index in folder.glob("*.cdxj"):  # missing indexes are written later
        index.unlink()
    found = _once({path: list(_read(path)) for path in _files(folder)})
    torn = {path for path, some in found.items() if sum(one.length for one in some) < path.stat().st_size}
    useful = _useful(found, torn, iso(since))
    stock = Stock()
    left = {path: [one for one in some if one.name in useful] for path, some in found.items()}
    for path, whole in left.items():
        taken = path.stat().st_size - sum(one.length for one in whole)
        if taken or not whole:
            stock.mended[path.name] = taken
            # the original of a file that is lost as a whole gets the name of one that stays, so it is no stray file
            bare = path.with_name(path.name.removesuffix(SUFFIX))
            stays = path if whole else next((other for other, some in left.items() if some), bare)
            stock.held[path.name] = _mend(path, whole, _aside(stays))
        else:
            stock.held[path.name] = {one.offset: one for one in whole}
    return stock


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def _once(found: dict[Path, list[WholeRecord]]) -> dict[Path, list[WholeRecord]]:
    """Keep only the first copy of a record that is in several files, as when a file was copied over another."""
    owners = {one.name: path for path in reversed(found) for one in found[path]}
    return {path: [one for one in some if owners[one.name] == path] for path, some in found.items()}


def _read(path: Path) -> Iterator[WholeRecord]:
    with path.open("rb") as stream:
        for one in records(stream):
            if isinstance(one, Record):
                yield _held(one, path.name)


def _held(one: Record, file: str) -> WholeRecord:
    refers = one.get("WARC-Refers-To-Target-URI"), one.get("WARC-Refers-To-Date")
    return WholeRecord(
        one.offset,
        one.length,
        one.kind,
        one.get("WARC-Payload-Digest"),
        one.get("WARC-Record-ID") or f"{file} {one.offset}",
        (one.get("WARC-Target-URI"), one.get("WARC-Date")),
        one.get("WARC-Concurrent-To"),
        refers if one.kind == "revisit" else None,
    )


def _useful(found: Mapping[Path, Iterable[WholeRecord]], torn: set[Path], since: str) -> set[str]:
    """The ids of usable records."""
    every = [one for some in found.values() for one in some]
    asked = {one.main for one in every if one.kind == "request"}
    orphans = {one.name for path in torn for one in found[path] if one.kind in _ANSWERS and one.name not in asked}
    payloads = {one.moment for one in every if one.kind == "response" and one.name not in orphans}
    mains = {
        one.name
        for one in every
        if one.main is None and one.name not in orphans and (not one.refers or _is_held(one.refers, payloads, since))
    }
    return mains | {one.name for one in every if one.main in mains}


def _is_held(moment: tuple[str | None, str | None], payloads: set[tuple[str | None, str | None]], since: str) -> bool:
    return moment in payloads or (moment[1] or "") < since


def _mend(path: Path, whole: list[WholeRecord], aside: Path) -> dict[int, WholeRecord]:
    """Replace a file by one with these records only; returns old offset → record with its new offset."""
    moved, size, draft = dict[int, WholeRecord](), 0, path.with_name(path.name + _MENDING)
    with path.open("rb") as stream, draft.open("wb") as out:
        for one in whole:
            stream.seek(one.offset)
            out.write(stream.read(one.length))
            moved[one.offset] = one._replace(offset=size)
            size += one.length
        out.flush()
        os.fsync(out.fileno())
    if path.stat().st_size:
        path.rename(aside)
    else:
        path.unlink()
    index_path(path).unlink(missing_ok=True)
    if whole:
        draft.rename(path)
        write_index(path, entries(path))
    else:
        draft.unlink()
    sync_folder(path.parent)
    return moved


def _aside(path: Path) -> Path:
    """An unused name for the damaged original."""
    aside, number = path.with_name(path.name + DAMAGED), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}{DAMAGED}-{number}")
    return aside
