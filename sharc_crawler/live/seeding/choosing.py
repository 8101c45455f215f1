"""Before a crawl: the seeds ranked by what is known of them, and kept with the capture, so that it can go on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.histories.reading import History, read_history
from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant, Kind
from sharc_crawler.plural import counted
from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.chosen import SELECTION
from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.rank import check_cut, make_ranker, rank
from sharc_crawler.seeds.hacs.selection import SeedChoice, Selection
from sharc_crawler.seeds.hacs.sites import homepages
from sharc_crawler.seeds.hacs.updates import READS_LINKS
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from sharc_crawler.observation import Observation
    from sharc_crawler.options.table import Options


def choice_of(options: Options, name: str) -> SeedChoice:
    """The choice by the ranker of this name, checked.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
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
    """The selection that the folder holds, or one that is made now.

    Raises :class:`~sharc_crawler.errors.SharcError` where there is nothing to choose by, or nothing is chosen.
    """
    selection = load(folder) or choose(choice, urls, time.time())
    if selection.choice != choice:
        was, now = asdict(selection.choice), asdict(choice)
        differing = ", ".join(f"{name}={was[name]!r}" for name in was if was[name] != now[name])
        raise UsageError(
            f"output={str(folder)!r} holds seeds that were chosen with {differing}; give that, or another folder"
        )
    return selection


def choose(choice: SeedChoice, urls: Iterable[str], now: Instant) -> Selection:
    """Rank the seeds as they stand now."""
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
    """What the files and the archive's own history say of the time up to now; ``further``: of later."""
    paths = [*map(Path, choice.timemaps), *warcs]
    own = _own(choice.history, now) if choice.history and Path(choice.history).exists() else ()
    return read_history(paths, [*own, *further], links=choice.updates in READS_LINKS)


def _own(file: str, now: Instant) -> Iterator[Observation]:
    with ObservationStore(file, reading=True) as store:
        for site in store.sites():
            yield from (one for one in store.observations(site) if one.kind is Kind.PAGE and one.time <= now)


def load(folder: Path) -> Selection | None:
    """The selection that a folder holds."""
    path = folder / SELECTION
    return Selection.read(path, "choose another folder") if path.exists() else None
