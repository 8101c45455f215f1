"""| Opens the ledger that a DSN names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler import extras
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from sharc_crawler.fleet.ledger import FleetLedger
    from sharc_crawler.model import Seconds

FORMS = "postgresql://HOST/DATABASE and sqlite:PATH"


def open_fleet(dsn: str, patience: Seconds = 60.0, *, make: bool = False) -> FleetLedger:
    """The ledger of a fleet; ``make``: create or update it.

    ``patience``: seconds to wait for an answer. Raises UsageError for an unknown DSN, or one without a fleet.

    >>> open_fleet("mysql://db/fleet")
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: DSN 'mysql:…' is none of postgresql://HOST/DATABASE and sqlite:PATH
    """
    scheme, _, rest = dsn.partition(":")
    if scheme == "sqlite" and rest:
        from sharc_crawler.fleet.sqlite import SqliteLedger  # only one is needed

        return SqliteLedger(Path(rest), patience, make=make)
    if scheme in ("postgresql", "postgres") and rest.startswith("//"):
        extras.check(f"{scheme}://", "psycopg")
        from sharc_crawler.fleet.postgres import PostgresLedger  # only one is needed

        return PostgresLedger(dsn, patience, make=make)
    raise UsageError(f"DSN {f'{scheme}:…' if rest else dsn!r} is none of {FORMS}")
