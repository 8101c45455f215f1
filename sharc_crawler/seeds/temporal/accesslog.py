"""Access logs in Common or Combined Log Format, plain or gzipped, with or without the virtual host in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.seeds.temporal.database import Database

#: one column for a whole line; any byte is a character of Latin-1, so that no line is lost to its encoding
LINES = r"""read_csv($file, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01',
    quote = '', escape = '', encoding = 'latin-1', strict_mode = false, max_line_size = 16000000)"""

_LINE = (
    r"^(?:([\w.:-]+) )?([^\s-]\S*) \S+ [^\s\[][^\[]* \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d) ([+-])(\d\d)(\d\d)\] "
    r'"([A-Z]+) (\S+)(?: HTTP/[\d.]+)?" (\d{3}) (?:\d+|-)(?: "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)")?\s*$'
)
_FIELDS = ["vhost", "client", "time", "sign", "hours", "minutes", "method", "target", "status", "agent"]
#: what a page embeds, and what robots ask for
_RESOURCE = r"(?i)^[^?]*(?:\.(?:css|js|mjs|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|mp[34]|webm)|/robots\.txt)$"
_ROBOT = r"(?i)bot|crawl|spider|slurp"

# A day is one of UTC. A target is a path, or a whole URL in a proxy's log.
_STAGE = f"""
CREATE OR REPLACE TABLE staged AS
WITH lines AS (
    SELECT regexp_extract(line, '{_LINE}', {_FIELDS}) AS f FROM {LINES} WHERE line <> ''
), fields AS (
    SELECT f, try_strptime(f.time, '%d/%b/%Y:%H:%M:%S')
            - to_minutes(try_cast(f.sign || '1' AS INTEGER)
                         * (60 * try_cast(f.hours AS INTEGER) + try_cast(f.minutes AS INTEGER))) AS time,
        CASE WHEN regexp_matches(f.target, '(?i)^https?://') THEN lower(regexp_extract(f.target, '^[^:]+://[^/?#]*'))
             WHEN f.vhost <> '' THEN 'https://' || lower(regexp_replace(f.vhost, ':(80|443)$', ''))
             WHEN $host <> '' THEN $host END AS host,
        regexp_replace(regexp_replace(f.target, '(?i)^https?://[^/?#]*', ''), '#.*$', '') AS path
    FROM lines
), judged AS (
    SELECT CASE WHEN time IS NULL THEN 'malformed'
                WHEN f.method <> 'GET' OR NOT (f.status LIKE '2%' OR f.status = '304')
                     OR regexp_matches(path, '{_RESOURCE}') THEN 'not a page view'
                WHEN regexp_matches(f.agent, '{_ROBOT}') THEN 'robot'
                WHEN host IS NULL THEN 'no host' ELSE '' END AS skipped,
           host || CASE WHEN path LIKE '/%' THEN path ELSE '/' || path END AS page,
           time::DATE AS day, f.client AS client
    FROM fields
)
SELECT skipped, CASE WHEN skipped = '' THEN page END AS page, NULL::VARCHAR AS site,
       CASE WHEN skipped = '' THEN day END AS day, CASE WHEN skipped = '' THEN client END AS client,
       NULL::DOUBLE AS views, count(*) AS lines
FROM judged GROUP BY ALL
"""  # noqa: S608 (constants only)


def stage_access_log(database: Database, file: Path, path: Path, host: str) -> None:
    """Stage a log's requests, one row for each client, page and day.

    ``host`` is the site (``https://www.example.org``) of a log whose lines name none; empty: such lines are left out.
    """
    database.run(_STAGE, {"file": str(path), "host": host}, file)
