"""| Payloads that captures hold and need, in a few bytes each: a collection has millions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.archive.cdxj import REVISIT, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.changes.http import parse_response
from sharc_crawler.collection.referring import taken_digests

Place = tuple[Path, int]  #: WARC file and offset
Codes = NDArray[np.int64]


class Holding:
    """The payloads that a capture holds in full, and those that it needs from others, as codes from its indexes.

    Digests may share a code, so a code only says where to look: the record there has the digest.
    """

    def __init__(self, folder: Path) -> None:
        self._files: dict[Path, int] = {}
        codes, files, offsets = array("q"), array("i"), array("q")
        held, needed = set[str](), taken_digests(folder)
        for digest, place in payloads(folder):
            if digest in held:
                continue
            if place is None:
                needed.add(digest)
            else:
                held.add(digest)
                codes.append(code(digest))
                files.append(self._files.setdefault(place[0], len(self._files)))
                offsets.append(place[1])
        order = np.argsort(np.array(codes), kind="stable")
        self.held, self._file, self._offset = (np.array(one)[order] for one in (codes, files, offsets))
        self.needed = coded(needed - held)  # digests, not codes: two may share a code

    def places(self, digest: str) -> Iterator[Place]:
        """Where a payload may lie."""
        files, wanted = list(self._files), code(digest)
        for row in range(self.held.searchsorted(wanted), self.held.searchsorted(wanted, "right")):
            yield files[self._file[row]], int(self._offset[row])


def payloads(folder: Path) -> Iterator[tuple[str, Place | None]]:
    """The payloads in a capture's indexes, and their places; None: the record only refers to one.

    Records of WARC files that are missing or too short are left out. A WARC file without an index is read itself.
    """
    warcs = list(folder.glob(f"*{SUFFIX}"))
    sizes = {warc.name: warc.stat().st_size for warc in warcs}
    unlisted = (entries(warc) for warc in warcs if not index_path(warc).exists())
    for listed in (*map(read_index, folder.glob("*.cdxj")), *unlisted):
        for entry in listed:
            if entry.digest and entry.mime == REVISIT:
                yield entry.digest, None
            elif entry.digest and entry.offset + entry.length <= sizes.get(entry.file, 0):
                yield entry.digest, (folder / entry.file, entry.offset)


def is_spare(folder: Path, holdings: Mapping[Path, Holding]) -> bool:
    """Whether no other capture needs this one, and others have intact copies of all its payloads."""
    digests = {digest for digest, place in payloads(folder) if place}
    codes, others = coded(digests), [one for other, one in holdings.items() if other != folder]
    if not np.array_equal(codes, holdings[folder].held):  # the folder is being changed
        return False
    if any(np.isin(codes, one.needed).any() for one in holdings.values()):
        return False
    if len(reduce(np.setdiff1d, (one.held for one in others), codes)):
        return False  # decided without reading records
    return all(any(is_whole(place, digest) for one in others for place in one.places(digest)) for digest in digests)


def is_whole(place: Place, digest: str) -> bool:
    """Whether the record in a place holds this payload."""
    file, offset = place
    try:
        with file.open("rb") as stream:
            record = read_at(stream, offset)
    except OSError:
        return False
    if not isinstance(record, Record) or record.get("WARC-Payload-Digest") != digest:
        return False
    message = parse_response(record.block)
    return message is not None and message.digest == digest


def code(digest: str) -> int:
    """A payload's code, of eight bytes."""
    return hash(digest)


def coded(digests: Iterable[str]) -> Codes:
    """The sorted codes of digests."""
    return np.sort(np.fromiter(map(code, digests), np.int64))
