"""The arguments by which ``scrapy crawl site -a seeds=FILE`` chooses among its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.seeds.hacs.rank import check_cut, make_ranker
from sharc_crawler.seeds.hacs.selection import SeedChoice

if TYPE_CHECKING:
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
