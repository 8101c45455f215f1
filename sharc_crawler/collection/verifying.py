"""All certificates of a collection, proved: each from its own WARC files and from those that it refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.cdxj import REVISIT, read_index
from sharc_crawler.certificate.fixity import CERTIFICATES
from sharc_crawler.certificate.verify import NOBODY, Verification, total_size, verify
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import DataError
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.packaged import not_of_it, unsealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sharc_crawler.certificate.sealing import Trust
    from sharc_crawler.collection.folder import Collection


def verify_collection(
    collection: Collection, told: Callable[[int], None] = lambda _: None, trust: Trust = NOBODY
) -> tuple[Verification, list[str]]:
    """What :func:`~sharc_crawler.certificate.verify.verify` finds of all captures, and which have no certificate.

    A payload that a capture refers to, and that none of the collection holds, is a finding. ``told`` is given the bytes
    of the captures as they are read.
    """
    every, without = Verification(source=str(collection.folder)), list[str]()
    holders: dict[str, Path] = {}
    for capture in sorted(collection.captures(), key=lambda one: one.time):
        name = capture.folder.relative_to(collection.folder).as_posix()
        try:
            former = _former(capture.folder, holders)
            if _certified(capture.folder):
                every.add(name, _verified(capture.folder, former, told, trust))
            else:
                without.append(name)
        except (DataError, OSError, ValueError, KeyError) as error:
            every.findings.append(Finding(str(error), name))
    return every, without


def size_of(collection: Collection) -> int:
    """Bytes that this reads."""
    return sum(total_size(one.folder) for one in collection.captures() if _certified(one.folder))


def _certified(folder: Path) -> bool:
    return any(CERTIFICATES.fullmatch(path.name) for path in folder.iterdir())


def _verified(folder: Path, former: list[Path], told: Callable[[int], None], trust: Trust) -> Verification:
    found = verify(folder, former, told, trust)
    found.findings += not_of_it(folder)
    found.unsealed = unsealed(folder)
    if found.elsewhere:
        lost = (
            f"{counted(found.elsewhere, 'payload')} that it refers to"
            f" {agreeing(found.elsewhere, 'are')} in no capture of the collection"
        )
        found.findings.insert(0, Finding(lost))
        found.elsewhere = 0  # nothing more is to be had
    return found


def _former(folder: Path, holders: dict[str, Path]) -> list[Path]:
    """The former captures whose payloads a capture refers to; what it holds itself is noted in ``holders``."""
    held, referred = set[str](), set[str]()
    for index in folder.glob("*.cdxj"):
        for entry in read_index(index):
            if entry.digest:
                (referred if entry.mime == REVISIT else held).add(entry.digest)
    former = {holders[digest] for digest in referred - held if digest in holders}
    for digest in held:
        holders.setdefault(digest, folder)
    return sorted(former)
