"""A temporary look-up table on disk, for data that is too large for memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_AT_ONCE = 500  #: values written together


class Scratch:
    """Bytes with two keys. The first key is unique; the second finds the value added last.

    >>> kept = Scratch()
    >>> kept.add("a", "x", b"1"); kept.add("b", "x", b"2")
    >>> kept.first("a"), kept.second("x"), kept.first("c"), list(kept)
    (b'1', b'2', None, [b'1', b'2'])
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)  # a temporary file, removed on closing
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, first TEXT, second TEXT, value BLOB)")
        self._indexed = False
        self._waiting: list[tuple[str, str, bytes]] = []

    def add(self, first: str, second: str, value: bytes) -> None:
        """Add a value with its two keys."""
        self._waiting.append((first, second, value))
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def first(self, name: str) -> bytes | None:
        """The value with this first key."""
        return self._found("first", name)

    def second(self, name: str) -> bytes | None:
        """The value added last with this second key."""
        return self._found("second", name)

    def __iter__(self) -> Iterator[bytes]:
        self._ready()
        return (value for (value,) in self._db.execute("SELECT value FROM kept ORDER BY number"))

    def _found(self, column: str, name: str) -> bytes | None:
        self._ready()
        query = f"SELECT value FROM kept WHERE {column} = ? ORDER BY number DESC LIMIT 1"  # noqa: S608 - ours
        row = self._db.execute(query, (name,)).fetchone()
        return row[0] if row else None

    def _ready(self) -> None:
        self._write()
        if not self._indexed:  # cheapest once all values are there
            for column in ("first", "second"):
                self._db.execute(f"CREATE INDEX by_{column} ON kept ({column})")
            self._indexed = True

    def _write(self) -> None:
        if self._waiting:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO kept (first, second, value) VALUES (?, ?, ?)", self._waiting)
            self._db.execute("COMMIT")
            self._waiting.clear()
