"""The lines of a log in whatever encoding, as a table with one column: none costs the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from sharc_crawler.seeds.temporal.database import Database

#: how they are read in SQL, the first way that a log allows: DuckDB's Latin-1 has no bytes 0x80 to 0x9f, and where
#: encodings are mixed, lines that are no UTF-8 (or too long) are counted as malformed
_WAYS = "encoding = 'utf-8'", "encoding = 'latin-1'", "store_rejects = true"
_LINES = r"""read_csv($file, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01',
    quote = '', escape = '', strict_mode = false, max_line_size = 16000000, WAY)"""
_REJECTED = """
INSERT INTO staged BY NAME SELECT 'malformed' AS skipped, count(DISTINCT line) AS lines FROM reject_errors
WHERE scan_id = (SELECT max(scan_id) FROM reject_scans) HAVING count(*) > 0
"""


def stage_lines(database: Database, stage: Callable[[str], object]) -> None:
    """``stage`` makes the table ``staged`` from lines, read as it is told in SQL (``$file`` is theirs).

    Raises what it does, the last time.
    """
    for way in _WAYS:
        try:
            stage(_LINES.replace("WAY", way))
        except DataError as error:
            if way == _WAYS[-1] or error.__cause__ is None:  # not for want of another encoding
                raise
        else:
            break
    if way == _WAYS[-1]:
        database.run(_REJECTED)
