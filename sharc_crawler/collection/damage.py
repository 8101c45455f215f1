"""| Damage of former captures, which matters to a later one only if it refers to the damaged record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sharc_crawler.archive.cdxj import moment_in, read_index
from sharc_crawler.certificate.material import Material, PageEntries
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.collection.referring import taken


def in_former(folder: Path, former: Sequence[Path], findings: Sequence[Finding]) -> dict[int, Path]:
    """The findings about files of former captures: place among the findings → that capture."""
    found = {}
    for place, one in enumerate(findings):
        if one.file and not (folder / one.file).exists():
            holder = next((other for other in former if (other / one.file).exists()), None)
            if holder is not None:
                found[place] = holder
    return found


def referred(folder: Path, former: Sequence[Path]) -> set[tuple[str, int]]:
    """The records of former captures that a capture refers to: file and offset."""
    others, own = Witness(), open_source(folder)
    for one in former:
        ingest(open_source(one).warcs, into=others)
    moments = {exchange.holder for exchange in ingest(own.warcs) if exchange.holder}
    held = {moment: others.of(moment) for moment in moments}
    places = {(entry.file, entry.offset) for entry in held.values() if entry}
    lost = {(url, moment_in(date)) for (url, date), one in held.items() if one is None}
    return places | set(_indexed(lost, former)) | set(_skipped(own))


def _indexed(lost: set[tuple[str, str]], former: Sequence[Path]) -> Iterator[tuple[str, int]]:
    """Where unreadable records should lie, according to the indexes."""
    for index in (index for folder in former if lost for index in folder.glob("*.cdxj")):
        with suppress(OSError, ValueError, KeyError):  # reported as a finding elsewhere
            yield from [(entry.file, entry.offset) for entry in read_index(index) if (entry.url, entry.date) in lost]


def _skipped(source: Material) -> Iterator[tuple[str, int]]:
    """Records of pages that were not asked for."""
    for stored in source.pages.values():
        yield from ((visit["file"], visit["offset"]) for visit in taken(PageEntries(stored)))
