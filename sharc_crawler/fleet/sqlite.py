"""The ledger of a fleet in a SQLite file, for processes of one machine.

Terms run by the monotonic clock; after a reboot nobody holds anything.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharc_crawler.fleet import rows as tables
from sharc_crawler.fleet.ledger import (
    Allowance,
    FleetStatus,
    JournalStep,
    Pulse,
    Renewal,
    Reservation,
    SiteOrder,
    SiteState,
    SiteStatus,
    Tenure,
    Wish,
)
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.storage.connecting import Connection, share
from sharc_crawler.storage.frontier_rows import statements
from sharc_crawler.storage.sqlite_errors import said_of

AT_ONCE = 1_000  #: orders per statement
ROWS = 200  #: journal rows per query
BOOT = Path("/proc/sys/kernel/random/boot_id")

_CLAIM = """
SELECT site, arguments, round, epoch + 1, seq, wish, :clock, owner, EXISTS (SELECT 1 FROM fleet_pace
    WHERE machine = site AND asked > :now - 3600), iif(owner IS NOT NULL AND seq <= began + 1, silent + 1, 0)
FROM fleet_site
WHERE state = 'waiting' AND wish <> 'pause' AND due <= :clock AND {which}
ORDER BY priority DESC, due LIMIT :most
"""
_FREE_NOW, _SUSPECT = "owner IS NULL", "silent > 0 AND seq <= began + 1"
_SILENT = f"""
owner IS NOT NULL AND expires < :now AND (NOT ({_SUSPECT}) OR site = (
    SELECT site FROM fleet_site WHERE state = 'waiting' AND wish <> 'pause' AND owner IS NOT NULL AND expires < :now
        AND {_SUSPECT} ORDER BY priority DESC, due LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM fleet_site WHERE owner = :worker AND expires >= :now AND silent > 1
        AND seq <= began + 1))
"""
_CLAIMED = """
UPDATE fleet_site SET epoch = epoch + 1, owner = :worker, expires = :now + :term, stepped = :now,
    takeovers = takeovers + (owner IS NOT NULL), reason = '', began = seq,
    silent = iif(owner IS NOT NULL AND seq <= began + 1, silent + 1, 0) WHERE site = :site
"""
_STEP = """
UPDATE fleet_site SET seq = :seq, expires = :now + :term, stepped = :now, pages = :pages, visits = :visits, size = :size
WHERE site = :site AND epoch = :epoch AND seq = :seq - 1
"""
_RENEW = """
UPDATE fleet_site SET expires = :now + :term WHERE site = :site AND epoch = :epoch AND owner = :worker
RETURNING site, wish, EXISTS (SELECT 1 FROM fleet_pace WHERE machine = fleet_site.site AND asked > :now - 3600)
"""
#: former owners are heard of again, as when the file was away: neither they nor those before ended
_LIVED = """
UPDATE fleet_site SET silent = min(silent, epoch - :epoch - 1) WHERE site = :site AND epoch > :epoch
"""
_RESERVE = """
INSERT INTO fleet_pace AS known (machine, due, gap, asked)
VALUES (:machine, :now + :gap + iif(NOT :own AND EXISTS (
    SELECT 1 FROM fleet_site WHERE site = :machine AND state = 'waiting'), :term, 0), :gap, iif(:own, -3600, :now))
ON CONFLICT (machine) DO UPDATE SET gap = :gap, asked = max(asked, excluded.asked),
    due = iif(:own OR asked > :now - 3600, max(due, :now) + :gap, max(due + :gap, excluded.due))
RETURNING machine, due - gap - :now
"""
_BOUND = """
INSERT INTO fleet_budget (what, bound) VALUES (?, ?) ON CONFLICT (what) DO UPDATE SET bound = excluded.bound
"""
_DRAW = """
UPDATE fleet_budget SET spent = spent + iif(:amount < 0, :amount, min(:amount, max(bound - spent, 0)))
WHERE what = :what
"""
_BUDGET = "SELECT what, bound, spent FROM fleet_budget ORDER BY what DESC"
_SEEN = """
INSERT INTO fleet_worker (worker, held, room, seen, expires, superseded, skew)
VALUES (:worker, :held, :room, :now, :now + :term, :superseded, :skew)
ON CONFLICT (worker) DO UPDATE SET held = excluded.held, room = excluded.room, seen = excluded.seen,
    expires = excluded.expires, superseded = excluded.superseded, skew = excluded.skew
