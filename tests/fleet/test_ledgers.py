"""Both ledgers do what the port promises."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.ledger import Pulse, Reservation
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.fleet.postgres import PostgresLedger
from tests.fleet.ledger_contract import FleetLedgerContract
from tests.fleet.ledger_means import MOMENT, TERM, site_order

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

    def test_what_a_database_gave_before_its_clock_was_set_back_runs_out_anew(self, ledger: FleetLedger) -> None:
        """Whoever is dead holds nothing for as long as the clock was ahead; whoever lives loses nothing."""
        import psycopg

        ledger.add([site_order("a"), site_order("b")])
        for worker, term in (("dead", MOMENT), ("alive", TERM)):
            [held] = ledger.claim(worker, 1, term)
            ledger.renew(Pulse(worker, {held.site: held.epoch}, 9), term)
        begun = time.monotonic()
        ledger.reserve([Reservation("cdn", 10.0, own=True)], TERM)
        with psycopg.connect(self.dsn, autocommit=True) as db:  # as if it stood an hour later when all that was given
            db.execute("UPDATE fleet_worker SET seen = seen + 3600, expires = expires + 3600")
            db.execute("UPDATE fleet_site SET expires = expires + 3600")
            db.execute("UPDATE fleet_pace SET due = due + 3600")
        time.sleep(5 * MOMENT)
        assert ledger.claim("other", 2, TERM) == []
        for _ in range(2):
            ledger.renew(Pulse("other", {}, 9), TERM)
        time.sleep(5 * MOMENT)
        assert [one.former for one in ledger.claim("other", 2, TERM)] == ["dead"]
        assert ledger.claim("other", 2, TERM) == []
        wait = ledger.reserve([Reservation("cdn", 10.0, own=True)], TERM)["cdn"]
        assert time.monotonic() - begun + wait >= 10 - 1e-3, "no turn comes earlier"
        assert wait < 3000
