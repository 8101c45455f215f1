"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True)  # a failure is the same for everybody
settings.load_profile("default")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the repository (or in $SHARC_DATA); never committed, so its tests skip where it is absent."""
    folder = Path(os.environ.get("SHARC_DATA", Path(__file__).resolve().parents[1] / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}; set SHARC_DATA to its folder")
    return folder


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are numbered: a gzip header bears the time, and pytest's processes must agree on the names of tests."""
    return argname if isinstance(val, bytes) and not val.isascii() else None
