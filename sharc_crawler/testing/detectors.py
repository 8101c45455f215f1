"""Conformance of a change detector: subclass :class:`ChangeDetectorContract`, say how yours is made.

.. code-block:: python

    class TestMine(ChangeDetectorContract):
        def make(self):
            return Mine()
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import product
from typing import TYPE_CHECKING

from sharc_crawler.model import Change, Evidence, Outcome, Result, Validators

if TYPE_CHECKING:
    from sharc_crawler.changes.base import ChangeDetector

BODIES = (b"", b"<p>text</p>", b"\x00\xff\xfe", b"<!-- ", b"<" * 1_000, "<title>é</title>".encode("latin-1"))
MEDIA_TYPES = ("text/html", "text/html; charset=no-such", "image/png", "", None)


def content(digest: str | None, fingerprint: str | None = "same") -> Outcome:
    """A fetch that brought content."""
    return Outcome(Result.OK, 0.0, 1.0, 200, digest, fingerprint, Validators('"1"'))


class ChangeDetectorContract(ABC):
    """What a judgement relies on: never certainty without evidence."""

    @abstractmethod
    def make(self) -> ChangeDetector:
        """A detector."""

    def test_any_body_has_a_stable_fingerprint_or_none(self) -> None:
        detector = self.make()
        for body, media_type in product(BODIES, MEDIA_TYPES):
            assert detector.fingerprint(body, media_type) == detector.fingerprint(body, media_type)

    def test_equal_bytes_are_unchanged(self) -> None:
        answer = self.make().compare(content("sha1:A"), content("sha1:A", "other"))
        assert answer[:2] == (Change.UNCHANGED, Evidence.BYTES)

    def test_a_fingerprint_is_no_evidence(self) -> None:
        detector = self.make()
        assert detector.compare(content("sha1:A"), content("sha1:B")).change is not Change.UNCHANGED
        assert detector.compare(content(None), content(None)).change is Change.UNKNOWN

    def test_a_304_is_the_servers_word(self) -> None:
        answer = self.make().compare(content("sha1:A"), Outcome(Result.NOT_MODIFIED, 2.0, 3.0, 304))
        assert answer[:2] == (Change.UNCHANGED, Evidence.VALIDATOR)

    def test_a_failed_fetch_shows_nothing(self) -> None:
        for other in Result:
            for pair in ((Result.FAILED, other), (other, Result.FAILED)):
                old, new = (Outcome(result, 0.0, 1.0, digest="sha1:A", location="http://h.example/") for result in pair)
                assert self.make().compare(old, new).change is Change.UNKNOWN

    def test_a_page_that_is_gone_has_changed(self) -> None:
        answer = self.make().compare(content("sha1:A"), Outcome(Result.GONE, 2.0, 3.0, 404))
        assert answer.change is Change.CHANGED

    def test_unknown_goes_without_evidence_and_every_answer_has_a_reason(self) -> None:
        for one, other in product(Result, repeat=2):
            answer = self.make().compare(Outcome(one, 0.0, 1.0), Outcome(other, 2.0, 3.0))
            assert answer.reason
            assert (answer.change is Change.UNKNOWN) == (answer.evidence is Evidence.NONE)
