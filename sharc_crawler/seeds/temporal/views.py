"""Reduces logs to daily views per page: one view per client, page and day, in a window; counts what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.plural import counted
from sharc_crawler.seeds.temporal.accesslog import stage_access_log
from sharc_crawler.seeds.temporal.database import MEMORY, Database, database, stage_lines
from sharc_crawler.seeds.temporal.logformats import unread
from sharc_crawler.seeds.temporal.tables import stage_table

NAME = re.compile(r"(?:pageviews|pagecounts)-(\d{4})(\d\d)(\d\d)(?:-|\.|$)")

# "en Main_Page 42 0" (code, title, views, bytes), "en.wikipedia Main_Page 15580374 desktop 42 A20B22" (wiki, title,
# page id, access, views, hours)
_LINE = r"^(\S+) (\S+) (?:(\d+) \d+|\S+ \S+ (\d+) ?\S*)$"
_PROJECTS = (
    "MAP {'b': 'wikibooks', 'd': 'wiktionary', 'f': 'wikimediafoundation', 'n': 'wikinews', 'q': 'wikiquote', "
    "'s': 'wikisource', 'v': 'wikiversity', 'voy': 'wikivoyage', 'w': 'mediawiki', 'wd': 'wikidata'}"
)
_STAGE = f"""
CREATE OR REPLACE TABLE staged AS
WITH fields AS (
    SELECT regexp_extract(line, '{_LINE}', ['code', 'title', 'hour', 'day']) AS f FROM LINES WHERE line <> ''
), hosts AS (
    SELECT f, split_part(f.code, '.', 1) AS language, {_PROJECTS}[regexp_extract(f.code, '\\.(\\w+)$', 1)] AS project,
           try_cast(f.hour || f.day AS DOUBLE) AS views
    FROM fields
), pages AS (
    SELECT f, views, CASE WHEN f.code LIKE '%.wik%' THEN f.code
        WHEN language IN ('commons', 'meta', 'species', 'incubator', 'outreach') THEN language || '.wikimedia'
        ELSE language || '.' || coalesce(project, 'wikipedia') END || '.org' AS site
    FROM hosts
)
SELECT CASE WHEN views IS NULL THEN 'malformed' ELSE '' END AS skipped,
       'https://' || site || '/wiki/' || f.title AS page, site, $day::DATE AS day, NULL::VARCHAR AS client, views,
       1 AS lines
FROM pages
"""  # noqa: S608 (constants only)


def stage_pageviews(database: Database, file: Path, path: Path) -> None:
    """Write a pageview file's counts into the table ``staged``; views of mobile and desktop pages are added.

    Raises :class:`~sharc_crawler.errors.DataError` if the file's name contains no date.
    """
    named = NAME.match(file.name)
    try:
        day = date(*map(int, named.groups())) if named else None
    except ValueError:
        day = None
    if day is None:
        raise DataError(f"{file}: its name gives no date; a pageview file is called like pageviews-20220101-130000.gz")
    where = {"file": str(path), "day": day}
    stage_lines(database, lambda lines: database.run(_STAGE.replace("LINES", lines, 1), where, file))


_TABLES = {".csv", ".tsv", ".parquet"}
AHEAD = "after tomorrow"  #: reason for leaving out lines: one line of the year 9999 would move the window there
_ROWS = 100_000  #: pages fetched from the database at a time
_MOST_VIEWS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How to read logs."""

    days: int = 60  #: length of the window
    until: date | None = None  #: its last day; None: the last day of the logs
    least_views: int | None = None  #: pages with fewer views are left out as unreliable; None: one a day on average
    host: str = ""  #: the site of pages that name none, such as ``https://www.example.org``
    site_column: str | None = None  #: a table's column with the site
    memory: str = MEMORY  #: limit of memory, beyond which grouping spills to disk

    def __post_init__(self) -> None:
        if self.days < 1:
            raise UsageError(f"days={self.days}: a window is at least a day; the paper's is 60")
        if self.host and "://" not in self.host:
            raise UsageError(f"host={self.host!r} is no URL; give it as https://{self.host}")


@dataclass(frozen=True, slots=True)
class PageViews:
    """Daily views of the reliable pages of a window."""

    pages: list[str]  #: URLs, sorted
    sites: list[str]
    views: NDArray[np.int32]  #: (pages, days)
    start: date  #: day 1
    seen: int  #: pages in the window, reliable or not
    lines: int  #: lines (rows, cells) read
    skipped: dict[str, int]  #: reason → lines left out


def read_views(
    files: Sequence[Path], options: LogOptions | None = None, progress: Callable[[Path], None] = lambda _: None
) -> PageViews:
    """Daily views per page from any number of logs; ``progress`` is called with each file when it is done.

    ``.csv``, ``.tsv`` and ``.parquet`` files are tables, ``pageviews-DATE…`` are Wikimedia's, all others access logs.
    Each may be compressed (``.gz``, ``.zst``, ``.bz2``). Grouping spills to disk, so logs may be larger than memory.

    Raises :class:`~sharc_crawler.errors.DataError` for an unreadable file, or if no page is left.
    """
    options = options or LogOptions()
    with database(options.memory) as db:
        db.run("CREATE TABLE seen (page VARCHAR, site VARCHAR, day DATE, client VARCHAR, views DOUBLE, lines BIGINT)")
        db.run("CREATE TABLE skipped (reason VARCHAR, lines BIGINT)")
        for file in files:
            _stage(db, Path(file), options)
            _unite(db, Path(file))
            progress(Path(file))
        return _collect(db, options)


