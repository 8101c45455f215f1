"""Reads daily counts per page from CSV, TSV or Parquet, with one row per page and day or one column per day."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from sharc_crawler.seeds.temporal.database import Database

_PAGE = ("page", "url", "article", "title")
_DAY = ("date", "day")
_VIEWS = ("views", "count", "pageviews", "requests")
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d$")


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns: either ``day`` and ``views``, or ``days``, each with the views of one day."""

    page: str
    site: str | None
    day: str = ""
    views: str = ""
    days: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: list[str], site: str | None, file: Path | str) -> Columns:
        """Find the columns by their names. ``site`` is the column that the user chose, or else the one called ``site``.

        >>> Columns.of(["url", "2022-01-01", "2022-01-02"], None, "a.csv").days
        ('2022-01-01', '2022-01-02')

        Raises :class:`~sharc_crawler.errors.DataError`, which names the existing and the necessary columns.
        """
        known = {name.strip().lower(): name for name in reversed(names)}
        page, day, views = (next((known[n] for n in wanted if n in known), "") for wanted in (_PAGE, _DAY, _VIEWS))
        days = tuple(name for name in names if _DATE.match(name.strip()))
        there = f"{file}: its columns are {', '.join(names)[:200]}"
        if site and site not in names:
            raise DataError(f"{there}; none is {site!r}, which was named as the one that holds the site")
        if not page or not ((day and views) or days):
            needed = f"one of {'/'.join(_PAGE)}, and {'/'.join(_DAY)} with {'/'.join(_VIEWS)} or a column per date"
            raise DataError(f"{there}; needed are {needed}")
        site = site or known.get("site")
        return cls(page, site, day, views) if day and views else cls(page, site, days=days)

    def rows(self, source: str) -> str:
        """SQL for rows (page, site, day, views), all as text; an empty cell in a day's column counts 0."""
        page = _quoted(self.page) + "::VARCHAR AS page"
        site = (_quoted(self.site) if self.site else "NULL") + "::VARCHAR AS site"
        if not self.days:
            counted = f"{_quoted(self.day)}::VARCHAR AS day, {_quoted(self.views)}::VARCHAR AS views"
            return f"SELECT {page}, {site}, {counted} FROM {source}"  # noqa: S608 (names are quoted)
        days = ", ".join(f"coalesce({_quoted(day)}::VARCHAR, '0') AS {_quoted(day)}" for day in self.days)
        names = ", ".join(map(_quoted, self.days))
        wide = f"SELECT {page}, {site}, {days} FROM {source}"  # noqa: S608 (names are quoted)
        return f"SELECT * FROM ({wide}) UNPIVOT (views FOR day IN ({names}))"  # noqa: S608


# A page is a URL, or host/path, or a path on the given site or host.
_STAGE = r"""
CREATE OR REPLACE TABLE staged AS
WITH typed AS (
    SELECT page, site, try_strptime(trim(day), ['%Y-%m-%d', '%Y%m%d', '%Y-%m-%d %H:%M:%S'])::DATE AS day,
           try_cast(views AS DOUBLE) AS views,
           CASE WHEN regexp_matches(page, '^https?://') THEN page
                WHEN regexp_matches(page, '^[\w-]+(\.[\w-]+)+/') THEN 'https://' || page
                WHEN $host <> '' THEN $host || '/' || ltrim(page, '/')
                WHEN site IS NOT NULL THEN page END AS url
    FROM ({rows})
)
SELECT CASE WHEN day IS NULL OR views IS NULL OR NOT (views >= 0 AND views < 1e15) OR coalesce(page, '') = ''
            THEN 'malformed' WHEN url IS NULL THEN 'no host' ELSE '' END AS skipped,
       url AS page, coalesce(site, regexp_extract(url, '^https?://([^/]+)', 1)) AS site, day,
       NULL::VARCHAR AS client, views, 1 AS lines
FROM typed
"""


def stage_table(database: Database, file: Path, path: Path, site_column: str | None, host: str) -> None:
    """Write a table's counts into the table ``staged``."""
    named = {"file": str(path)}
    if ".parquet" in path.suffixes:
        source = "read_parquet($file)"
        names = [row[0] for row in database.run("DESCRIBE FROM " + source, named, file).fetchall()]
    else:
        names, delimiter = _header(path, file)
        columns = ", ".join(_quoted(name, "'") + ": 'VARCHAR'" for name in names)
        source = f"""read_csv($file, columns = {{{columns}}}, delim = '{delimiter}', header = true, quote = '"',
            escape = '"', auto_detect = false, ignore_errors = true, store_rejects = true)"""
    rows = Columns.of(names, site_column, file).rows(source)
    database.run(_STAGE.replace("{rows}", rows), named | {"host": host}, file)
    if source.startswith("read_csv"):
        rejected = "SELECT 'malformed', NULL, NULL, NULL, NULL, NULL, count(DISTINCT line) FROM reject_errors"
        database.run(f"INSERT INTO staged {rejected}; DROP TABLE reject_errors; DROP TABLE reject_scans")


def _header(path: Path, file: Path) -> tuple[list[str], str]:
    """The column names and the delimiter of a CSV file, from its first line."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            line = lines.readline()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {error}; is it whole, and in UTF-8?") from error
    csv.field_size_limit(1 << 30)  # it may be another kind of file, with one long line
    delimiter = max(",\t;", key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if len(set(names)) < len(names) or not names:
        raise DataError(f"{file}: its first line names no columns, or one twice: {line.strip()[:80]!r}")
    return names, delimiter


def _quoted(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, mark * 2) + mark
