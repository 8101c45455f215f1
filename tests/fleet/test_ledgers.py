"""Both ledgers do what the port promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.fleet.postgres import PostgresLedger
from tests.fleet.ledger_contract import FleetLedgerContract

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

    def test_an_answer_that_does_not_come_within_a_transaction_is_not_waited_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sharc_crawler.fleet.postgres_sql.LOCK", "SELECT pg_sleep(600)")
        with pytest.raises(StoreUnavailable, match=r"no answer in 0\.2 s"):
            PostgresLedger(self.dsn, patience=0.2, make=True)

    def test_an_answer_that_does_not_come_is_not_waited_for(self) -> None:
        ledger = PostgresLedger(self.dsn, make=True)
        assert ledger._db is not None
        ledger._db.patience = 0.2
        with pytest.raises(StoreUnavailable, match=r"no answer in 0\.2 s"):
            ledger._rows("SELECT pg_sleep(600)")
        assert ledger.clock() > 0, "the next question has a connection of its own"
        ledger.close()
