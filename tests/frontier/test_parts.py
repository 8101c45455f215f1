"""What a frontier is assembled from where nobody says otherwise: a first capture, which no archive knows."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.scope import Scope
from sharc_crawler.frontier.opening import LastSeen, Parts
from sharc_crawler.model import NO_VALIDATORS, Outcome, Result, Sighting
from sharc_crawler.strategies.base import Setting
from tests.frontier.small import ROOT, spec


@pytest.mark.parametrize(
    ("seen", "digest", "decoded", "fingerprint", "same"),
    [
        (LastSeen(1.0, "sha1:A"), "sha1:A", None, None, True),
        (LastSeen(1.0, "sha1:A"), "sha1:B", None, None, False),
        (LastSeen(1.0, "sha1:A"), "sha1:B", "sha1:A", None, True),
        (LastSeen(1.0, "sha1:A"), "sha1:A", "sha1:B", None, False),
        (LastSeen(1.0, "sha1:A", "f"), "sha1:B", None, "f", True),
        (LastSeen(1.0, "sha1:A", "f"), "sha1:B", None, "g", False),
        (LastSeen(1.0, "sha1:A", "f"), "sha1:A", None, "g", True),
    ],
)
def test_the_archive_has_seen_the_same_content_by_its_bytes_unpacked_or_by_what_counts_of_it(
    seen, digest, decoded, fingerprint, same
):
    outcome = Outcome(Result.OK, 9.0, 9.5, digest=digest, decoded=decoded, fingerprint=fingerprint)
    assert seen.shows(outcome) is same


def test_a_first_capture_has_the_scope_of_its_seeds_and_nothing_to_learn_from():
    parts, order = Parts(), spec(scope="prefix", include=("q",), exclude=("b",))
    scope = parts.scope(order)
    assert isinstance(scope, Scope)
    assert [scope.why_not(ROOT + path) for path in ("q", "qb", "c")] == [
        None,
        "excluded by 'b'",
        "matches no include pattern",
    ]
    assert scope.kind == "prefix"
    assert parts.strategy(spec(strategy="bfs"), Setting()).revisits
    assert len(parts.history(order)) == 0
    assert list(parts.links(order)) == []
    assert (parts.former(order, ROOT), parts.believed(), parts.taken(order, ROOT)) == (NO_VALIDATORS, True, None)
    assert parts.seen is None
    (rate,) = parts.rates(order).rates([Sighting(ROOT)], 0.0)
    assert rate.source == "prior"


def test_where_nobody_works_aside_work_is_over_when_it_is_asked_for():
    made = []
    done = Parts().aside(lambda: made.append(1) or 7, 1)
    assert done.done()
    assert (done.result(), made) == (7, [1])
