"""Seeds ranked before a crawl by what archives know of them, and judged after it: had they changed?

The choice is kept with the capture, so that it can be continued. Seeds are judged by the kind of update by which
they were ranked.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.histories.reading import History, read_history
from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import SharcError, UsageError
from sharc_crawler.model import Instant, Kind, Result, Slot, Url
from sharc_crawler.observation import Observation
from sharc_crawler.plural import counted
from sharc_crawler.rates.history import CHANGED, UNKNOWN
from sharc_crawler.seeds import NOT_CAPTURED, SELECTION
from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.rank import check_cut, make_ranker, rank
from sharc_crawler.seeds.hacs.selection import SeedChoice, Selection
from sharc_crawler.seeds.hacs.sites import homepages
from sharc_crawler.seeds.hacs.updates import READS_LINKS
from sharc_crawler.storage.folders import capture_folders
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.options.table import Options
    from sharc_crawler.seeds.hacs.captures import Captures
    from sharc_crawler.state.store import FrontierStore

NOTHING_BEFORE = "no capture to compare with"


def choice_of(options: Options, name: str) -> SeedChoice:
    """The choice by this ranker, checked; raises :class:`~sharc_crawler.errors.UsageError`."""
    ranker = make_ranker(name)
    if not options.seeds:
        raise UsageError(f"ranker={name!r} chooses among seeds; add seeds=FILE, a URL a line")
    check_cut(ranker, options.theta, options.budget)
    timemaps = tuple(str(Path(file).resolve()) for file in options.timemaps)
    missing = next((file for file in timemaps if not Path(file).exists()), None)
    if missing:
        raise UsageError(f"timemaps={missing!r} is not there; sharc seeds fetch makes such a folder")
    history = options.history
    if not timemaps and not (history and Path(history).exists()):
        raise UsageError(
            f"ranker={name!r} needs the seeds' history: timemaps=FILE-OR-FOLDER (CDX, TimeMaps, WARC; see "
            "sharc seeds fetch) or history=FILE of former captures"
        )
    return SeedChoice(name, options.theta, options.budget, options.updates, options.explore, timemaps, history)


def chosen(choice: SeedChoice, urls: Sequence[str], folder: Path) -> Selection:
    """The selection in the folder, or a new one; raises SharcError where there is nothing to choose (by)."""
    selection = load(folder) or choose(choice, urls, time.time())
    if selection.choice != choice:
        was, now = asdict(selection.choice), asdict(choice)
        differing = ", ".join(f"{name}={was[name]!r}" for name in was if was[name] != now[name])
        raise UsageError(
            f"output={str(folder)!r} holds seeds that were chosen with {differing}; give that, or another folder"
        )
    return selection


def choose(choice: SeedChoice, urls: Iterable[str], now: Instant) -> Selection:
    """Rank the seeds as of now."""
    seeds, ranker = list(urls), make_ranker(choice.ranker)
    found = known(choice, now)
    changed = updated(choice.updates, found.captures)
    histories = homepages(seeds, [surt(url) for url in seeds], found.captures, changed, found.answered)
    ranked = rank(histories, ranker, RankingTask(now, ahead=0.0), theta=choice.theta, budget=choice.budget)
    selection = Selection.of(ranked, choice, now, found.problems.count)
    if not selection.crawled():
        raise UsageError(
            f"theta={choice.theta}, budget={choice.budget}: of {counted(len(seeds), 'seed')} none is"
            f" chosen; the first of the"
            f" order, {ranked[0].url}, has {ranked[0].value:.3g}"
        )
    return selection


def known(choice: SeedChoice, now: Instant, further: Iterable[Observation] = (), warcs: Iterable[Path] = ()) -> History:
    """What files and the archive's own history say up to now; ``further``: later observations."""
    paths = [*map(Path, choice.timemaps), *warcs]
    own = _own(choice.history, now) if choice.history and Path(choice.history).exists() else ()
    return read_history(paths, [*own, *further], links=choice.updates in READS_LINKS)


def _own(file: str, now: Instant) -> Iterator[Observation]:
    with ObservationStore(file, reading=True) as store:
        for site in store.sites():
            yield from (one for one in store.observations(site) if one.kind is Kind.PAGE and one.time <= now)


def load(folder: Path) -> Selection | None:
    """The selection in a folder, if there is one."""
    path = folder / SELECTION
    return Selection.read(path, "choose another folder") if path.exists() else None


class Judging:
    """Collects from the stores of all sites, then adds to the selection which seeds had changed."""

    def __init__(self, folder: Path, selection: Selection) -> None:
        self._folder, self._selection = folder, selection
        self._keys = {surt(url) for url in selection.crawled()}
        self._new: list[Observation] = []

    def add(self, store: FrontierStore) -> None:
        """Take in the store of a capture."""
        self._new += _captured(store, self._keys)

    def end(self) -> None:
        """Judge the selection and save it, once all captures were taken in."""
        selection = self._selection
        try:
            judged = selection.judged(_changes(selection, self._folder, self._new))
        except (SharcError, OSError) as error:
            judged = replace(selection, notes=(f"whether the seeds had changed could not be told: {error}",))
        judged.save(self._folder)


def judging(folder: Path) -> Judging | None:
    """The judging of the selection in a folder, if there is one."""
    selection = load(folder)
    return None if selection is None else Judging(folder, selection)


def _changes(selection: Selection, folder: Path, new: list[Observation]) -> dict[str, bool | str]:
    """For each crawled seed: whether it had changed, or why that is not known."""
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
    """The first downloads of seeds."""
    for url in (url for capture in store.captures() for url in store.urls(capture)):
        row = url.page
        if row.kind is not Kind.PAGE or surt(row.url) not in keys:
            continue
        for visit in url.visits:
            outcome = visit.outcome
            if visit.slot is not Slot.SECOND and outcome.result is Result.OK:
                # as in its WARC record, so both are one capture
                started = datetime.fromtimestamp(outcome.started, UTC).timestamp()
                seen = Observation("", Url(row.url), started, outcome.result, digest=outcome.digest)
                yield replace(seen, fingerprint=outcome.fingerprint)


def _changed(found: Captures, bits: NDArray[np.int8], place: int, since: float) -> bool | str:
    """What the first capture of this crawl shows of a URL."""
    rows = slice(found.offsets[place], found.offsets[place + 1])
    bit = bits[rows][found.times[rows] >= since][0]
    return NOTHING_BEFORE if bit == UNKNOWN else bool(bit == CHANGED)
