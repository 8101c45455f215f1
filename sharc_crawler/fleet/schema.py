"""The versions of a ledger's tables: scripts in ``tables/``, run in order under a lock; none is ever changed again."""

from __future__ import annotations

from importlib.resources import files

from sharc_crawler.errors import UsageError

VERSION = 2
TABLES = files("sharc_crawler.fleet").joinpath("tables")


def scripts(engine: str, known: int) -> list[str]:
    """What brings tables of a version to this one.

    Raises :class:`~sharc_crawler.errors.UsageError` for tables that a later version made.
    """
    if known > VERSION:
        raise UsageError(f"the fleet's tables have version {known}, this software knows {VERSION}: update it")
    return [TABLES.joinpath(f"{engine}-{number}.sql").read_text() for number in range(known + 1, VERSION + 1)]


def require(known: int, where: str) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` unless tables of this version are there."""
    if known != VERSION:
        what = f"has tables of version {known}, this software needs {VERSION}" if known else "holds no fleet"
        way_out = "update it" if known > VERSION else "`sharc fleet init` makes it, or brings it up to date"
        raise UsageError(f"{where} {what}: {way_out}")
