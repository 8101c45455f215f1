"""Conformance tests of a change detector: subclass :class:`ChangeDetectorContract`, and make yours in ``make``.

.. code-block:: python

    class TestMine(ChangeDetectorContract):
        def make(self):
            return Mine()
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import product

from sharc_crawler.changes.base import ChangeDetector, GuardedDetector

BODIES = (b"", b"<p>text</p>", b"\x00\xff\xfe", b"<!-- ", b"<" * 1_000, "<title>é</title>".encode("latin-1"))
MEDIA_TYPES = ("text/html", "text/html; charset=no-such", "image/png", "", None)


class ChangeDetectorContract(ABC):
    """A report relies on equal fingerprints for equal bodies."""

    @abstractmethod
    def make(self) -> ChangeDetector:
        """Make a detector."""

    def test_any_body_has_a_stable_fingerprint_or_none(self) -> None:
        detector = self.make()
        for body, media_type in product(BODIES, MEDIA_TYPES):
            found = GuardedDetector("it", detector).fingerprint(body, media_type)
            assert found == detector.fingerprint(body, media_type)
