"""A revisit is judged by all that the records hold."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import UNTOLD, of_headers
from sharc_crawler.evidence.intervals import reach
from sharc_crawler.evidence.judgement import APEX, Revisits, is_apex
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import unix
from sharc_crawler.model import Outcome, Result, Slot, Validators

URL = "http://h.example/news/1"
NOON = unix("2026-11-18T12:00:00.000000Z")
T = NOON + 50


def at(seconds: float, **fields: object) -> Outcome:
    """A download that brought the content A, from a server whose clock is ours."""
    shown = {"status": 200, "digest": "sha1:A", "media_type": "text/html", "date": float(int(NOON + seconds)), **fields}
    return Outcome(Result.OK, NOON + seconds, NOON + seconds + 0.1, **shown)  # type: ignore[arg-type]


def http(seconds: float) -> str:
    return f"Wed, 18 Nov 2026 12:{int(seconds) // 60:02}:{int(seconds) % 60:02} GMT"


def judged(visit: Outcome, revisit: Outcome, revisits: Revisits | None = None) -> tuple[str, str, str]:
    revisits = revisits or Revisits()
    revisits.visited(URL, visit)
    found = revisits.judge(URL, visit, revisit, T)
    return found.verdict.value, found.evidence.value, str(found.reason)


def etag(value: str, modified: float | None = None) -> Validators:
    return Validators(value, None if modified is None else http(modified))


OPEN = ("unknown", "none")
SAME = ("coherent", "bytes", "equal-bytes")
NOT_MODIFIED = at(90)._replace(result=Result.NOT_MODIFIED, status=304, digest=None)


@pytest.mark.parametrize(
    ("visit", "revisit", "expected"),
    [
        (at(10), at(90), SAME),
        # a copy from a cache
        (at(10), at(90, age=39.0), SAME),
        (at(10), at(90, age=40.0), (*OPEN, Reason.STALE)),  # 40.9 s, cut
        (at(10), at(90, age=41.0), (*OPEN, Reason.STALE)),
        (at(10), at(90, age=41.0, digest="sha1:B"), (*OPEN, Reason.STALE)),
        (at(10), NOT_MODIFIED._replace(validators=Validators(), age=60.0), (*OPEN, Reason.UNASKED_304)),
        (at(10, validators=etag('"1"')), NOT_MODIFIED._replace(age=60.0), (*OPEN, Reason.STALE)),
        (at(10), at(90, date=NOON + 10.0), (*OPEN, Reason.STALE)),
        (at(10), at(90, date=NOON + 40.0), (*OPEN, Reason.STALE)),
        (at(10), at(90, date=NOON + 51.0), (*OPEN, Reason.STALE)),  # cut to the second, by a clock known to the second
        (at(10), at(90, date=NOON + 52.0), SAME),
        (at(10), at(50.5, date=NOON + 49.0), SAME),  # no copy: a Date that is kept for a second
        # a server whose clock is wrong
        (at(10, date=NOON - 3_590.0), at(90, date=NOON - 3_510.0), SAME),
        (at(10, date=NOON - 3_590.0), at(90, date=NOON - 3_580.0), (*OPEN, Reason.STALE)),
        (at(10, date=None), at(90, date=None), SAME),
        # it may have changed and changed back
        (at(10, validators=etag('"1"')), at(90, validators=etag('"1"')), SAME),
        (at(10, validators=etag('"1"')), at(90, validators=etag('"3"')), (*OPEN, Reason.OTHER_ETAG)),
        (at(10, validators=etag('W/"1"')), at(90, validators=etag('"1"')), SAME),
        (at(10, validators=etag('W/"1"')), at(90, validators=etag('W/"3"')), (*OPEN, Reason.OTHER_ETAG)),
        (
            at(10, validators=Validators(None, "2026-11-18 10:00")),
            at(90, validators=Validators(None, "2026-11-18 10:01")),
            (*OPEN, Reason.LATER_MODIFIED),
        ),
        (at(10), at(90, age=UNTOLD), (*OPEN, Reason.STALE)),
        (
            at(10, validators=etag('"1-gzip"'), digest="sha1:P", decoded="sha1:A"),
            at(90, validators=etag('"1"')),
            ("coherent", "bytes", "equal-unpacked"),
        ),
        (at(10, validators=etag("", 5)), at(90, validators=etag("", 60)), (*OPEN, Reason.LATER_MODIFIED)),
        (at(10), at(90, validators=etag("", 60)), (*OPEN, Reason.LATER_MODIFIED)),
        (at(10, validators=etag("", 5)), at(90, validators=etag("", 7)), (*OPEN, Reason.LATER_MODIFIED)),
        (at(10, validators=etag('"1"', 5)), at(90, validators=etag('"1"', 7)), SAME),
        (at(10, validators=etag("", 5)), at(90, validators=etag("", 2)), (*OPEN, Reason.LATER_MODIFIED)),  # put back
        (at(10, validators=etag('"1"', 5)), at(90, validators=etag('"1"', 2)), SAME),
        (at(10, validators=etag("", 10)), at(90, validators=etag("", 90)), (*OPEN, Reason.LATER_MODIFIED)),
        (
            at(10, validators=etag('"1"')),
            NOT_MODIFIED._replace(validators=etag('"2"')),
            (*OPEN, Reason.OTHER_ETAG),
        ),
        (
            at(10, validators=etag("", 1)),
            NOT_MODIFIED._replace(validators=etag("", 60)),
            (*OPEN, Reason.LATER_MODIFIED),
        ),
        (
            at(10, validators=etag("", 5)),
            NOT_MODIFIED._replace(validators=etag("", 2)),
            (*OPEN, Reason.LATER_MODIFIED),
        ),
        (
            at(10, validators=etag('"1"', 5)),
            NOT_MODIFIED._replace(validators=etag('"1"', 2)),
            ("coherent", "validator", "not-modified"),
        ),
        # the server's word, and how much it says
        (at(10, validators=etag('"1"')), NOT_MODIFIED, ("coherent", "validator", "not-modified")),
        (at(10, validators=etag('W/"1"')), NOT_MODIFIED, ("coherent", "weak-validator", "not-modified")),
        (at(10, validators=etag("one two")), NOT_MODIFIED, ("coherent", "weak-validator", "not-modified")),
        (at(10, validators=etag("", 1)), NOT_MODIFIED, ("coherent", "validator", "not-modified")),
        (at(10, validators=etag("", 20)), NOT_MODIFIED, (*OPEN, Reason.LATER_MODIFIED)),
        (at(10, validators=etag("", 10)), NOT_MODIFIED, ("coherent", "weak-validator", "not-modified")),
        (at(10, validators=etag("", 1), date=None), NOT_MODIFIED, ("coherent", "weak-validator", "not-modified")),
        # the same bytes, and not the same page
        (at(10), at(90, media_type="text/plain"), ("changed", "bytes", "other-type")),
        (at(10, charset="utf-8"), at(90, charset="latin-1"), ("changed", "bytes", "other-type")),
        (at(10, decoded="sha1:U"), at(90), ("changed", "bytes", "other-type")),  # it is not said to be packed any more
        (at(10), at(90, status=206), (*OPEN, Reason.PARTIAL)),
        (at(10, status=206), at(90, status=206), (*OPEN, Reason.PARTIAL)),
        (at(10, part=True), at(90, part=True), (*OPEN, Reason.PARTIAL)),
        (at(10), at(90, part=True), (*OPEN, Reason.PARTIAL)),
        (at(10, part=True, validators=etag('"1"')), NOT_MODIFIED, (*OPEN, Reason.PARTIAL)),
    ],
)
def test_what_speaks_against_a_page(visit: Outcome, revisit: Outcome, expected: tuple[str, str, str]) -> None:
    assert judged(visit, revisit) == expected


def test_a_last_modified_of_now_says_something_where_those_of_its_kind_are_old() -> None:
    """Changed within a second before its visit, and again before its revisit: to and fro?"""
    visit, revisit = at(10, validators=etag("", 10)), at(90, validators=etag("", 90))
    assert judged(visit, revisit) == (*OPEN, Reason.LATER_MODIFIED), "of one page nobody can tell"
    assert judged(visit, revisit, clocks(3)) == (*OPEN, Reason.LATER_MODIFIED)
    assert judged(visit, revisit, clocks(4)) == SAME
    revisits = clocks(4)
    revisits.visited(URL, at(5, validators=etag("", 1)))
    assert judged(visit, revisit, revisits) == (*OPEN, Reason.LATER_MODIFIED)
    late = clocks(4)
    late.visited(URL, at(60, validators=etag("", 1)))  # after T: nothing that was known at the judgement
    assert judged(visit, revisit, late) == SAME
    for then in (50, 60):  # at T, and after it
        assert judged(visit, revisit, clocks(4, then)) == (*OPEN, Reason.LATER_MODIFIED), "nor were these"


def test_where_there_is_no_t_yet_nothing_is_too_old() -> None:
    revisits = Revisits()
    old = at(90, age=80.0)
    assert revisits.judge(URL, at(10), old, T).reason == Reason.STALE
    assert revisits.judge(URL, at(10), old, None).reason == Reason.EQUAL_BYTES


def clocks(pages: int, visited: int = 2) -> Revisits:
    """Before that so many pages were visited that are dated anew at each answer."""
    revisits = Revisits()
    for number in range(pages):
        revisits.visited(f"{URL}{number}", at(visited, validators=etag("", visited)))
    return revisits


def test_the_clock_of_a_server_is_known_from_all_its_visits_before_t() -> None:
    revisits = Revisits()
    for number in range(9):
        revisits.visited(f"http://h.example/{number}", at(number))
    late = at(60, date=NOON + 9_000.0)
    revisits.visited("http://h.example/late", late)
    # the visit's own copy was as old as the revisit's: only the others tell
    assert judged(at(10, date=NOON - 30.0), at(90, date=NOON + 45.0), revisits)[2] == Reason.STALE


@pytest.mark.parametrize(("took", "reason"), [(0.2, Reason.STALE), (90.0, Reason.EQUAL_BYTES)])
def test_where_all_is_copied_the_freshest_copy_tells_the_time(took: float, reason: Reason) -> None:
    """A cache keeps each page for a minute, and says so by its Date alone; or is it that all answers are slow?"""
    revisits = Revisits()
    for number in range(30):
        late = at(number, date=NOON + number - number * 7 % 60)
        revisits.visited(f"http://h.example/{number}", late._replace(ended=late.started + took))
    assert judged(at(10, date=NOON - 20.0), at(90, date=NOON + 40.0), revisits)[2] == reason


def test_the_only_download_of_a_page_is_none_of_t_where_its_date_is_that_of_a_copy() -> None:
    revisits = Revisits()
    for number in range(9):
        revisits.visited(f"http://h.example/{number}", at(number))
    for date, verdict in ((45.0, "unknown"), (49.0, "coherent")):
        late = at(50.5, date=NOON + date)
        revisits.visited(URL, late)
        assert revisits.apex(URL, late).verdict.value == verdict


@pytest.mark.parametrize(("right", "copy", "found"), [
    (6, 0, SAME),
    (3, 0, (*OPEN, Reason.STALE)),  # of so few nobody can tell
    (6, 30, (*OPEN, Reason.STALE)),  # by a copy's own Date
    (6, -1800, (*OPEN, Reason.STALE)),  # by the other clock, half an hour old
])  # fmt: skip
def test_what_comes_after_our_clock_was_set_right_is_no_copy_where_both_clocks_agree(right, copy, found) -> None:
    """An hour behind, for the first ten visits: by the clock that the server had then, all that follows is old."""
    revisits = Revisits()
    for number in range(10):
        revisits.visited(f"http://h.example/{number}", at(number - 3_600, date=NOON + number))
    for number in range(right):
        revisits.visited(f"http://h.example/later/{number}", at(20 + number))
    visit = at(-3_580, date=NOON + 15)
    assert judged(visit, at(90, date=NOON + 90 - copy), revisits) == found


def test_of_a_clock_far_ahead_it_is_read_once_whether_it_was_set_right(monkeypatch) -> None:
    """Not at each revisit: the visits of a large site are many."""
    revisits, sorts, argsort = Revisits(), [], np.argsort
    for number in range(10):
        revisits.visited(f"http://h.example/{number}", at(number - 3_600, date=NOON + number))
    for number in range(6):
        revisits.visited(f"http://h.example/later/{number}", at(20 + number))
    monkeypatch.setattr(np, "argsort", lambda *given, **how: sorts.append(1) or argsort(*given, **how))
    for number in range(20):
        assert judged(at(20), at(90 + number), revisits) == SAME
    assert len(sorts) == 1


def test_slow_answers_of_one_clock_do_not_make_the_others_copies() -> None:
    revisits = Revisits()
    for number in range(30):
        slow = number % 3 == 0 and 8.0
        one = at(number, date=NOON + number + slow)
        revisits.visited(f"http://h.example/{number}", one._replace(ended=one.started + slow + 0.1))
    assert judged(at(10), at(90), revisits) == SAME


def test_validators_that_differ_at_every_download_of_a_class_say_nothing() -> None:
    revisits = Revisits()
    pairs = [(at(n, validators=etag(f'"{n}"')), at(99 - n, validators=etag(f'"{n}-2"'))) for n in range(49, 39, -1)]
    found = [judged(*pair, revisits)[2] for pair in pairs]
    assert found[:5] == [Reason.OTHER_ETAG] * 5, "until it is known"
    assert found[5:] == [Reason.EQUAL_BYTES] * 5
    still = revisits.judge("http://h.example/other/1.html", *pairs[0], T)
    assert still.reason == Reason.OTHER_ETAG, "another class"


def test_pages_long_apart_or_really_changing_teach_nothing_of_their_class() -> None:
    far, mixed = Revisits(), Revisits()
    for number in range(10):
        pair = at(number, validators=etag('"1"')), at(90, validators=etag('"2"'))
        assert judged(*pair, far)[2] == Reason.OTHER_ETAG
        near = at(45, validators=etag('"1"')), at(55, validators=etag('"2"'))
        if number == 3:
            judged(at(45), at(55, digest="sha1:B"), mixed)
        assert judged(*near, mixed)[2] == Reason.OTHER_ETAG


def test_a_deploy_that_was_rolled_back_around_t_does_not_make_validators_restless() -> None:
    """Each page is visited before it and revisited after it: so all pairs bring the same bytes and other ETags."""
    revisits = Revisits()
    pairs = [(at(30 + n, validators=etag('"1"')), at(60 + n, validators=etag('"3"'))) for n in range(12)]
    assert [judged(*pair, revisits)[2] for pair in pairs] == [Reason.OTHER_ETAG] * 12
    pairs = [(at(47, validators=etag('"1"')), at(52, validators=etag('"3"'))) for n in range(12)]
    assert [judged(*pair, revisits)[2] for pair in pairs] == [Reason.OTHER_ETAG] * 12, "after five seconds, too"


def test_a_last_modified_after_the_visit_counts_though_the_visit_had_neither_that_nor_a_date() -> None:
    bare = {"date": None, "validators": Validators()}
    assert judged(at(10, **bare), at(90, validators=Validators(None, http(40))))[2] == Reason.LATER_MODIFIED
    assert judged(at(45, **bare), at(90, validators=Validators(None, http(40))))[2] == Reason.EQUAL_BYTES


def test_what_a_proxy_rewrote_is_a_copy_of_no_age_that_can_be_read() -> None:
    told = of_headers([(b"Warning", b'214 proxy "Transformation"')])
    assert judged(at(10), at(90, age=told["age"]))[2] == judged(at(10), at(90, status=203))[2] == Reason.STALE
    assert not is_apex(Slot.ONLY, at(50, status=203))


def test_a_copy_from_a_cache_is_no_reference_download() -> None:
    assert is_apex(Slot.ONLY, at(50))
    assert is_apex(Slot.ONLY, fresh := at(50, age=0.0))
    assert Revisits().apex(URL, fresh) == APEX, "by its record, too"
    assert not is_apex(Slot.ONLY, at(50, age=3.0))
    assert is_apex(Slot.ONLY, at(50)._replace(ended=NOON + 52.0))
    assert not is_apex(Slot.ONLY, at(50)._replace(ended=NOON + 52.1)), "it shows a later state"
    assert not is_apex(Slot.ONLY, at(50, part=True))
    assert not is_apex(Slot.FIRST, at(50))


@pytest.mark.parametrize(
    ("sent", "charset", "age"),
    [
        ({}, None, None),
        ({"Content-Type": [b'text/html; Charset = "UTF-8"; x=y'], "Age": [b"3", b"2, 12"]}, "utf-8", 12.0),
        ({"Content-Type": [b"text/html;charset="], "Age": [b"-1"]}, None, UNTOLD),
        ({"Content-Type": [b"image/png\xc3\xa9"], "Age": ["²".encode()]}, None, UNTOLD),
        ({"Age": [b""], "Cache-Status": [b"a; fwd=stale", b"b;hit ;ttl=-5"]}, None, UNTOLD),
        ({"Age": [b"5"], "Cache-Status": [b"b; hit"], "Warning": [b'214 - "x"']}, None, 5.0),
        ({"Warning": [b'214 a "x"', b'110 b "Response is Stale"']}, None, UNTOLD),
    ],
)
def test_headers_as_they_are_read(sent: dict[str, list[bytes]], charset: str | None, age: float | None) -> None:
    found = of_headers([(name.encode(), value) for name, values in sent.items() for value in values])
    assert (found["charset"], found["age"]) == (charset, age)


def test_headers_that_are_there_twice_say_what_is_least_favourable() -> None:
    old, new = b"Wed, 18 Nov 2026 10:00:00 GMT", b"Wed, 18 Nov 2026 11:00:00 GMT"
    sent = {"ETag": [b'"1"', b'"5"'], "Last-Modified": [old, new], "Date": [new, b"soon", old]}
    sent["Content-Type"] = [b"text/html", b"Text/Plain"]
    found = of_headers([(name.encode(), value) for name, values in sent.items() for value in values])
    assert (found["media_type"], found["charset"]) == ("text/html", "text/html, text/plain"), (
        "another type than one alone"
    )
    assert found["validators"] == Validators('"1", "5"', new.decode())
    assert found["date"] == http_date(old.decode())


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        (Result.GONE, "changed"),
        (Result.REDIRECTED, "changed"),
        (Result.FAILED, "coherent"),  # nothing was seen of it
        (Result.REFUSED, "coherent"),
    ],
)
def test_a_page_that_was_gone_at_a_second_look_has_changed_though_it_comes_back(met: Result, expected: str) -> None:
    revisits = Revisits()
    revisits.visited(URL, at(10))
    revisits.looked(URL, at(10), Outcome(met, NOON + 20, NOON + 20.1, 404))
    assert revisits.judge(URL, at(10), at(90), T).verdict.value == expected
    revisits.visited(URL, at(30))
    assert judged(at(30), at(90), revisits) == SAME, "it was visited again since"


@pytest.mark.parametrize(("again", "shown"), [(100.9, 100.9), (109.0, 100.5)])
def test_a_date_that_is_the_visits_tells_of_a_copy_where_time_has_passed(again, shown):
    visit, revisit = (Outcome(Result.OK, at, at, 200, "A", date=100.0) for at in (100.5, again))
    assert reach(revisit, visit, None) == shown
