"""Which answers may lie in the records that no certificate speaks of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.addresses.unlikely import nobodys
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.unlisted import NOTE, Known
from sharc_crawler.changes.http import parse_response
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE, T = "http://a.example/p", 1_000_000.0


def answer(at: float, status: int, digest: str | None = None, **headers: str):
    head = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    message = parse_response(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode())
    return SimpleNamespace(message=message, uri=PAGE, date=iso(T + at), digest=digest)


def known(attempts: int, records: Mapping[str, SimpleNamespace] = {}) -> Known:
    """A capture, cut off at T, or with ``records`` by their places; its page was revisited in so many attempts."""
    cuts = [] if records else [{"from": iso(T), "to": iso(T + 1)}]
    found = Known({PAGE}, [{"capture": {"interruptions": cuts, "ended": iso(T + 99)}}], records.get)
    visit = {"file": "w", "offset": 1, "attempts": 1, "date": iso(T - 9.0)}
    found.add(
        {"url": PAGE, "visit": visit, "revisit": {"file": "w", "offset": 2, "attempts": attempts, "date": iso(T + 50)}}
    )
    return found


@pytest.mark.parametrize("excused", [0, 1, 3])
def test_what_a_cut_excuses_is_none_of_the_attempts_that_are_stated(excused):
    here = known(attempts=2)
    assert all(here.excuses(answer(-1.0 - n, 200, "e")) for n in range(excused))
    assert here.excuses(answer(5.0, 304)), "tested after the cut"
    assert not here.excuses(answer(6.0, 304)), "one more than is stated"


@pytest.mark.parametrize(("at", "excused"), [(-601.0, False), (-600.0, True), (1.0, True), (2.0, False)])
def test_a_cut_excuses_what_came_in_the_ten_minutes_before_it_until_the_capture_went_on(at, excused):
    assert known(attempts=1).excuses(answer(at, 200, "e")) is excused


@pytest.mark.parametrize(("status", "headers"), [(200, {"Content-Type": "text/html"}), (302, {"Location": "/login"})])
def test_a_page_seen_once_more_as_it_was_is_no_attempt_and_one_seen_otherwise_is_found(status, headers):
    records = {"w:1": answer(-9.0, status, "d", **headers), "w:2": answer(50.0, status, "d", **headers)}
    here = known(1, records)
    assert here.excuses(answer(5.0, status, "d", **headers, Date="another"))
    assert not here.excuses(answer(6.0, status, "d", **headers)), "it is asked for once"
    for at, code, digest, more in (
        (5.0, status, "e", {}),
        (5.0, 203, "d", {}),
        (5.0, status, "d", dict.fromkeys(headers, "another")),
        (5.0, status, "d", {"Refresh": "0; url=/other"}),
        (-10.0, status, "d", {}),  # before the visit
        (100.0, status, "d", {}),  # after the capture
    ):
        assert not known(1, records).excuses(answer(at, code, digest, **(headers | more)))


@pytest.mark.parametrize(("at", "digest", "excused"), [(-20.0, "a", True), (-20.0, "e", False), (5.0, "a", False)])
def test_a_page_seen_once_more_between_its_looks_is_compared_with_these(at, digest, excused):
    records = {"w:0": answer(-30.0, 200, "a"), "w:1": answer(-9.0, 200, "d"), "w:2": answer(50.0, 200, "d")}
    here = Known({PAGE}, [{"capture": {"interruptions": [], "ended": iso(T + 99)}}], records.get)
    look, visit, revisit = (
        {"file": "w", "offset": n, "attempts": 2, "date": one.date} for n, one in enumerate(records.values())
    )
    here.add({"url": PAGE, "visit": visit, "revisit": revisit, "former": [look]})
    assert here.excuses(answer(at, 200, digest)) is excused


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(
    ("digest", "status", "more", "excused"),
    [
        ("d", 200, {}, True),
        ("e", 200, {}, False),
        ("d", 203, {}, False),
        ("d", 200, {"Refresh": "0; url=/other"}, False),
        ("d", 200, {"Content-Type": "text/plain"}, None),
    ],
)
def test_a_page_may_be_seen_once_more_as_a_former_capture_has_it(asked, digest, status, more, excused):
    """By a 304, or not asked for: its links are looked at, to tell traps. Of the latter no record is at hand."""
    told = {"date": iso(T - 9000), "file": "of a former one", "attempts": 0, "status": 200, "server": {}}
    told = {"date": iso(T - 9), "file": "w", "attempts": 1, "status": 304} if asked else told
    visit = {**told, "offset": 1, "uri": PAGE, "digest": "d"}
    unmodified = answer(-9.0, 304, "d")
    unmodified.media_type = "text/html"
    found = Known({PAGE}, [{"capture": {"interruptions": [], "ended": iso(T + 99)}}], {"w:1": unmodified}.get)
    found.add({"url": PAGE, "visit": visit, "revisit": None})
    excused = not asked if excused is None else excused
    headers = {"Content-Type": "text/html"} | more
    assert found.excuses(answer(5.0, status, digest, **headers)) is excused
    assert found.excuses(answer(6.0, 200, "d", **{"Content-Type": "text/html"})) is not excused, "it is asked for once"


def test_an_attempt_that_is_stated_may_have_brought_what_the_next_one_did():
    """A project's own middleware asked again."""
    records = {"w:1": answer(-9.0, 200, "d"), "w:2": answer(50.0, 200, "d")}
    assert known(2, records).excuses(answer(-10.0, 200, "d"))
    assert not known(2, records).excuses(answer(-10.0, 200, "e"))
    assert not known(1, records).excuses(answer(-10.0, 200, "d"))


