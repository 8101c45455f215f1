"""The ledger of a fleet in PostgreSQL 15 or later.

Each write is one statement with its own commit: a worker that is stopped halfway holds no lock, and a connection pool
(pgbouncer) may stand in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sharc_crawler.errors import StoreUnavailable, UsageError
from sharc_crawler.fleet import postgres_sql as sql
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

if TYPE_CHECKING:
    from psycopg.abc import PQGen

    from sharc_crawler.model import Instant, Seconds

AT_ONCE = 1_000  #: orders per statement
ROWS = 200  #: journal rows per query
CONNECT_TIMEOUT = 5  #: seconds, unless the DSN says otherwise
PUT_ELSEWHERE = (
    "the DSN holds a password, which every process list shows: leave it out, and put it into ~/.pgpass (or PGPASSFILE),"
    " or name a service (postgresql://?service=fleet)"
)


T = TypeVar("T")


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for an answer no longer than ``patience``."""

    patience: Seconds = inf

    def wait(self, gen: PQGen[T], interval: Seconds = 0.1, timeout: Seconds | None = None) -> T:
        """Wait like psycopg, but no longer than ``patience``; version 3.2 has no ``timeout``."""
        return super().wait(_within(gen, self.patience if timeout is None else timeout), interval)


def _within(answers: PQGen[T], patience: Seconds) -> PQGen[T]:
    """Run the generator, and raise once ``patience`` is over."""
    until = monotonic() + patience
    try:
        state = next(answers)
        while True:
            ready = yield state
            if monotonic() >= until:
                raise psycopg.OperationalError(f"no answer in {patience:g} s")
            state = answers.send(ready)
    except StopIteration as end:  # immediately, if a lost connection has nothing to roll back
        return cast("T", end.value)


