"""Reads the page views of clients from access logs, in any format of ``logformats``, compressed or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError
from sharc_crawler.seeds.temporal.database import stage_lines
from sharc_crawler.seeds.temporal.logformats import query_for

if TYPE_CHECKING:
    from sharc_crawler.seeds.temporal.database import Database

HEAD = 50  #: number of lines from which the format is detected
#: URLs of embedded resources and robots.txt, which are no page views
_RESOURCE = r"(?i)^[^?]*(?:\.(?:css|js|mjs|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|mp[34]|webm)|/robots\.txt)$"
_ROBOT = r"(?i)bot|crawl|spider|slurp"

# Days are UTC days. A request's target is a path, or a whole URL in a proxy's log.
_STAGED = f"""
CREATE OR REPLACE TABLE staged AS
WITH lines AS (SELECT line FROM LINES WHERE line <> ''), requests AS (FORMAT), fields AS (
    SELECT r.time, r.method, r.status, r.agent, r.client,
        CASE WHEN regexp_matches(r.target, '(?i)^https?://') THEN lower(regexp_extract(r.target, '^[^:]+://[^/?#]*'))
             WHEN r.vhost <> '' THEN 'https://' || lower(regexp_replace(r.vhost, ':(80|443)$', ''))
             WHEN $host <> '' THEN $host END AS host,
        regexp_replace(regexp_replace(r.target, '(?i)^https?://[^/?#]*', ''), '#.*$', '') AS path
    FROM requests r
), judged AS (
    SELECT CASE WHEN time IS NULL OR method IS NULL OR path IS NULL OR client IS NULL THEN 'malformed'
                WHEN method <> 'GET' OR NOT (status LIKE '2%' OR status = '304')
                     OR regexp_matches(path, '{_RESOURCE}') THEN 'not a page view'
                WHEN regexp_matches(agent, '{_ROBOT}') THEN 'robot'
                WHEN host IS NULL THEN 'no host' ELSE '' END AS skipped,
           host || CASE WHEN path LIKE '/%' THEN path ELSE '/' || path END AS page,
           time::DATE AS day, client
    FROM fields
)
SELECT skipped, CASE WHEN skipped = '' THEN page END AS page, NULL::VARCHAR AS site,
       CASE WHEN skipped = '' THEN day END AS day, CASE WHEN skipped = '' THEN client END AS client,
       NULL::DOUBLE AS views, count(*) AS lines
FROM judged GROUP BY ALL
"""  # noqa: S608 (constants only)


def stage_access_log(database: Database, file: Path, path: Path, host: str) -> None:
    """Write a log's requests into the table ``staged``, one row for each client, page and day.

    ``host`` is the site (``https://www.example.org``) of lines that name none; if empty, such lines are left out.
    Raises :class:`~sharc_crawler.errors.DataError` for a log that cannot be read, or whose fields change midway.
    """
    stage_lines(database, lambda lines: _stage(database, file, lines, {"file": str(path)}, host))


def _stage(database: Database, file: Path, lines: str, where: dict[str, str], host: str) -> None:
    first = f"SELECT line FROM {lines} WHERE line <> '' LIMIT {HEAD}"  # noqa: S608
    head = [row[0] for row in database.run(first, where, file).fetchall()]
    if any(line.startswith("#Fields:") for line in head):
        kinds = f"SELECT count(DISTINCT trim(line)) FROM {lines} WHERE line LIKE '#Fields:%'"  # noqa: S608
        if database.run(kinds, where, file).fetchall()[0][0] > 1:
            raise DataError(f"{file}: its #Fields change within it: split it where they do, a file for each")
    staged = _STAGED.replace("LINES", lines, 1).replace("FORMAT", query_for(file, head), 1)
    database.run(staged, where | {"host": host}, file)
