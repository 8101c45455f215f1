"""Rows that are alike in most columns are entered as they are one by one."""

from __future__ import annotations

import math

import pytest

from sharc_crawler.model import Hints, Kind
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import Batch, PageRow
from sharc_crawler.storage import sqlite
from sharc_crawler.storage.sqlite import SqliteStore

ONE = PageRow(
    0, 0, "", "", Kind.PAGE, "h", 1, 3, "http://h/it's.xml", State.QUEUED, 0.1, "none", math.inf, 1.0, None, ""
)
HINTS = Hints(5.0, 1.0)


def pages(**changed) -> list[PageRow]:
    """Some pages; ``changed``: what each has in a field."""
    rows = [ONE._replace(page=page, key=f"http://h/{page}", url=f"http://h/{page}", hints=HINTS) for page in range(6)]
    return [row._replace(**{name: value(row.page) for name, value in changed.items()}) for row in rows]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"url": lambda page: f"http://h/{page}#x"},
        {"url": lambda page: "http://h/same"},
        {"kind": lambda page: [Kind.PAGE, Kind.SITEMAP][page % 2], "state": lambda page: [0, 6][page % 2]},
        {"shape": lambda page: 1.0 + page, "rate": lambda page: 1e-300 / 3, "weight": lambda page: 0.1 + 0.2},
        {"hints": lambda page: HINTS if page % 2 else None, "host": lambda page: "h" if page else "www.h"},
        {"via": lambda page: "a\0b", "reason": lambda page: "\U0001f600 '\"?1"},
        {"page": lambda page: page * 2, "parent": lambda page: page * 2},
    ],
)
def test_they_are_entered_as_they_are_one_by_one(changed, tmp_path, monkeypatch):
    found = []
    for many in (2, 100):
        monkeypatch.setattr(sqlite, "MANY", many)
        folder = tmp_path / str(many)
        folder.mkdir()
        store = SqliteStore(folder)
        store.commit(Batch(pages=pages(**changed)))
        found.append((store.load().pages, list(store._db.execute("SELECT *, quote(rate) FROM page"))))
        store.close()
    assert found[0] == found[1]
    assert found[0][0] == pages(**changed)