RETURNING draining
"""
_ALIVE = "SELECT worker, held, room FROM fleet_worker WHERE expires > ? AND NOT draining"
_FREE = """
SELECT EXISTS (SELECT 1 FROM fleet_site WHERE state = 'waiting' AND wish <> 'pause' AND due <= ? AND owner IS NULL)
"""
_ENDED = """
SELECT site, state = 'done' OR seq > 0 AND NOT EXISTS (SELECT 1 FROM fleet_journal WHERE site = fleet_site.site) AS over
FROM fleet_site WHERE site = ? AND state <> 'waiting'
"""
_AGAIN = """
UPDATE fleet_site SET state = 'waiting', wish = 'run', reason = '', epoch = epoch + 1, round = round + :over,
    seq = iif(:over, 0, seq), pages = iif(:over, 0, pages), visits = iif(:over, 0, visits), size = iif(:over, 0, size)
WHERE site = :site
"""
_SEEN_STATE = """
CASE WHEN state <> 'waiting' THEN state WHEN wish = 'pause' THEN 'paused' WHEN owner IS NOT NULL THEN 'held'
ELSE 'waiting' END
"""
_STATES = f"""
SELECT {_SEEN_STATE}, count(*), sum(pages), sum(visits), sum(size), sum(takeovers),
    max(iif(owner IS NOT NULL, ? - stepped, NULL))
FROM fleet_site GROUP BY 1
"""
_WORKERS = """
SELECT worker, iif(expires > :now, held, 0), room, :now - seen, draining, superseded, skew
FROM fleet_worker ORDER BY worker
"""
_SITES = f"""
SELECT site, {_SEEN_STATE}, round, epoch, owner, iif(owner IS NOT NULL, expires - :now, NULL), seq, pages, visits, size,
    :now - stepped, priority, due, reason FROM fleet_site {{which}}
