"""Captures, histories and simulations as pandas data frames, for notebooks (extra ``lab``).

``docs/notebook.ipynb`` shows all of them. Times are ``datetime64`` in UTC, durations seconds, rates changes per second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from sharc_crawler.errors import DataError, UsageError, unknown_name
from sharc_crawler.extras import install
from sharc_crawler.lab.experiment import RunSpec, ScoredCrawl, SiteSpec, build, run, seeded
from sharc_crawler.report.write import DATA, PAGES
from sharc_crawler.storage.observations import ObservationStore

try:
    import pandas as pd
except ModuleNotFoundError:
    raise ModuleNotFoundError(f"data frames need pandas, which is not installed: {install('pandas')}") from None


#: columns of :func:`pages` with instants
INSTANTS = tuple(f"{slot}.{what}" for slot in ("visit", "revisit") for what in ("decided", "started", "ended"))
#: columns of :func:`pages` with numbers, which are missing for some pages
NUMBERS = tuple(f"{slot}.{what}" for slot in ("visit", "revisit") for what in ("status", "length", "attempts"))
#: columns of :func:`observations` (docs/observations.md)
SEEN = (
    *("site", "url", "time", "kind", "result", "change", "evidence", "digest", "fingerprint", "decoded", "etag"),
    *("last_modified", "lastmod", "lastmod_precision", "media_type"),
)
READ = ("images", "tables", "outlinks")  #: further columns, for documents only


def captures(folder: str | Path) -> pd.DataFrame:
    """A row for each site capture in a folder's ``report.json``; nested fields have names like ``times.reference``.

    Raises :class:`~sharc_crawler.errors.DataError` if there is no report.
    """
    return pd.json_normalize(json.loads(_text(Path(folder) / DATA))["captures"])


def pages(folder: str | Path) -> pd.DataFrame:
    """A row for each URL of a capture, from ``report-pages.jsonl``; nested fields have names like ``visit.started``.

    docs/report.md explains the fields; missing values are ``NaT``, ``<NA>`` or ``None``. Raises
    :class:`~sharc_crawler.errors.DataError` if there is no report.
    """
    rows = pd.json_normalize([json.loads(line) for line in _text(Path(folder) / PAGES).splitlines()])
    rows = rows.drop(columns=["visit", "revisit"], errors="ignore")  # null where there was none
    rows = rows.reindex(columns=rows.columns.union(pd.Index([*INSTANTS, *NUMBERS]), sort=False))
    return _dated(rows.astype(dict.fromkeys(NUMBERS, "Int64")), INSTANTS)


def observations(history: str | Path, site: str | None = None) -> pd.DataFrame:
    """A row for each observation in a history (the file of ``history=``), of one site or of all.

    Raises :class:`~sharc_crawler.errors.DataError` if the file is no history.
    """
    if not Path(history).is_file():
        raise DataError(f"{str(history)!r} is no file: give one that history= has named, or a collection's history.db")
    with ObservationStore(history, reading=True) as store:
        sites = store.sites() if site is None else [store.site_named(site)]
        seen = (one for name in sites for one in store.observations(name))
        rows = pd.DataFrame(
            [
                [*(getattr(one, name) for name in SEEN), *(getattr(one.document, name, None) for name in READ)]
                for one in seen
            ],
            columns=[*SEEN, *READ],
        ).astype(dict.fromkeys(READ, "Int64"))
    return _dated(rows, ("time", "last_modified", "lastmod"), unit="s")


def simulate(
    site: SiteSpec, strategies: str | Iterable[str], seeds: int = 1, rates: str = "oracle", **more: Any
) -> list[ScoredCrawl]:
    """Simulate crawls like ``sharc simulate``: each strategy with each of the seeds 0 to ``seeds`` − 1.

    ``more``: fields of :class:`~sharc_crawler.lab.experiment.RunSpec`, such as ``graph="known"`` or ``attested=0.5``.

    ``runs(simulate(SyntheticSpec(size=50, leaves="hot"), ["bfs", "sharc-selective"]))`` has a row for each crawl.
    """
    names = [strategies] if isinstance(strategies, str) else strategies
    if seeds < 1:
        raise UsageError(f"seeds={seeds} is not possible; it is the number of worlds, 1 or more")
    if unknown := sorted(more.keys() - {one.name for one in fields(RunSpec)}):
        raise unknown_name("option", unknown[0], (one.name for one in fields(RunSpec)))
    specs = [RunSpec(seeded(site, seed), name, rates, seed=seed, **more) for seed in range(seeds) for name in names]
    return [run(spec) for spec in specs]


def runs(crawls: Sequence[ScoredCrawl]) -> pd.DataFrame:
    """A row for each simulated crawl, with the figures of ``sharc simulate --json`` (docs/simulate.md)."""
    return pd.json_normalize([crawl.facts for crawl in crawls])


def downloads(crawl: ScoredCrawl) -> pd.DataFrame:
    """A row for each download of one simulated crawl, with ``page`` (name), ``kind`` and ``time`` (seconds)."""
    if not isinstance(crawl, ScoredCrawl):
        raise UsageError(
            f"downloads() takes one crawl of simulate(), as downloads(crawls[0]), not a {type(crawl).__name__}"
        )
    return pd.DataFrame(crawl.schedule.rows(build(crawl.spec.site).urls), columns=["page", "kind", "time"])


def _text(path: Path) -> str:
    if not path.parent.is_dir():
        raise DataError(f"{str(path.parent)!r} is no folder: give that of a capture")
    if (path.parent / "collection.yaml").exists():
        raise DataError(
            f"{str(path.parent)!r} is a collection: give the folder of one capture, captures/SITE/TIME in it"
        )
    try:
        return path.read_text()
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}; sharc report makes it") from error


def _dated(rows: pd.DataFrame, columns: Iterable[str], unit: Literal["s"] | None = None) -> pd.DataFrame:
    """Convert columns of instants to dates, from numbers of ``unit`` since the epoch, or from RFC 3339 text."""
    form = None if unit else "ISO8601"
    return rows.assign(**{name: pd.to_datetime(rows[name], utc=True, unit=unit, format=form) for name in columns})
