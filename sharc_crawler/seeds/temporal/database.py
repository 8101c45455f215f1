"""The database that groups page views: a DuckDB file in a temporary folder, so that logs may exceed memory."""

from __future__ import annotations

import bz2
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler import extras
from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "1GB"
#: SQL that reads a log's lines, tried in this order: DuckDB's Latin-1 lacks the bytes 0x80 to 0x9f; the last one counts
#: lines that are not UTF-8 (or too long) as malformed, for logs with mixed encodings
_WAYS = "encoding = 'utf-8'", "encoding = 'latin-1'", "store_rejects = true"
_LINES = r"""read_csv($file, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01',
    quote = '', escape = '', strict_mode = false, max_line_size = 16000000, WAY)"""
_REJECTED = """
INSERT INTO staged BY NAME SELECT 'malformed' AS skipped, count(DISTINCT line) AS lines FROM reject_errors
WHERE scan_id = (SELECT max(scan_id) FROM reject_scans) HAVING count(*) > 0
"""


class Database:
    """A connection whose errors name the file that could not be read."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path) -> None:
        self._connection = connection
        self.folder = folder

    def run(self, sql: str, values: dict[str, Any] | None = None, file: Path | None = None) -> DuckDBPyConnection:
        """Run a statement. Raises :class:`~sharc_crawler.errors.DataError` that names ``file`` if it is unreadable."""
        import duckdb

        try:
            return self._connection.execute(sql, values or {})
        except RuntimeError as error:
            if str(error) != "Query interrupted":
                raise
            raise KeyboardInterrupt from error  # DuckDB turns Ctrl-C within a statement into its own exception
        except duckdb.Error as error:
            if file is None:
                raise
            reason = str(error).partition("\n")[0]
            raise DataError(f"{file}: cannot be read: {reason}; is it whole, and of the kind its name says?") from error

    def opened(self, file: Path) -> Path:
        """A path that DuckDB can read: the file itself, or a decompressed copy of a ``.bz2`` file.

        Raises :class:`~sharc_crawler.errors.DataError` for a missing file or an incomplete archive.
        """
        if file.is_dir():
            raise DataError(f"{file} is a folder: give the log files in it, as in {file}/*")
        if not file.is_file():
            raise DataError(f"{file}: there is no such file")
        if file.suffix != ".bz2":
            return file
        copy = self.folder / file.stem
        try:
            with bz2.open(file) as source, copy.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        except (OSError, EOFError) as error:
            raise DataError(f"{file}: cannot be decompressed: {error}; is it whole?") from error
        return copy


@contextmanager
def database(memory: str = MEMORY) -> Iterator[Database]:
    """A database for a ``with`` block; its files are removed at the end.

    Raises :class:`~sharc_crawler.errors.UsageError` if DuckDB is not installed.
    """
    extras.check("reading logs", "duckdb")
    import duckdb

    with tempfile.TemporaryDirectory(prefix="sharc-temporal-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": folder,
            "preserve_insertion_order": False,
        }
        connection = duckdb.connect(str(Path(folder) / "views.duckdb"), config=settings)
        try:
            yield Database(connection, Path(folder))
        finally:
            connection.close()


def stage_lines(database: Database, stage: Callable[[str], object]) -> None:
    """Call ``stage`` with SQL that reads a log's lines (from ``$file``), until one way of reading them succeeds.

    If none does, the last error is raised.
    """
    for way in _WAYS:
        try:
            stage(_LINES.replace("WAY", way))
        except DataError as error:
            if way == _WAYS[-1] or error.__cause__ is None:  # another encoding would not help
                raise
        else:
            break
    if way == _WAYS[-1]:
        database.run(_REJECTED)