def test_what_had_changed_is_not_shown_as_it_was_after_that():
    records = {"w:1": answer(-9.0, 200, "old"), "w:2": answer(50.0, 200, "new")}
    assert known(1, records).excuses(answer(5.0, 200, "old"))
    assert known(1, records).excuses(answer(5.0, 200, "new"))
    assert not known(1, records).excuses(answer(60.0, 200, "old"))


def test_other_content_after_a_cut_is_not_excused():
    assert not known(attempts=2).excuses(answer(5.0, 200, "e"))


@pytest.mark.parametrize("status", [403, 404, 302])
def test_what_a_host_that_throttles_answers_is_an_attempt_before_the_visit_and_at_no_other_time(status):
    for at, excused in ((-1.0, True), (0.0, False), (1.0, False)):
        found = Known({PAGE}, [])
        visit = {"file": "w", "offset": 1, "attempts": 2, "date": iso(T)}
        found.add(
            {"url": PAGE, "visit": visit, "revisit": {"file": "w", "offset": 2, "attempts": 1, "date": iso(T + 50)}}
        )
        assert found.excuses(answer(at, status)) is excused
        assert not found.excuses(answer(-2.0, status)), "one more than is stated"


def test_a_name_that_nobody_gave_is_none_of_a_page_though_it_stands_in_what_tells_no_page_any_more():
    """Former versions told pages apart by what later ones leave out, and asked for names made up there."""
    asked = answer(60.0, 200, "e")
    asked.uri = nobodys(f"{PAGE}?query_desc=a", f"{PAGE}?query_desc=b")
    assert canonical(asked.uri) == PAGE
    assert known(attempts=1).excuses(asked)
    asked.uri = f"{PAGE}?query_desc=a"
    assert not known(attempts=1).excuses(asked)


@pytest.mark.parametrize("noted", [True, False])
def test_a_page_that_is_called_refuted_excuses_answers_only_where_a_note_says_so(noted):
    notes = [f"{NOTE} 1 page, of which nothing is claimed"] if noted else ["another note"]
    found = Known({PAGE}, [{"capture": {"interruptions": [], "notes": notes, "ended": ""}}])
    visit = {"file": "w", "offset": 1, "attempts": 1, "date": iso(T)}
    found.add(
        {
            "url": PAGE,
            "visit": visit,
            "revisit": {"file": "w", "offset": 2, "attempts": 1, "date": iso(T + 50)},
            "reason": "refuted",
        }
    )
    assert found.excuses(answer(5.0, 200, "forged")) is noted
