"""Three answers, on all pairs of results."""

from __future__ import annotations

from itertools import product

import pytest

from sharc_crawler.evidence.comparison import compare
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.validators import confirmed
from sharc_crawler.evidence.worded import code
from sharc_crawler.model import Change, Outcome, Result, Validators

ETAG = Validators(etag='"1"')


def outcome(result: Result, **fields: object) -> Outcome:
    return Outcome(result, 0.0, 1.0, **fields)  # type: ignore[arg-type]


CONTENT = outcome(Result.OK, digest="sha1:A", validators=ETAG)
PACKED = outcome(Result.OK, digest="sha1:P", decoded="sha1:A")
CUT = outcome(Result.OK, digest="sha1:P", decoded="cut:sha1:C", validators=ETAG)
BROKEN = outcome(Result.OK, digest="sha1:R", decoded="broken:sha1:D", validators=ETAG)
MOVED = outcome(Result.REDIRECTED, location="http://h/b")


@pytest.mark.parametrize(
    ("old", "new", "change", "evidence"),
    [
        (CONTENT, CONTENT, Change.UNCHANGED, Evidence.BYTES),
        (CONTENT, outcome(Result.OK, digest="sha1:B"), Change.CHANGED, Evidence.BYTES),
        (PACKED, outcome(Result.OK, digest="sha1:Q", decoded="sha1:A"), Change.UNCHANGED, Evidence.BYTES),
        (PACKED, CONTENT, Change.UNCHANGED, Evidence.BYTES),
        (PACKED, outcome(Result.OK, digest="sha1:P2", decoded="sha1:B"), Change.CHANGED, Evidence.BYTES),
        (CONTENT, CUT, Change.UNKNOWN, Evidence.NONE),
        (CUT, CONTENT, Change.UNKNOWN, Evidence.NONE),
        (CUT, CUT, Change.UNKNOWN, Evidence.NONE),
        (CUT, outcome(Result.NOT_MODIFIED), Change.UNKNOWN, Evidence.NONE),
        (CONTENT, BROKEN, Change.UNKNOWN, Evidence.NONE),
        (BROKEN, PACKED, Change.UNKNOWN, Evidence.NONE),
        (BROKEN, outcome(Result.OK, digest="sha1:Q", decoded="broken:sha1:E"), Change.UNKNOWN, Evidence.NONE),
        (BROKEN, BROKEN, Change.UNCHANGED, Evidence.BYTES),
        (BROKEN, outcome(Result.GONE), Change.CHANGED, Evidence.BYTES),
        (CONTENT, outcome(Result.OK), Change.UNKNOWN, Evidence.NONE),
        (outcome(Result.OK), outcome(Result.OK), Change.UNKNOWN, Evidence.NONE),
        (CONTENT, outcome(Result.NOT_MODIFIED), Change.UNCHANGED, Evidence.VALIDATOR),
        (outcome(Result.OK, digest="sha1:A"), outcome(Result.NOT_MODIFIED), Change.UNKNOWN, Evidence.NONE),
        (CONTENT, outcome(Result.GONE), Change.CHANGED, Evidence.BYTES),
        (outcome(Result.GONE), CONTENT, Change.CHANGED, Evidence.BYTES),
        (outcome(Result.GONE), outcome(Result.GONE), Change.UNCHANGED, Evidence.BYTES),
        (CONTENT, MOVED, Change.CHANGED, Evidence.BYTES),
        (
            MOVED,
            outcome(Result.NOT_MODIFIED),
            Change.UNKNOWN,
            Evidence.NONE,
        ),
        (outcome(Result.NOT_MODIFIED), outcome(Result.NOT_MODIFIED), Change.UNCHANGED, Evidence.VALIDATOR),
        (outcome(Result.NOT_MODIFIED), outcome(Result.GONE), Change.CHANGED, Evidence.BYTES),
        (CONTENT, outcome(Result.FAILED), Change.UNKNOWN, Evidence.NONE),
        (CONTENT, outcome(Result.REFUSED), Change.UNKNOWN, Evidence.NONE),
        (outcome(Result.FAILED), CONTENT, Change.UNKNOWN, Evidence.NONE),
    ],
)
def test_answers(old: Outcome, new: Outcome, change: Change, evidence: Evidence) -> None:
    assert compare(old, new)[:2] == (change, evidence)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("http://h/b", "http://h/b", Change.UNCHANGED),
        ("http://h/b", "http://h/c", Change.CHANGED),
        (None, "http://h/c", Change.UNKNOWN),
        ("http://h/b", None, Change.UNKNOWN),
    ],
)
def test_redirects_are_compared_by_their_target(before: str | None, after: str | None, change: Change) -> None:
    old, new = (outcome(Result.REDIRECTED, location=location) for location in (before, after))
    assert compare(old, new).change is change


