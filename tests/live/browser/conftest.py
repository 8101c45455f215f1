"""Browsers on a busy machine."""

from __future__ import annotations

import pytest

from sharc_crawler.live.browser import rendering


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A frame is waited for until it is drawn."""
    monkeypatch.setattr(rendering, "FRAMES", 5_000)
