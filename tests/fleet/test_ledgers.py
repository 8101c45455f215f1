"""Both ledgers do what the port promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.testing.ledgers import FleetLedgerContract

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.fleet.ledger import FleetLedger
    from tests.fleet.database import Database


class TestSqliteLedger(FleetLedgerContract):
    @pytest.fixture(autouse=True)
    def fleet(self, tmp_path: Path) -> None:
        self.dsn = f"sqlite:{tmp_path / 'fleet.db'}"

    def open(self) -> FleetLedger:
        return open_fleet(self.dsn, make=True)


class TestPostgresLedger(FleetLedgerContract):
    @pytest.fixture(autouse=True)
    def fleet(self, database: Database) -> None:
        self.dsn = database.new()

    def open(self) -> FleetLedger:
        return open_fleet(self.dsn, make=True)
