"""The report of an instant crawl: what each delay rests on, and what is said where little is known."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest

from sharc_crawler.frontier.modes.instant import LINKED
from sharc_crawler.model import Kind, Outcome, Phase, Plan, Result, Slot, Validators
from sharc_crawler.report.instant.document import document
from sharc_crawler.report.instant.output import render, sentence, write
from sharc_crawler.report.load import is_instant
from sharc_crawler.state.rows import Batch, CaptureRow, NoveltyRow, OutsideRow, PageRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec

HUB = "http://h.example/<news>/"


def page(number: int, kind: Kind, url: str) -> PageRow:
    return PageRow(number, 0, url, url, kind, "h.example", 0, -1, "seed", 0, 0.0, "none", 1.0, 1.0, None, "")


def dated(number: int, hub: int, seen: float, since: float | None, published: float | None) -> NoveltyRow:
    return NoveltyRow(number, hub, seen, since, published, published, published)


def visit(number: int, started: float, result: Result = Result.OK) -> VisitRow:
    outcome = Outcome(result, started, started + 0.1, 200)
    return VisitRow(number, Slot.ONLY, Plan.HOPEFUL, 1, True, number, started, outcome)


def state(*novelties: NoveltyRow, visits: list[VisitRow] = (), ended: float | None = 400.0) -> Batch:
    spec = CaptureSpec("h.example", (HUB,), mode="instant", settings={"every": 60.0, "for": None, "run": "x"})
    pages = [page(0, Kind.HUB, HUB), *(page(row.page, Kind.PAGE, f"{HUB}{row.page}") for row in novelties)]
    return Batch(
        pages=pages,
        visits=[visit(0, 0.0), visit(0, 100.0, Result.NOT_MODIFIED), visit(0, 200.0), *visits],
        captures={0: CaptureRow(0, spec, Phase.VISIT, 0.0, None, ended, ("a note",))},
        novelties={row.page: row for row in novelties},
    )


def test_delays_by_what_they_rest_on():
    report = document(
        state(
            dated(1, 0, 200.1, 100.0, 150.0),
            dated(2, 0, 200.1, 100.0, None),
            dated(3, 0, 200.1, None, None),
            visits=[visit(1, 201.0), visit(2, 202.0), visit(3, 203.0)],
        )
    )
    delays = {entry["url"][-1]: (entry["delay"], entry["basis"]) for entry in report["pages"]}
    assert delays == {"1": (51.0, "published"), "2": (102.0, "bound"), "3": (None, None)}
    assert report["delay"]["published"] == {"pages": 1, "median": 51.0, "high": 51.0, "longest": 51.0}
    assert report["requests"] == {"hub": 3, "page": 3, "total": 6, "per_new_page": 2.0}
    (hub,) = report["hubs"]
    assert (hub["polls"], hub["not_modified"], hub["new_pages"], hub["interval"]) == (3, 1, 3, 100.0)


def test_an_interruption_is_told_to_people():
    cut = {"from": "2026-11-22T11:00:00Z", "to": "2026-11-22T11:00:43Z"}
    report = document(state()) | {"interruptions": [cut, cut]}
    assert "Interrupted 2 times, for 1 min 26 s in all" in sentence(report)
    assert "Interrupted 2 times" in render(report)
    assert "Interrupted" not in sentence(document(state()))


def test_a_date_from_the_future_is_not_believed():
    report = document(state(dated(1, 0, 200.1, 100.0, 9e9), visits=[visit(1, 201.0)]))
    assert report["pages"][0]["basis"] == "bound"
    assert report["pages"][0]["delay"] == 101.0
    assert report["dates"] == {"late": 1}
    assert "The dates of 1 page are not believed: the page was seen before." in sentence(report)


def test_delays_are_bounds():
    rows = {
        1: NoveltyRow(1, 0, 200.1, 100.0, -500.0, -500.0, -499.0),  # dated early: the poll at 100 lacked it
        2: NoveltyRow(2, 0, 200.1, 100.0, 90.0, 90.0, 120.0),
        3: NoveltyRow(3, 0, 200.1, 100.0, 0.0, 0.0, 86400.0),  # a bare date
        4: NoveltyRow(4, 0, 200.1, None, 0.0, -10.0, 86400.0),
    }
    report = document(state(*rows.values(), visits=[visit(number, 201.0) for number in rows]))
    found = {p["url"][-1]: (p["date"], p["basis"], p["delay_least"], p["delay"]) for p in report["pages"]}
    assert found == {
        "1": ("early", "bound", 0.9, 101.0),
        "2": ("believed", "published", 81.0, 101.0),
        "3": ("coarse", "bound", 0.9, 101.0),
        "4": ("believed", "published", 0.9, 211.0),
    }
    assert "The dates of 1 page are not believed" in sentence(report)


@pytest.mark.parametrize(("modified", "older"), [(90.0, True), (99.0, False), (150.0, False), (None, False)])
def test_a_page_that_was_modified_last_before_a_poll_that_lacked_it_is_no_newer_than_that(modified, older):
    row, stamp = dated(1, 0, 200.1, 100.0, None), modified and formatdate(modified + 7200.0, usegmt=True)
    got = visit(1, 201.0)
    answer = got.outcome._replace(date=201.0 + 7200.0, validators=Validators(None, stamp))  # its clock is ahead
    report = document(state(row, visits=[got._replace(outcome=answer)]))
    (found,) = report["pages"]
    assert (found["date"], found["delay"], found["basis"]) == (("older", None, None) if older else ("", 101.0, "bound"))
    assert (found["not_before"] is None) is older
    assert report["delay"]["bound"]["pages"] == (not older)
    told = "0 new pages captured, and 1 older page: by their own Last-Modified, old links that came back to a hub."
    assert sentence(report).startswith(told if older else "1 new page captured. ")
    assert ("captured, and 1 older page, of 1 that hubs showed" in render(report)) is older


def test_the_last_modified_of_an_error_page_makes_no_page_older():
    gone, stamp = visit(1, 201.0, Result.GONE), formatdate(90.0, usegmt=True)
    answer = gone.outcome._replace(date=201.0, validators=Validators(None, stamp))
    report = document(state(dated(1, 0, 200.1, 100.0, None), visits=[gone._replace(outcome=answer)]))
    assert report["dates"] == {}
    assert sentence(report).startswith("0 new pages captured.")


def test_what_hubs_named_and_no_crawl_takes_is_told_by_reason_and_by_name(tmp_path):
    crawl = state()
    crawl.captures[0] = crawl.captures[0]._replace(skipped={"longer than 2,000 characters": 3})
    crawl.outside = [OutsideRow(0, url, "longer than 2,000 characters", HUB) for url in ("http://h.example/long", HUB)]
    text = write(crawl, tmp_path)
    left = json.loads((tmp_path / "report.json").read_text())["left"]["not_followed"]
    assert left["sightings"] == {"longer than 2,000 characters": 3}
    assert [row["url"] for row in left["urls"]] == ["http://h.example/long"], "the hub is known by now"
    assert "longer than 2,000 characters: named 3 times" in text
    assert "<b>3</b> longer than 2,000 characters" in (tmp_path / "report.html").read_text()


def test_known_truth_comes_before_a_feed():
    crawl = state(dated(1, 0, 200.1, 100.0, 150.0), visits=[visit(1, 201.0)])
    assert document(crawl, {f"{HUB}1": 199.0})["pages"][0]["delay"] == 2.0


def test_95_percent_is_the_smallest_delay_that_so_many_do_not_exceed():
    rows = [dated(n, 0, 200.1, 100.0, 200.0 - n) for n in range(1, 21)]
    report = document(state(*rows, visits=[visit(n, 200.0) for n in range(1, 21)]))
    assert report["delay"]["published"] == {"pages": 20, "median": 10.5, "high": 19.0, "longest": 20.0}


@pytest.mark.parametrize(("fetched", "ended"), [(True, 400.0), (False, None)])
def test_html_shows_what_json_has_and_escapes_it(tmp_path, fetched, ended):
    visits = [visit(1, 201.0)] if fetched else []
    crawl = state(dated(1, 0, 200.1, 100.0, None), visits=visits, ended=ended)
    assert is_instant(crawl.captures)
    text = write(crawl, tmp_path)
    html = (tmp_path / "report.html").read_text()
    assert "<news>" not in html
    assert "&lt;news&gt;" in html
    assert ("≤ 1 min 41 s" in html) == fetched
    assert ("the same command resumes it" in html + text) == (ended is None)
    report = json.loads((tmp_path / "report.json").read_text())
    assert render(report) == html


def test_the_sentence_says_what_each_delay_rests_on():
    rows = [dated(1, 0, 200.1, 100.0, 150.0), dated(2, 0, 200.1, 100.0, None)]
    report = document(state(*rows, visits=[visit(1, 201.0), visit(2, 202.0)]))
    assert sentence(report).split(". ") == [
        "2 new pages captured",
        "1 page with a publication time: captured at most 51 s after it (median), 51 s at the 95th percentile",
        "1 page by polls alone: captured at most 1 min 42 s after they appeared on a polled hub (median),"
        " 1 min 42 s at the 95th percentile, since the poll before did not show them yet.",
    ]


def test_a_page_that_is_polled_since_new_pages_link_to_it_is_named_so(tmp_path):
    crawl = state()
    crawl.pages.append(page(1, Kind.HUB, f"{HUB}a")._replace(via=LINKED))
    text = write(crawl, tmp_path)
    assert f"{HUB}a (on trial, because new pages link to it): 0 polls" in text
    assert f"{HUB}: 3 polls" in text


def test_nothing_new_is_said_so():
    report = document(state())
    assert sentence(report).startswith("No new page")
    assert report["requests"]["per_new_page"] is None
    render(report)


@pytest.mark.parametrize("seeds", [1, 2])
def test_hubs_that_never_answered_say_nothing_of_what_was_published(seeds):
    crawl = state()
    crawl.pages.append(page(1, Kind.HUB, f"{HUB}b"))
    crawl.visits[:] = [visit(0, 1.0, Result.FAILED), *([visit(1, 2.0)] if seeds == 2 else [])]
    said = sentence(document(crawl))
    assert said.startswith("1 hub of 2 could not be read. No new" if seeds == 2 else "No hub could be read")
