"""The arguments by which ``scrapy crawl site -a seeds=FILE`` chooses among its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.live import values
from sharc_crawler.seeds.hacs.rank import check_cut, make_ranker
from sharc_crawler.seeds.hacs.selection import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

SEEDING = {
    "ranker": "chooses among the seeds by their history: hacs, frequency, last-obs, random, all, … or a dotted path",
    "theta": "choose seeds with a probability of change of at least this",
    "budget": "choose so many seeds at most",
    "timemaps": "archives' history for the ranker: file or folder, or several separated by commas",
    "updates": "what an update is: digest, link-addition, pdf-link, fingerprint",
    "explore": "share of the seeds left out that is crawled all the same, to estimate recall",
}


def parse_choice(given: Mapping[str, str]) -> Choice | None:
    """The choice, checked; ``None`` where no ranker is named: all seeds are crawled.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if "ranker" not in given:
        for name in SEEDING:
            if name in given:
                raise UsageError(f"{name}={given[name]!r} is for choosing among seeds; add ranker=hacs and seeds=FILE")
        return None
    ranker = make_ranker(given["ranker"])
    plugins.load("updates", given.get("updates", "digest"))
    if "seeds" not in given:
        raise UsageError(f"ranker={given['ranker']!r} chooses among seeds; add seeds=FILE, a URL a line")
    theta, explore = values.share(given, "theta"), values.share(given, "explore")
    budget = None if (most := values.number(given, "budget")) is None else int(most)
    check_cut(ranker, theta, budget)
    timemaps = tuple(str(Path(name.strip()).resolve()) for name in given.get("timemaps", "").split(",") if name.strip())
    missing = next((name for name in timemaps if not Path(name).exists()), None)
    if missing:
        raise UsageError(f"timemaps={missing!r} is not there; sharc seeds fetch makes such a folder")
    history = given.get("history")
    if not timemaps and not (history and Path(history).exists()):
        raise UsageError(
            f"ranker={given['ranker']!r} needs the seeds' history: timemaps=FILE-OR-FOLDER (CDX, TimeMaps, WARC; see "
            "sharc seeds fetch) or history=FILE of former captures"
        )
    updates = given.get("updates", "digest")
    return Choice(given["ranker"], theta, budget, updates, explore or 0.0, timemaps, history)