def test_every_pair_of_results_has_an_answer_with_a_reason() -> None:
    for one, other in product(Result, repeat=2):
        answer = compare(outcome(one), outcome(other))
        assert answer.reason
        assert (answer.change is Change.UNKNOWN) == (answer.evidence is Evidence.NONE)


def test_fingerprints_never_upgrade_an_answer() -> None:
    old = outcome(Result.OK, digest="sha1:A", fingerprint="same")
    assert compare(old, outcome(Result.OK, digest="sha1:B", fingerprint="same")).change is Change.CHANGED
    assert compare(old, outcome(Result.OK, fingerprint="same")).change is Change.UNKNOWN


@pytest.mark.parametrize(
    ("etag", "before", "after", "date", "reason"),
    [
        ('"1"', 5, 6, None, Reason.LATER_MODIFIED),
        ('"1"', 5, 5, None, Reason.NOT_MODIFIED),
        ('"1"', 6, 5, None, Reason.NOT_MODIFIED),  # its ETag is the same
        (None, 6, 5, None, Reason.LATER_MODIFIED),  # an older content is another one, too
        (None, 5, 5, 3.0, Reason.NOT_MODIFIED),
        (None, 5, 5, 2.9, Reason.LATER_MODIFIED),  # of the future, by the server's own clock
        ('"1"', 5, 5, 2.9, Reason.NOT_MODIFIED),
    ],
)
def test_a_304_that_tells_another_last_modified_is_none(etag, before, after, date, reason) -> None:
    said = [Validators(etag, f"Thu, 01 Jan 1970 00:00:0{second} GMT") for second in (before, after)]
    old = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=said[0], date=date)
    new = Outcome(Result.NOT_MODIFIED, 8.0, 9.0, 304, validators=said[1])
    assert code(compare(old, new).reason) == reason


@pytest.mark.parametrize(
    ("asked", "said", "same"),
    [
        *[(f'"1{coding}"', '"1"', True) for coding in ("-gzip", "--gzip", ";gzip", "-br", "-zstd", "-deflate")],
        ('W/"1-gzip"', '"1"', True),
        ('"1-gzip"', 'W/"1-gzip"', True),
        ('"1-gzip"', '"1-br"', False),
        ('"1-gzip"', '"2"', False),
        ('"1"', '"1-gzip"', False),
        ('"1-gz"', '"1"', False),
        ('"1gzip"', '"1"', False),
    ],
)
def test_a_304_may_leave_away_what_its_etag_says_of_the_coding(asked, said, same) -> None:
    old = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=Validators(asked))
    new = Outcome(Result.NOT_MODIFIED, 8.0, 9.0, 304, validators=Validators(said))
    assert code(compare(old, new).reason) == (Reason.NOT_MODIFIED if same else Reason.OTHER_ETAG)


@pytest.mark.parametrize(
    ("asked", "said", "after"),
    [
        ('"1-gzip"', '"1"', '"1-gzip"'),
        ('W/"1"', '"1"', '"1"'),
        ('"1"', 'W/"1"', 'W/"1"'),
        ('"1"', None, '"1"'),
        (None, '"1"', '"1"'),
    ],
)
def test_what_a_304_confirms_is_asked_for_by_the_etag_that_the_server_knows(asked, said, after) -> None:
    assert confirmed(Validators(asked), Validators(said, "now")) == Validators(after, "now")
    assert confirmed(Validators(asked, "then"), Validators(said)) == Validators(after, "then")
