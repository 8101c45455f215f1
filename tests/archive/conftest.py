"""One object store for all tests of this folder: its library keeps the connection of a process."""

from __future__ import annotations

import pytest

from tests.object_store import object_store


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with object_store(tmp_path_factory.mktemp("s3")) as store, pytest.MonkeyPatch.context() as patch:
        for name, value in store.environment.items():
            patch.setenv(name, value)
        yield store
