"""Which answers may lie in the records that no certificate speaks of."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.certificate.unspoken import Known
from sharc_crawler.instants import iso

PAGE, T = "http://a.example/p", 1_000_000.0


def answer(at: float, status: int, digest: str | None = None):
    return SimpleNamespace(message=SimpleNamespace(status=status), uri=PAGE, date=iso(T + at), digest=digest)


def known(attempts: int) -> Known:
    """A capture cut off at T, with a page that was revisited in so many attempts."""
    cut = {"from": iso(T), "to": iso(T + 1)}
    found = Known({PAGE}, [{"capture": {"interruptions": [cut]}}])
    found.add({"url": PAGE, "visit": {"digest": "d", "attempts": 1}, "revisit": {"digest": "d", "attempts": attempts}})
    return found


@pytest.mark.parametrize("excused", [0, 1, 3])
def test_what_a_cut_excuses_is_none_of_the_attempts_that_are_stated(excused):
    here = known(attempts=2)
    assert all(here.excuses(answer(-1.0 - n, 200, "e")) for n in range(excused))
    assert here.excuses(answer(5.0, 304)), "tested after the cut"
    assert not here.excuses(answer(6.0, 304)), "one more than is stated"


def test_other_content_after_a_cut_is_not_excused():
    assert not known(attempts=2).excuses(answer(5.0, 200, "e"))
