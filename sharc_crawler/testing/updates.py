"""Conformance tests of a notion of an update: subclass :class:`UpdatesContract`, and name yours in ``updates``.

.. code-block:: python

    class TestMine(UpdatesContract):
        updates = "mine.titles"
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.captures import Captures


def captures() -> Captures:
    """Captures of three pages (four, one and none), with digests, fingerprints and links."""
    found = Captures.of(["org,a)/", "org,b)/", "org,c)/"], [[1.0, 2.0, 3.0, 4.0], [2.0], []], [[7, 7, 8, 9], [7], []])
    links = np.empty(5, object)
    links[:] = [frozenset(), frozenset({"http://a.org/x.pdf"}), None, frozenset({"http://a.org/y.pdf"}), frozenset()]
    return replace(found, fingerprints=np.array([3, 3, 3, 4, 5]), links=links)


class UpdatesContract:
    """The tests that every notion must pass; answers are checked as in a ranking."""

    updates: ClassVar[str]  #: entry point or dotted path

    def test_one_answer_for_each_capture(self) -> None:
        assert updated(self.updates, captures()).shape == (5,)

    def test_of_nothing_nothing_is_said(self) -> None:
        nothing = Captures.of([], [], [])
        empty = replace(nothing, fingerprints=np.zeros(0, np.int64), links=np.empty(0, object))
        assert updated(self.updates, empty).shape == (0,)

    def test_the_same_twice_and_nothing_is_written_to(self) -> None:
        asked, known = captures(), captures()
        assert updated(self.updates, asked).tolist() == updated(self.updates, asked).tolist()
        for name in ("offsets", "times", "digests", "fingerprints", "links"):
            assert getattr(asked, name).tolist() == getattr(known, name).tolist()
