"""Captures that are thinned out, by the rules of a collection (``keep:``): never the only holder of a payload."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.sealed_files import resized
from sharc_crawler.collection.folder import CAPTURES, REMOVING, CollectedCapture, Collection, is_over
from sharc_crawler.collection.payloads import Holding, is_spare
from sharc_crawler.collection.terms import PERIODS
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.observations import ObservationStore

_DAMAGED = "this former capture is damaged, or lacks files:"


def kept_by_rules(times: Sequence[Instant], rules: Mapping[str, Seconds], now: Instant) -> set[int]:
    """Which captures rules keep, by place; ``rules``: how old a capture may be for each of them.

    >>> DAY = PERIODS["daily"]
    >>> times = [day * DAY for day in (0, 0.5, 1, 1.5, 8, 9)]
    >>> sorted(kept_by_rules(times, {"all": 2 * DAY, "daily": 20 * DAY}, now=10 * DAY))
    [0, 2, 4, 5]
    >>> sorted(kept_by_rules(times, {"weekly": math.inf}, now=10 * DAY))
    [0, 4, 5]
    """
    kept = {len(times) - 1} if times else set()
    for rule, longest in rules.items():
        seen: set[float] = set()
        for place, time in enumerate(times):
            period = PERIODS[rule]
            number = time // period if period else float(place)
            if now - time <= longest and number not in seen:
                seen.add(number)
                kept.add(place)
    return kept


def thin(collection: Collection, name: str, now: Instant) -> list[Path]:
    """Remove captures of a site that no rule keeps, and that hold no payload which others need or nobody else has.

    Without rules nothing is removed. Of each payload that would go, another copy is read first: one that is damaged is
    none. What a capture refers to that is under way, or was cut off, no index tells yet: nothing is removed meanwhile,
    nor where a file is away with its index. Such files may be put back: their own captures stay. What lies elsewhere,
    and is linked to, stays. Returns the folders that are gone.
    """
    rules = collection.terms.keep
    captures = list(collection.captures(name))
    _finish(collection, name)
    kept = kept_by_rules([one.time for one in captures], rules, now)
    ours = [one for place, one in enumerate(captures) if place not in kept and not one.folder.is_symlink()]
    spare = [one for one in ours if rules and is_over(one.folder)]
    if not spare or _is_captured(collection):
        return []
    away = {file for one in collection.captures() for file in _away(one.folder)}
    try:
        every = {one.folder: Holding(one.folder) for one in collection.captures()}
    except (OSError, ValueError, KeyError, ArchiveLoadFailed):
        return []  # an index is damaged: nobody knows what its capture needs
    if not all(index_path(file).exists() for file in away):
        return []  # nor here
    spare = [one for one in spare if one.folder not in {file.parent for file in away}]
    gone = []
    for one in spare:
        if is_spare(one.folder, every):
            forget_payloads(collection, one.folder)
            if _is_captured(collection) or any(other.folder not in every for other in collection.captures()):
                break  # since they were read: what that refers to nobody has looked at
            del every[one.folder]
            _remove(one)
            gone.append(one.folder)
    return gone


def _away(folder: Path) -> Iterator[Path]:
    """WARC files that a capture's certificates name, and that are gone, or of another size."""
    for certificate in folder.glob("certificate*.json"):
        yield from (folder / (one.file or certificate.name) for one in resized(certificate))


def _is_captured(collection: Collection) -> bool:
    """Is a capture under way, or was one cut off?"""
    return any(collection.folder.glob(f"{CAPTURES}/*/*/{RUNNING}"))


def is_damaged_note(note: str) -> bool:
    """Does a note of a capture's report name a former capture that is damaged?"""
    return note.startswith(_DAMAGED)


def damaged_note(collection: Collection, capture: Path) -> str:
    """What a capture notes of a former one that it cannot refer to."""
    name = capture.relative_to(collection.folder).as_posix()
    return f"{_DAMAGED} {name}; what it alone held is asked for in full, and stored again (sharc verify says more)"


def forget_payloads(collection: Collection, capture: Path) -> None:
    """No capture to come refers to what this one holds: it is about to go, or it is damaged."""
    with open_state(capture) as store:
        rows = list(store.captures().values())
    with ObservationStore(collection.history) as history:
        for row in rows:
            history.forget_payloads(row.spec.site, row.started, row.ended or math.inf)


def _remove(capture: CollectedCapture) -> None:
    removing = capture.folder.with_name(f".{capture.folder.name}{REMOVING}")
    capture.folder.rename(removing)
    shutil.rmtree(removing)


def _finish(collection: Collection, name: str) -> None:
    """What was being removed when the process was killed."""
    for path in collection.capture_folder(name, 0.0).parent.glob(f".*{REMOVING}"):
        if not path.is_symlink():
            shutil.rmtree(path)
