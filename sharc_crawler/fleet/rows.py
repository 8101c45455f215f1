"""Converts rows of a ledger's tables to the records of its port, and creates the tables.

The scripts in ``tables/`` run in order, under a lock, and are never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import islice
from math import inf
from typing import Any

from sharc_crawler.errors import UsageError
from sharc_crawler.fleet.ledger import (
    Allowance,
    Bound,
    FleetStatus,
    Renewal,
    SiteOrder,
    SiteState,
    SiteStatus,
    Tenure,
    Wish,
    WorkerStatus,
)
from sharc_crawler.model import Instant

Row = Sequence[Any]
VERSION = 2  #: of the tables
TABLES = files("sharc_crawler.fleet").joinpath("tables")


def surplus(worker: str, alive: Iterable[tuple[str, int, int]]) -> int:
    """How many sites a worker is to hand over: those above an equal share for which others have room.

    ``alive``: of each worker its name, the sites that it holds, and how many it would hold at most.

    >>> surplus("a", [("a", 10, 20), ("b", 0, 20)]), surplus("b", [("a", 10, 20), ("b", 0, 20)])
    (5, 0)
    >>> surplus("a", [("a", 10, 20), ("b", 0, 2)]), surplus("a", [("a", 3, 20), ("b", 2, 20)])
    (2, 0)
    """
    known = list(alive)
    if not known:
        return 0
    share = -(-sum(held for _, held, _ in known) // len(known))
    mine = next((held for name, held, _ in known if name == worker), 0)
    wanted = sum(max(0, min(room, share) - held) for name, held, room in known if name != worker)
    return max(0, min(mine - share, wanted))


def orders_in_rows(orders: Iterable[SiteOrder], at_once: int) -> Iterator[list[tuple[str, str, int, Instant]]]:
    """Sites as rows of their table, in batches."""
    rest = iter(orders)
    while some := list(islice(rest, at_once)):
        yield [(order.site, json.dumps(dict(order.arguments)), order.priority, order.due) for order in some]


def tenure_of(row: Row) -> Tenure:
    """A tenure from the row of a claimed site."""
    site, arguments, number, epoch, seq, wish, clock, former, shared, silent = row
    return Tenure(site, json.loads(arguments), number, epoch, seq, Wish(wish), clock, former, bool(shared), silent)


def renewal(rows: Sequence[Row], draining: object, surplus: int) -> Renewal:
    """A renewal from the rows of renewed sites: name, wish, whether its machine is shared."""
    wishes = {site: Wish(wish) for site, wish, _ in rows}
    return Renewal(wishes, bool(draining), surplus, frozenset(site for site, _, shared in rows if shared))


def allowance(rows: Iterable[Row]) -> Allowance:
    """An allowance from the rows of bounds: name, bound minus the ledger's time, amount given."""
    given = {what: left if what == "until" else amount for what, left, amount in rows}
    return Allowance(*(float(given.get(what, inf)) for what in ("requests", "bytes", "until")))


def site_status(row: Row) -> SiteStatus:
    """A site's status from its row."""
    site, state, *rest = row
    return SiteStatus(site, SiteState(state), *rest)


def worker_status(row: Row) -> WorkerStatus:
    """A worker's status from its row."""
    worker, held, room, seen, draining, *rest = row
    return WorkerStatus(worker, held, room, seen, bool(draining), *rest)


def fleet_status(
    now: Instant, states: Sequence[Row], workers: Iterable[WorkerStatus], budget: Iterable[Row]
) -> FleetStatus:
    """The fleet's status from a row per state: name, number, pages, visits, size, takeovers, longest step."""
    known = tuple(workers)
    pages, visits, size, takeovers = (sum(row[column] for row in states) for column in range(2, 6))
    return FleetStatus(
        now,
        {SiteState(row[0]): row[1] for row in states},
        pages,
        visits,
        size,
        takeovers,
        superseded=sum(worker.superseded for worker in known),
        oldest=max((row[6] for row in states if row[6] is not None), default=None),
        workers=known,
        budget=tuple(Bound(*row) for row in budget),
    )


def scripts(engine: str, known: int) -> list[str]:
    """The scripts that update tables of a version; raises UsageError for tables of a later version."""
    if known > VERSION:
        raise UsageError(f"the fleet's tables have version {known}, this software knows {VERSION}: update it")
    return [TABLES.joinpath(f"{engine}-{number}.sql").read_text() for number in range(known + 1, VERSION + 1)]


def require(known: int, where: str) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` unless the tables have this version."""
    if known != VERSION:
        what = f"has tables of version {known}, this software needs {VERSION}" if known else "holds no fleet"
        way_out = "update it" if known > VERSION else "`sharc fleet init` makes it, or brings it up to date"
        raise UsageError(f"{where} {what}: {way_out}")