def _stage(db: Database, file: Path, options: LogOptions) -> None:
    path = db.opened(file)
    if NAME.match(file.name) and not _TABLES & set(file.suffixes):
        stage_pageviews(db, file, path)
    elif _TABLES & set(file.suffixes):
        stage_table(db, file, path, options.site_column, options.host.rstrip("/"))
    else:
        stage_access_log(db, file, path, options.host.rstrip("/"))


def _unite(db: Database, file: Path) -> None:
    """Move the rows of ``staged`` into the tables of all files, ``seen`` and ``skipped``."""
    db.run("UPDATE staged SET skipped = 'malformed' WHERE skipped = '' AND day < DATE '0001-01-01'")  # Python has none
    good, malformed = db.run(
        "SELECT sum(lines) FILTER (skipped <> 'malformed'), sum(lines) FILTER (skipped = 'malformed') FROM staged"
    ).fetchall()[0]
    if malformed and not good:
        raise unread(file, int(malformed))
    tomorrow = {"latest": datetime.now(UTC).date() + timedelta(days=1)}  # clocks may be fast, and days are UTC days
    db.run("UPDATE staged SET skipped = $why WHERE skipped = '' AND day > $latest", tomorrow | {"why": AHEAD})
    db.run("INSERT INTO seen SELECT page, site, day, client, views, lines FROM staged WHERE skipped = ''")
    db.run("INSERT INTO skipped SELECT skipped, sum(lines) FROM staged GROUP BY skipped")
    db.run("DROP TABLE staged")


def _collect(db: Database, options: LogOptions) -> PageViews:
    lines = dict(db.run("SELECT reason, sum(lines)::BIGINT FROM skipped GROUP BY reason ORDER BY reason").fetchall())
    skipped = {reason: count for reason, count in lines.items() if reason and count}
    first, last = db.run("SELECT min(day), max(day) FROM seen").fetchall()[0]
    if first is None:
        raise _nothing(skipped)
    if options.until and options.until < first:
        raise UsageError(f"--until {options.until}: the logs begin after it, on {first}")
    last = options.until or last
    start = max(first, last - timedelta(days=options.days - 1))
    days = (last - start).days + 1
    least = options.least_views if options.least_views is not None else days
    window = {"start": start, "last": last}
    if outside := db.run(
        "SELECT sum(lines)::BIGINT FROM seen WHERE day NOT BETWEEN $start AND $last", window
    ).fetchall()[0][0]:
        skipped["outside the window"] = outside
    # two steps, so that both can spill to disk: one row per client, then the views of each page and day
    db.run(
        """CREATE TABLE daily AS SELECT page, site, day, sum(CASE WHEN client IS NULL THEN views ELSE 1 END) AS views
        FROM (SELECT page, any_value(site) AS site, day, client, sum(views) AS views FROM seen
              WHERE day BETWEEN $start AND $last GROUP BY page, day, client) GROUP BY page, site, day""",
        window,
    )
    pages, sites, seen = _reliable(db, max(least, 1))
    if not pages:
        raise DataError(
            f"of {counted(seen, 'page')} none has {counted(least, 'view')} from {start} to {last}; lower"
            f" --least-views or give a longer log"
        )
    return PageViews(pages, sites, _matrix(db, len(pages), start, days), start, seen, sum(lines.values()), skipped)


def _nothing(skipped: dict[str, int]) -> DataError:
    said = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items()) or "no lines at all"
    hint = "; name the site with --host https://www.example.org or --site-column" if "no host" in skipped else ""
    return DataError(f"the logs hold no page view: {said}{hint}")


def _reliable(db: Database, least: int) -> tuple[list[str], list[str], int]:
    """Pages with enough views, sorted by their ids; their sites; and the number of all pages."""
    db.run(
        r"""CREATE TABLE totals AS SELECT page, sum(views) AS views,
        coalesce(any_value(site), regexp_extract(page, '://([^/?]+)', 1)) AS site FROM daily GROUP BY page"""
    )
    seen = db.run("SELECT count(*) FROM totals").fetchall()[0][0]
    db.run(
        """CREATE TABLE pages AS SELECT (row_number() OVER (ORDER BY page) - 1)::INTEGER AS id, page, site
        FROM totals WHERE views >= $least""",
        {"least": least},
    )
    rows = db.run("SELECT page, site FROM pages ORDER BY id").fetchall()
    return [row[0] for row in rows], [row[1] for row in rows], seen


def _matrix(db: Database, pages: int, start: date, days: int) -> NDArray[np.int32]:
    db.run(
        """CREATE TABLE cells AS SELECT id, (day - $start)::INTEGER AS day, least(sum(views), $most)::INTEGER AS views
        FROM daily JOIN pages USING (page) GROUP BY ALL ORDER BY id""",
        {"start": start, "most": _MOST_VIEWS},
    )
    matrix = np.zeros((pages, days), np.int32)
    for begin in range(0, pages, _ROWS):
        cells: Any = db.run(
            "SELECT id, day, views FROM cells WHERE id >= $begin AND id < $end", {"begin": begin, "end": begin + _ROWS}
        ).fetchnumpy()
        matrix[cells["id"], cells["day"]] = cells["views"]
    return matrix