ORDER BY owner IS NULL, state <> 'failed', state <> 'waiting', priority DESC, due, site LIMIT :most
"""


class SqliteLedger:
    """A :class:`~sharc_crawler.fleet.ledger.FleetLedger` in a file; ``make``: create or update it.

    Raises :class:`~sharc_crawler.errors.UsageError` where there is no fleet, and
    :class:`~sharc_crawler.errors.StoreUnavailable` if the file cannot be used, or is locked for ``patience`` seconds.
    """

    def __init__(self, path: Path, patience: Seconds = 60.0, *, make: bool = False) -> None:
        self._name = f"the fleet's file {path}"
        if not make and not path.is_file():
            tables.require(0, str(path))
        with said_of(self._name):
            self._db = sqlite3.connect(
                path, timeout=patience, isolation_level=None, check_same_thread=False, factory=Connection
            )
            self._db.name = self._name
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA synchronous = FULL")
        try:
            self._known_by(path, make=make)
        except BaseException:
            self.close()
            raise

    def _known_by(self, path: Path, *, make: bool) -> None:
        with self._transaction() as db:
            [(known,)] = db.execute("PRAGMA user_version")
            if not make:
                tables.require(known, str(path))
            for script in tables.scripts("sqlite", known):
                for statement in statements(script):
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {tables.VERSION}")
            boot = BOOT.read_text() if BOOT.exists() else "unknown"
            if db.execute("UPDATE fleet_meta SET value = ? WHERE name = 'boot' AND value <> ?", (boot, boot)).rowcount:
                db.execute("UPDATE fleet_site SET expires = 0, stepped = NULL")
                db.execute("DELETE FROM fleet_worker")
                db.execute("DELETE FROM fleet_pace")
        if make:
            share(self._db)

    def clock(self) -> Instant:
        return time.time()

    # -- sites -------------------------------------------------------------------------------------------------------

    def add(self, orders: Iterable[SiteOrder]) -> int:
        statement = """
        INSERT INTO fleet_site (site, arguments, priority, due, epoch)
        VALUES (?, ?, ?, ?, (SELECT value FROM fleet_meta WHERE name = 'floor')) ON CONFLICT DO NOTHING
        """
        with self._transaction() as db:
            return sum(db.executemany(statement, part).rowcount for part in tables.orders_in_rows(orders, AT_ONCE))

    def claim(self, worker: str, most: int, term: Seconds, *, silent: bool = True) -> list[Tenure]:
        values = {"worker": worker, "most": most, "term": term, "now": time.monotonic(), "clock": time.time()}
        with self._transaction() as db:
            rows = db.execute(_CLAIM.format(which=_FREE_NOW), values).fetchall()
            if silent:
                values["most"] = most - len(rows)
                rows += db.execute(_CLAIM.format(which=_SILENT), values).fetchall()
            db.executemany(_CLAIMED, [{**values, "site": row[0]} for row in rows])
        return [tables.tenure_of(row) for row in rows]

    def step(self, steps: Sequence[JournalStep], term: Seconds) -> frozenset[str]:
        now, written = time.monotonic(), set()
        with self._transaction() as db:
            for one in steps:
                if db.execute(_STEP, {**one._asdict(), "now": now, "term": term}).rowcount:
                    values = (one.site, one.seq, one.epoch, one.body)
                    db.execute("INSERT INTO fleet_journal (site, seq, epoch, body) VALUES (?, ?, ?, ?)", values)
                elif not self._holds(one.site, one.epoch, "AND seq = ?", one.seq):
                    db.execute(_LIVED, one._asdict())
                    continue
                written.add(one.site)
        return frozenset(written)

    def renew(self, pulse: Pulse, term: Seconds) -> Renewal:
        now = time.monotonic()
        with self._transaction() as db:
            values = {**pulse._asdict(), "held": len(pulse.held), "now": now, "term": term}
            held = [{**values, "site": site, "epoch": epoch} for site, epoch in pulse.held.items()]
            renewed = [row for one in held for row in db.execute(_RENEW, one).fetchall()]
            db.executemany(_LIVED, held)
            [(draining,)] = db.execute(_SEEN, values).fetchall()
            [(free,)] = db.execute(_FREE, (time.time(),)).fetchall()
            alive = [] if free else db.execute(_ALIVE, (now,)).fetchall()
        return tables.renewal(renewed, draining, tables.surplus(pulse.worker, alive))

    def reserve(self, wanted: Sequence[Reservation], term: Seconds) -> Mapping[str, Seconds]:
        values = {"now": time.monotonic(), "term": term}
        with self._transaction() as db:
            return dict(row for one in wanted for row in db.execute(_RESERVE, {**one._asdict(), **values}).fetchall())

    def bound(self, bounds: Mapping[str, float]) -> None:
        with self._transaction() as db:
            db.executemany(_BOUND, [one for one in bounds.items() if one[1]])
            db.executemany("DELETE FROM fleet_budget WHERE what = ?", [(what,) for what in bounds if not bounds[what]])

    def draw(self, requests: float, size: float) -> Allowance:
        now = time.time()
        with self._transaction() as db:
            before = {what: spent for what, _, spent in db.execute(_BUDGET).fetchall()}
            db.executemany(_DRAW, [{"what": "requests", "amount": requests}, {"what": "bytes", "amount": size}])
            after = db.execute(_BUDGET).fetchall()
        return tables.allowance((what, bound - now, spent - before[what]) for what, bound, spent in after)

    def further(self, site: str, epoch: int) -> bool:
        return self._changed(
            "UPDATE fleet_site SET round = round + 1 WHERE site = ? AND epoch = ? AND seq = 0", (site, epoch)
        )

    def release(
        self, site: str, epoch: int, state: SiteState = SiteState.WAITING, reason: str = "", rest: Seconds = 0.0
    ) -> bool:
        return self._changed(
            "UPDATE fleet_site SET owner = NULL, expires = 0, state = ?, reason = ?, due = coalesce(?, due)"
            " WHERE site = ? AND epoch = ? AND owner IS NOT NULL",
            (state.value, reason, time.time() + rest if rest else None, site, epoch),
        )  # fmt: skip

    # -- journals ----------------------------------------------------------------------------------------------------

    def journal(self, site: str, upto: int, after: int = 0) -> Iterator[bytes]:
        query = "SELECT seq, body FROM fleet_journal WHERE site = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        while rows := self._rows(query, (site, after, upto, ROWS)):
            yield from (body for _, body in rows)
            after = rows[-1][0]

    def merged(self, site: str) -> int:
        [(seq,)] = self._rows("SELECT coalesce(max(seq), 0) FROM fleet_journal WHERE site = ? AND merged", (site,))
        return int(seq)

    def merge(self, site: str, epoch: int, after: int, upto: int, body: bytes) -> bool:
        with self._transaction() as db:
            if not self._holds(site, epoch):
                return False
            db.execute("DELETE FROM fleet_journal WHERE site = ? AND seq > ? AND seq < ?", (site, after, upto))
            merged = "UPDATE fleet_journal SET body = ?, merged = 1 WHERE site = ? AND seq = ?"
            return bool(db.execute(merged, (body, site, upto)).rowcount)

    def forget_journal(self, site: str, epoch: int) -> bool:
        with self._transaction() as db:
            if not self._holds(site, epoch):
                return False
            db.execute("DELETE FROM fleet_journal WHERE site = ?", (site,))
            return True

    def history(self, site: str) -> list[bytes]:
        return [body for (body,) in self._rows("SELECT body FROM fleet_history WHERE site = ? ORDER BY epoch", (site,))]

    def masks(self, site: str) -> str:
        query = "SELECT masks FROM fleet_history WHERE site = ? AND masks <> '' ORDER BY epoch DESC LIMIT 1"
        return next((masks for (masks,) in self._rows(query, (site,))), "")

    def remember(self, site: str, epoch: int, body: bytes, masks: str = "") -> bool:
        with self._transaction() as db:
            if not self._holds(site, epoch):
                return False
            db.execute("INSERT OR IGNORE INTO fleet_history VALUES (?, ?, ?, ?)", (site, epoch, body, masks))
            return True

    def robots(self, host: str, age: Seconds) -> tuple[Instant, str] | None:
        query = "SELECT read, text FROM fleet_robots WHERE host = ? AND read > ?"
        return next(iter(self._rows(query, (host, time.time() - age))), None)  # precise enough for a day

    def keep_robots(self, host: str, text: str) -> None:
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO fleet_robots VALUES (?, ?, ?)", (host, time.time(), text))

    def _holds(self, site: str, epoch: int, more: str = "", *values: int) -> bool:
        query = f"SELECT 1 FROM fleet_site WHERE site = ? AND epoch = ? {more}"
        return self._db.execute(query, (site, epoch, *values)).fetchone() is not None

    # -- orders ------------------------------------------------------------------------------------------------------

    def wish(self, wish: Wish, sites: Sequence[str] | None) -> int:
        wished = """
        UPDATE fleet_site SET wish = :wish,
            state = iif(:wish = 'stop' AND seq = 0 AND owner IS NULL, 'stopped', state)
        WHERE state = 'waiting'
        """
        with self._transaction() as db:
            if sites is None:
                return db.execute(f"{wished} AND (wish <> :wish OR :wish = 'stop')", {"wish": wish.value}).rowcount
            each = [{"wish": wish.value, "site": site} for site in set(sites)]
            return db.executemany(f"{wished} AND site = :site", each).rowcount

    def requeue(self, sites: Sequence[str] | None) -> int:
        with self._transaction() as db:
            if sites is None:
                sites = [site for (site,) in db.execute("SELECT site FROM fleet_site WHERE state = 'failed'")]
            found = [row for site in set(sites) for row in db.execute(_ENDED, (site,)).fetchall()]
            db.executemany("DELETE FROM fleet_journal WHERE site = ?", [(site,) for site, over in found if over])
            db.executemany(_AGAIN, [{"site": site, "over": over} for site, over in found])
            return len(found)

    def drop(self, sites: Sequence[str]) -> int:
        dropped = "DELETE FROM fleet_site WHERE site = ? RETURNING epoch"
        with self._transaction() as db:
            epochs = [epoch for site in set(sites) for (epoch,) in db.execute(dropped, (site,)).fetchall()]
            floor = "UPDATE fleet_meta SET value = max(value, ?) WHERE name = 'floor'"
            db.execute(floor, (max(epochs, default=0),))
            return len(epochs)

    def drain(self, worker: str) -> bool:
        return self._changed("UPDATE fleet_worker SET draining = 1 WHERE worker = ?", (worker,))

    def leave(self, worker: str) -> None:
        self._changed("DELETE FROM fleet_worker WHERE worker = ?", (worker,))

    # -- what people see ---------------------------------------------------------------------------------------------

    def status(self) -> FleetStatus:
        now = time.monotonic()
        workers = map(tables.worker_status, self._rows(_WORKERS, {"now": now}))
        return tables.fleet_status(time.time(), self._rows(_STATES, (now,)), workers, self._rows(_BUDGET, ()))

    def sites(self, sites: Sequence[str] | None = None, most: int = 1_000) -> list[SiteStatus]:
        which = "" if sites is None else "WHERE site IN (SELECT value FROM json_each(:sites))"
        values = {"now": time.monotonic(), "most": most, "sites": json.dumps(list(sites or ()))}
        return [tables.site_status(row) for row in self._rows(_SITES.format(which=which), values)]

    def close(self) -> None:
        self._db.close()

    # -- the file ----------------------------------------------------------------------------------------------------

    def _rows(self, query: str, values: Any) -> list[tuple[Any, ...]]:
        with said_of(self._name):
            return self._db.execute(query, values).fetchall()

    def _changed(self, statement: str, values: Any) -> bool:
        with self._transaction() as db:
            return bool(db.execute(statement, values).rowcount)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with said_of(self._name):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
