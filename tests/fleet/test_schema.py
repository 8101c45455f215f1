"""The tables of a fleet are made once, by whoever comes first, and used in the version that they have."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.errors import StoreUnavailable, UsageError
from sharc_crawler.fleet import rows
from sharc_crawler.fleet.opening import open_fleet
from tests.fleet.ledger_means import site_order

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fleet.database import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def dsn(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'fleet.db'}"
    return request.getfixturevalue("database").new()


def test_without_tables_there_is_no_fleet(dsn: str):
    with pytest.raises(UsageError, match="holds no fleet: `sharc fleet init` makes it"):
        open_fleet(dsn)


def test_tables_are_made_once_whoever_comes_first(dsn: str):
    with ThreadPoolExecutor(6) as pool:
        ledgers = list(pool.map(lambda _: open_fleet(dsn, patience=600.0, make=True), range(6)))
    assert ledgers[0].add([site_order("a")]) == 1
    assert open_fleet(dsn, make=True).sites()[0].site == "a", "nothing is made anew"
    for ledger in ledgers:
        ledger.close()


def test_a_later_version_is_left_alone_and_a_former_one_named(dsn: str, monkeypatch: pytest.MonkeyPatch):
    open_fleet(dsn, make=True).close()
    monkeypatch.setattr(rows, "VERSION", rows.VERSION - 1)
    with pytest.raises(UsageError, match=f"have version {rows.VERSION + 1}, this software knows {rows.VERSION}"):
        open_fleet(dsn, make=True)
    with pytest.raises(UsageError, match=f"version {rows.VERSION + 1}, .* needs {rows.VERSION}: update it"):
        open_fleet(dsn)
    monkeypatch.setattr(rows, "VERSION", rows.VERSION + 2)
    with pytest.raises(UsageError, match=f"has tables of version {rows.VERSION - 1}, .* `sharc fleet init`"):
        open_fleet(dsn)


def test_tables_of_a_former_version_are_brought_up_to_date_once(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ledger = open_fleet(dsn, make=True)
    ledger.add([site_order("a")])
    ledger.close()
    for engine in ("sqlite", "postgresql"):
        further = "CREATE TABLE fleet_further (name TEXT PRIMARY KEY);\nINSERT INTO fleet_further VALUES ('x');\n"
        (tmp_path / f"{engine}-{rows.VERSION + 1}.sql").write_text(further)
    monkeypatch.setattr(rows, "TABLES", tmp_path)
    monkeypatch.setattr(rows, "VERSION", rows.VERSION + 1)
    with ThreadPoolExecutor(4) as pool:
        ledgers = list(pool.map(lambda _: open_fleet(dsn, make=True), range(4)))
    assert [one.site for one in ledgers[0].sites()] == ["a"]
    for one in ledgers:
        one.close()


def test_a_password_in_the_dsn_is_refused_and_not_repeated(database: Database):
    dsn = database.new().replace("postgres@", "postgres:s3cret@")
    with pytest.raises(UsageError, match="which every process list shows") as refused:
        open_fleet(dsn, make=True)
    assert "s3cret" not in str(refused.value)


def test_a_database_that_does_not_answer_is_said_to_be_away():
    with pytest.raises(StoreUnavailable, match=r"the fleet's database: .*refused"):
        open_fleet("postgresql://nobody@127.0.0.1:1/fleet")


def test_a_file_that_is_no_fleet_is_said_so(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"something else, long enough to be no empty file" * 9)
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_fleet(f"sqlite:{tmp_path / 'x'}")


def test_after_the_machine_was_started_again_nobody_holds_anything(tmp_path: Path):
    path = tmp_path / "fleet.db"
    ledger = open_fleet(f"sqlite:{path}", make=True)
    ledger.add([site_order("a")])
    ledger.claim("w", 1, 1e6)
    ledger.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE fleet_meta SET value = 'another boot' WHERE name = 'boot'")
    again = open_fleet(f"sqlite:{path}")
    assert [one.epoch for one in again.claim("w2", 1, 60)] == [2]
    again.close()
