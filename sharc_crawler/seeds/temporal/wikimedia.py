"""Wikimedia's pageview files: hourly (``pageviews-20220101-130000.gz``), daily (``pageviews-20220101-user.bz2``)."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError
from sharc_crawler.seeds.temporal.loglines import stage_lines

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.seeds.temporal.database import Database

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
    """Stage a pageview file's counts; mobile and desktop pages are one page.

    Raises :class:`~sharc_crawler.errors.DataError` where the file's name holds no date.
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
