"""Connections to SQLite that raise our ports' errors."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from sharc_crawler.storage.failing import said_of


class Connection(sqlite3.Connection):
    """A connection whose statements raise our errors, ``name`` being what they are about."""

    name = "database"

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As ever."""
        with said_of(self.name):
            return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        """As ever."""
        with said_of(self.name):
            return super().executemany(sql, parameters)

    def __exit__(self, *raised: Any) -> Literal[False]:
        with said_of(self.name):
            super().__exit__(*raised)
        return False
