"""When captures of a collection are confirmed, and for how long that is tried."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

import pytest

from sharc_crawler.certificate.confirming import Unconfirmed
from sharc_crawler.certificate.fixity import NAME
from sharc_crawler.collection import confirming
from sharc_crawler.collection.confirming import AGAIN, PATIENCE, Confirmer


class Ended:
    """A process that has ended."""

    def __init__(self, code: int) -> None:
        self.poll = lambda: code


@pytest.mark.parametrize(
    ("late", "tried", "again"),
    [(-9.0, False, None), (9.0, True, True), (PATIENCE - 9, True, False), (PATIENCE + 9, False, None)],
)
def test_what_no_reading_confirms_is_tried_for_a_week(tmp_path, monkeypatch, late, tried, again):
    """Its pages have changed since: each try is a reading of the sitemaps and a whole verification."""
    (tmp_path / NAME).touch()
    due = time.time() - late
    monkeypatch.setattr(confirming, "waits", lambda folder: Unconfirmed(3, due))
    collection = SimpleNamespace(captures=lambda: [SimpleNamespace(folder=tmp_path, site="a")])
    confirmer = Confirmer(tmp_path / "log", {})
    assert list(confirmer._waiting(collection, ())) == [tmp_path] * tried
    if not tried:
        return
    confirmer._folder, confirmer._process = tmp_path, Ended(3)
    told = confirmer.ended()
    assert ("tried again in six hours" in told, "sharc confirm" in told) == (again, not again)
    assert list(confirmer._waiting(collection, ())) == []
    assert math.isfinite(confirmer._due[tmp_path]) is again
    assert AGAIN < PATIENCE
