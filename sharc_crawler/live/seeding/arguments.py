"""The arguments by which ``scrapy crawl site -a seeds=FILE`` chooses among its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.seeds.hacs.rank import check_cut, make_ranker
from sharc_crawler.seeds.hacs.selection import Choice

if TYPE_CHECKING:
    from sharc_crawler.options.table import Options


def choice_of(options: Options) -> Choice | None:
    """The choice, checked; ``None`` where no ranker is named: all seeds are crawled.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if options.ranker is None:
        return None
    ranker = make_ranker(options.ranker)
    if not options.seeds:
        raise UsageError(f"ranker={options.ranker!r} chooses among seeds; add seeds=FILE, a URL a line")
    check_cut(ranker, options.theta, options.budget)
    timemaps = tuple(str(Path(name).resolve()) for name in options.timemaps)
    missing = next((name for name in timemaps if not Path(name).exists()), None)
    if missing:
        raise UsageError(f"timemaps={missing!r} is not there; sharc seeds fetch makes such a folder")
    history = options.history
    if not timemaps and not (history and Path(history).exists()):
        raise UsageError(
            f"ranker={options.ranker!r} needs the seeds' history: timemaps=FILE-OR-FOLDER (CDX, TimeMaps, WARC; see "
            "sharc seeds fetch) or history=FILE of former captures"
        )
    return Choice(options.ranker, options.theta, options.budget, options.updates, options.explore, timemaps, history)