class PostgresLedger:
    """A :class:`~sharc_crawler.fleet.ledger.FleetLedger` in a database.

    ``dsn``: as for libpq, without a password, which belongs in PGPASSFILE or a service file. ``patience``: seconds to
    wait for an answer, as a partition never gives one. ``make``: create or update the tables. Raises
    :class:`~sharc_crawler.errors.UsageError` for a DSN that cannot be used, or a database without a fleet, and
    :class:`~sharc_crawler.errors.StoreUnavailable` if it cannot be reached.
    """

    def __init__(self, dsn: str, patience: Seconds = 60.0, *, make: bool = False) -> None:
        self._given = _checked(dsn)
        self._patience = patience
        self._db: _Connection | None = None
        self._known_by(make=make)

    def _known_by(self, *, make: bool) -> None:
        with self._answered() as db, db.transaction():
            if make:
                db.execute(sql.LOCK)
            known = 0
            if db.execute(sql.HAS_TABLES).fetchall() == [(True,)]:
                [(known,)] = db.execute(sql.KNOWN).fetchall()
            if not make:
                tables.require(known, "the database")
                return
            for script in tables.scripts("postgresql", known):
                db.execute(script)
            db.execute(sql.NOTE_VERSION, (tables.VERSION,))

    def clock(self) -> Instant:
        [(now,)] = self._rows(sql.CLOCK)
        return float(now)

    # -- sites -------------------------------------------------------------------------------------------------------

    def add(self, orders: Iterable[SiteOrder]) -> int:
        parts = tables.orders_in_rows(orders, AT_ONCE)
        return sum(self._changed(sql.ADD, [list(column) for column in zip(*part, strict=True)]) for part in parts)

    def claim(self, worker: str, most: int, term: Seconds, *, silent: bool = True) -> list[Tenure]:
        found: list[Tenure] = []
        for which in (sql.FREE_NOW, sql.SILENT)[: 1 + silent]:
            values = {"worker": worker, "most": most - len(found), "term": term}
            if most > len(found):
                found += map(tables.tenure_of, self._rows(sql.CLAIM.format(which=which), values))
        return found

    def step(self, steps: Sequence[JournalStep], term: Seconds) -> frozenset[str]:
        if not steps:
            return frozenset()
        columns = dict(zip(JournalStep._fields, map(list, zip(*steps, strict=True)), strict=True))
        written = {site for (site,) in self._rows(sql.STEP, {**columns, "term": term})}
        if len(written) < len(steps):  # another worker's by now, or written before and the answer was lost
            written |= {site for (site,) in self._rows(sql.WRITTEN, columns)}
            self._changed(sql.LIVED, {"sites": columns["site"], "epochs": columns["epoch"]})
        return frozenset(written)

    def renew(self, pulse: Pulse, term: Seconds) -> Renewal:
        held = {"held": len(pulse.held), "sites": list(pulse.held), "epochs": list(pulse.held.values())}
        values = {**pulse._asdict(), **held, "term": term}
        self._changed(sql.ANEW, ())
        renewed = self._rows(sql.RENEW, values)
        if len(renewed) < len(pulse.held):
            self._changed(sql.LIVED, values)
        [(draining,)] = self._rows(sql.SEEN, values)
        [(free,)] = self._rows(sql.FREE)
        return tables.renewal(renewed, draining, 0 if free else tables.surplus(pulse.worker, self._rows(sql.ALIVE)))

    def reserve(self, wanted: Sequence[Reservation], term: Seconds) -> Mapping[str, Seconds]:
        machines, gaps, owns = map(list, zip(*wanted, strict=True))
        return dict(self._rows(sql.RESERVE, {"machines": machines, "gaps": gaps, "owns": owns, "term": term}))

    def bound(self, bounds: Mapping[str, float]) -> None:
        some = {what: bound for what, bound in bounds.items() if bound}
        self._changed(sql.BOUND, {"whats": list(some), "bounds": list(map(float, some.values()))})
        self._changed(sql.UNBOUND, (list(bounds.keys() - some.keys()),))

    def draw(self, requests: float, size: float) -> Allowance:
        return tables.allowance(self._rows(sql.DRAW, {"requests": requests, "size": size}))

    def further(self, site: str, epoch: int) -> bool:
        return bool(self._changed(sql.FURTHER, (site, epoch)))

    def release(
        self, site: str, epoch: int, state: SiteState = SiteState.WAITING, reason: str = "", rest: Seconds = 0.0
    ) -> bool:
        values = {"site": site, "epoch": epoch, "state": state.value, "reason": reason, "rest": rest}
        return bool(self._changed(sql.RELEASE, values))

    # -- journals ----------------------------------------------------------------------------------------------------

    def journal(self, site: str, upto: int, after: int = 0) -> Iterator[bytes]:
        while rows := self._rows(sql.JOURNAL, (site, after, upto, ROWS)):
            yield from (bytes(body) for _, body in rows)
            after = rows[-1][0]

    def merged(self, site: str) -> int:
        [(seq,)] = self._rows(sql.MERGED, (site,))
        return int(seq)

    def merge(self, site: str, epoch: int, after: int, upto: int, body: bytes) -> bool:
        values = {"site": site, "epoch": epoch, "after": after, "upto": upto, "body": body}
        return bool(self._changed(sql.MERGE, values))

    def forget_journal(self, site: str, epoch: int) -> bool:
        return self._rows(sql.FORGET, {"site": site, "epoch": epoch}) == [(1,)]

    def history(self, site: str) -> list[bytes]:
        return [bytes(body) for (body,) in self._rows(sql.HISTORY, (site,))]

    def masks(self, site: str) -> str:
        return next((str(masks) for (masks,) in self._rows(sql.MASKS, (site,))), "")

    def remember(self, site: str, epoch: int, body: bytes, masks: str = "") -> bool:
        values = {"site": site, "epoch": epoch, "body": body, "masks": masks}
        return self._rows(sql.REMEMBER, values) == [(1,)]

    def robots(self, host: str, age: Seconds) -> tuple[Instant, str] | None:
        return next(((float(read), text) for read, text in self._rows(sql.ROBOTS, (host, age))), None)

    def keep_robots(self, host: str, text: str) -> None:
        self._changed(sql.KEEP_ROBOTS, (host, text.replace("\0", "")))  # PostgreSQL cannot store NUL

    # -- orders ------------------------------------------------------------------------------------------------------

    def wish(self, wish: Wish, sites: Sequence[str] | None) -> int:
        return self._changed(sql.WISH, {"wish": wish.value, "sites": _listed(sites)})

    def requeue(self, sites: Sequence[str] | None) -> int:
        return self._changed(sql.REQUEUE, {"sites": _listed(sites)})

    def drop(self, sites: Sequence[str]) -> int:
        [(count,)] = self._rows(sql.DROP, {"sites": list(sites)})
        return int(count)

    def drain(self, worker: str) -> bool:
        return bool(self._changed(sql.DRAIN, (worker,)))

    def leave(self, worker: str) -> None:
        self._changed(sql.LEAVE, (worker,))

    # -- what people see ---------------------------------------------------------------------------------------------

    def status(self) -> FleetStatus:
        workers = map(tables.worker_status, self._rows(sql.WORKERS))
        return tables.fleet_status(self.clock(), self._rows(sql.STATES), workers, self._rows(sql.BUDGET))

    def sites(self, sites: Sequence[str] | None = None, most: int = 1_000) -> list[SiteStatus]:
        return [tables.site_status(row) for row in self._rows(sql.SITES, {"sites": _listed(sites), "most": most})]

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()
            db.pgconn.finish()  # close() leaves the descriptor of a lost connection open

    # -- the connection ----------------------------------------------------------------------------------------------

    def _rows(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
        with self._answered() as db:
            return db.execute(statement, values, binary=True).fetchall()

    def _changed(self, statement: str, values: Mapping[str, Any] | Sequence[Any]) -> int:
        with self._answered() as db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def _answered(self) -> Iterator[_Connection]:
        """The connection; it is closed if no answer comes in time."""
        try:
            self._db = self._db or self._connected()
            yield self._db
        except psycopg.Error as error:
            self.close()
            raise StoreUnavailable(f"the fleet's database: {_first_line(error)}") from error

    def _connected(self) -> _Connection:
        within = conninfo_to_dict(self._given).get("connect_timeout", CONNECT_TIMEOUT)
        db = _Connection.connect(  # a pool in between does not support prepared statements
            self._given, autocommit=True, prepare_threshold=None, connect_timeout=within
        )
        db.patience = self._patience
        return db


def _checked(dsn: str) -> str:
    try:
        known = conninfo_to_dict(dsn)
    except psycopg.Error as error:
        raise UsageError(f"DSN: {_first_line(error)}; write it as postgresql://HOST/DATABASE") from None
    if known.get("password"):
        raise UsageError(PUT_ELSEWHERE)
    return dsn


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _listed(sites: Sequence[str] | None) -> list[str] | None:
    return None if sites is None else list(sites)
