"""After a crawl: which of the crawled seeds had changed since their last capture, by the notion they were ranked by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import SharcError
from sharc_crawler.live.seeding.choosing import known, load
from sharc_crawler.model import Kind, Result, Slot, Url
from sharc_crawler.observation import Observation
from sharc_crawler.rates.history import CHANGED, UNKNOWN
from sharc_crawler.seeds.chosen import NOT_CAPTURED
from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.updates import READS_LINKS
from sharc_crawler.storage.folders import capture_folders

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.frontier.store import FrontierStore
    from sharc_crawler.seeds.hacs.captures import Captures
    from sharc_crawler.seeds.hacs.selection import Selection

NOTHING_BEFORE = "no capture to compare with"


class Judging:
    """Sees the stores of all sites, then adds to the selection in the folder what came of it."""

    def __init__(self, folder: Path, selection: Selection) -> None:
        self._folder, self._selection = folder, selection
        self._keys = {surt(url) for url in selection.crawled()}
        self._new: list[Observation] = []

    def saw(self, store: FrontierStore) -> None:
        """Count what the store of one more capture holds."""
        self._new += _captured(store, self._keys)

    def end(self) -> None:
        """All captures were seen: judge the selection and save it."""
        selection = self._selection
        try:
            judged = selection.judged(_changes(selection, self._folder, self._new))
        except (SharcError, OSError) as error:
            judged = replace(selection, notes=(f"whether the seeds had changed could not be told: {error}",))
        judged.save(self._folder)


def judging(folder: Path) -> Judging | None:
    """What judges the selection in a folder, if there is one."""
    selection = load(folder)
    return None if selection is None else Judging(folder, selection)


def _changes(selection: Selection, folder: Path, new: list[Observation]) -> dict[str, bool | str]:
    """Per crawled seed."""
    keys = {url: surt(url) for url in selection.crawled()}
    reads = selection.choice.updates in READS_LINKS
    warcs = [warc for place in capture_folders(folder) for warc in place.glob("*.warc.gz*")] if reads else ()
    found = known(selection.choice, selection.now, new, warcs).captures
    bits = updated(selection.choice.updates, found)
    captured = {surt(one.url) for one in new}
    places = {key: place for place, key in enumerate(found.keys)}
    return {
        url: _changed(found, bits, places[key], selection.now) if key in captured and key in places else NOT_CAPTURED
        for url, key in keys.items()
    }


def _captured(store: FrontierStore, keys: set[str]) -> Iterator[Observation]:
    """First downloads of seeds."""
    for url in (url for capture in store.captures() for url in store.urls(capture)):
        row = url.page
        if row.kind is not Kind.PAGE or surt(row.url) not in keys:
            continue
        for visit in url.visits:
            outcome = visit.outcome
            if visit.slot is not Slot.SECOND and outcome.result is Result.OK:
                # as its WARC record says: one capture
                started = datetime.fromtimestamp(outcome.started, UTC).timestamp()
                seen = Observation("", Url(row.url), started, outcome.result, digest=outcome.digest)
                yield replace(seen, fingerprint=outcome.fingerprint)


def _changed(found: Captures, bits: NDArray[np.int8], place: int, since: float) -> bool | str:
    """What the first capture of this crawl shows of a URL."""
    rows = slice(found.offsets[place], found.offsets[place + 1])
    bit = bits[rows][found.times[rows] >= since][0]
    return NOTHING_BEFORE if bit == UNKNOWN else bool(bit == CHANGED)
