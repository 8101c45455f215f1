"""Insert many rows that are equal in most columns: equal values are written into the statement, not bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3


def insertion(db: sqlite3.Connection, table: str, columns: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
    """The statement and the rows that insert these columns into a table; at least one column must have several values.

    >>> import sqlite3
    >>> sql, rows = insertion(sqlite3.connect(":memory:"), "page", [[1, 2], ["it's", "it's"], [1, 2], [None, None]])
    >>> rows, sql
    ([(1,), (2,)], "INSERT INTO page VALUES (?1, 'it''s', ?1, NULL)")
    """
    bound: list[Sequence[Any]] = []  # ?1, ?2, …
    places = []
    for column in columns:
        first = column[0]
        alike = column.count(first) == len(column) and not (isinstance(first, str) and "\0" in first)
        if alike:
            places.append(db.execute("SELECT quote(?)", (first,)).fetchone()[0])
            continue
        number = next((at for at, other in enumerate(bound, 1) if other == column), len(bound) + 1)
        if number > len(bound):
            bound.append(column)
        places.append(f"?{number}")
    return f"INSERT INTO {table} VALUES ({', '.join(places)})", list(zip(*bound, strict=True))  # noqa: S608 - as SQLite quotes
