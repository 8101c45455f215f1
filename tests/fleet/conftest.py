"""A PostgreSQL of the tests' own, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.database import Database, missing

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A running server, with as many databases as one likes."""
    if why := missing():
        pytest.skip(why)
    server = Database(tmp_path_factory.mktemp("postgresql"))
    yield server
    server.stop()
