"""| Thins out captures by the rules of a collection (``keep:``), but never the only copy of a payload."""

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
    """The captures that the rules keep, by place; ``rules``: the maximum age for each rule.

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
    """Remove captures of a site that no rule keeps and whose payloads others have and none needs.

    Without rules nothing is removed. Another copy of each payload is read first, as a damaged one does not count.
    Nothing is removed while a capture is under way or was cut off, since no index says yet what it refers to, nor while
    a WARC file is missing with its index. A capture whose files are missing stays, as they may be put back; so does one
    that is a link. Returns the removed folders.
    """
    rules = collection.terms.keep
    captures = list(collection.captures(name))
    _complete_removals(collection, name)
    kept = kept_by_rules([capture.time for capture in captures], rules, now)
    ours = [one for place, one in enumerate(captures) if place not in kept and not one.folder.is_symlink()]
    spare = [capture for capture in ours if rules and is_over(capture.folder)]
    if not spare or _is_captured(collection):
        return []
    away = {file for capture in collection.captures() for file in _missing_files(capture.folder)}
    try:
        every = {capture.folder: Holding(capture.folder) for capture in collection.captures()}
    except (OSError, ValueError, KeyError, ArchiveLoadFailed):
        return []  # an index is damaged, so its capture's needs are unknown
    if not all(index_path(file).exists() for file in away):
        return []  # the same without an index
    spare = [capture for capture in spare if capture.folder not in {file.parent for file in away}]
    gone = []
    for one in spare:
        if is_spare(one.folder, every):
            forget_payloads(collection, one.folder)
            if _is_captured(collection) or any(other.folder not in every for other in collection.captures()):
                break  # a new capture may refer to this one
            del every[one.folder]
            _remove(one)
            gone.append(one.folder)
    return gone


def _missing_files(folder: Path) -> Iterator[Path]:
    """WARC files named by a capture's certificates that are missing or have another size."""
    for certificate in folder.glob("certificate*.json"):
        yield from (folder / (file.file or certificate.name) for file in resized(certificate))


def _is_captured(collection: Collection) -> bool:
    """Whether a capture is under way, or was cut off."""
    return any(collection.folder.glob(f"{CAPTURES}/*/*/{RUNNING}"))


def is_damaged_note(note: str) -> bool:
    """Whether a note names a damaged former capture."""
    return note.startswith(_DAMAGED)


def damaged_note(collection: Collection, capture: Path) -> str:
    """The note on a former capture to which a capture cannot refer."""
    name = capture.relative_to(collection.folder).as_posix()
    return f"{_DAMAGED} {name}; what it alone held is asked for in full, and stored again (sharc verify says more)"


def forget_payloads(collection: Collection, capture: Path) -> None:
    """Have later captures not refer to this one, which is damaged or about to be removed."""
    with open_state(capture) as store:
        rows = list(store.captures().values())
    with ObservationStore(collection.history) as history:
        for row in rows:
            history.forget_payloads(row.spec.site, row.started, row.ended or math.inf)


def _remove(capture: CollectedCapture) -> None:
    removing = capture.folder.with_name(f".{capture.folder.name}{REMOVING}")
    capture.folder.rename(removing)
    shutil.rmtree(removing)


def _complete_removals(collection: Collection, name: str) -> None:
    """Complete removals that were interrupted."""
    for path in collection.capture_folder(name, 0.0).parent.glob(f".*{REMOVING}"):
        if not path.is_symlink():
            shutil.rmtree(path)
