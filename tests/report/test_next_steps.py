"""What a report says to do next."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html

from sharc_crawler.addresses import orders
from sharc_crawler.model import Result, Verdict
from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.marks import ORDERS
from sharc_crawler.report.next_steps import next_steps
from tests.report.by_hand import T, facts, judged, page, rendered, visit

REPORT = capture_entry(facts(judged("http://h/", Verdict.CHANGED)))
AUDIT = {"claimed": 35, "audited": 6, "changed": 0, "lies": 0, "unaudited": 0, "confidence": 0.95, "of": "lastmod",
         "strata": [], "unshown": {"since": 0, "lost": 0}}  # fmt: skip


@pytest.mark.parametrize(
    ("claimed", "bound", "command"),
    [(35, 17, "-a audit=0.9"), (600, 300, "-a audit=0.1"), (20, 20, "-a audit=1"), (35, 7, None)],
)
def test_an_audit_that_says_little_can_be_made_larger(claimed, bound, command) -> None:
    made = facts(judged("http://h/", Verdict.COHERENT), audit={**AUDIT, "claimed": claimed, "bound": bound})
    commands = [step.command for step in next_steps(capture_entry(made))]
    assert [one for one in commands if "audit" in one] == ([command] if command else [])
    kept_from_it = replace(made, audit={**AUDIT, "claimed": claimed, "bound": bound, "unshown": {"lost": 1}})
    assert not any("audit" in step.command for step in next_steps(capture_entry(kept_from_it))), "it would not help"


@pytest.mark.parametrize(
    ("changed", "command"),
    [
        ("http://h/a?b=1", "sharc diff FOLDER FOLDER 'http://h/a?b=1'"),
        ("", "sharc diff FOLDER FOLDER URL"),
    ],
)
def test_a_page_that_changed_is_named(changed, command) -> None:
    assert command in [step.command for step in next_steps(REPORT, changed)]


def test_a_capture_without_a_history_is_told_what_learns() -> None:
    assert "sharc collection add collection FOLDER" in [step.command for step in next_steps(REPORT)]
    project = {**REPORT, "settings": {"spider": "s"}}
    assert "-s SHARC_HISTORY=history.db" in [step.command for step in next_steps(project)]
    kept = {**REPORT, "settings": {"history": "history.db"}}
    assert not any("history" in step.command for step in next_steps(kept))


def test_noise_is_not_looked_for_where_a_copy_that_the_server_called_unmodified_shows_the_change() -> None:
    former = replace(visit(T - 10), result=Result.NOT_MODIFIED, status=304)
    report = capture_entry(facts(judged("http://h/", Verdict.CHANGED, visit=former)))
    commands = [step.command for step in next_steps(report)]
    assert "sharc masks FOLDER" not in commands
    assert "sharc diff FOLDER FOLDER URL" in commands


def test_orders_to_the_server_are_counted_with_what_leaves_them_out() -> None:
    asked = [page(f"http://h/cart/add?id={n}", visit=replace(visit(T), result=Result.REDIRECTED)) for n in range(80)]
    others = [judged(f"http://h/{name}", Verdict.COHERENT) for name in ("", "cart", "how-to-delete-files")]
    report = capture_entry(facts(*others, *asked, page("http://h/cart/add?id=80")))
    [note] = [note for note in report["notes"] if ORDERS in note]
    assert note.startswith(f"80 addresses look {ORDERS}, as http://h/cart/add?id=0: "), "the last was not asked for"
    [step] = [step for step in next_steps(report) if "exclude" in step.command]
    assert shlex.split(step.command) == ["-a", f"exclude={orders.ORDERS}"]
    assert f"exclude='{orders.ORDERS}'" in (Path(__file__).parents[2] / "docs/arguments.md").read_text()
    given = {**report, "settings": {"exclude": orders.ORDERS}}
    assert not any("exclude" in step.command for step in next_steps(given))
    assert not any(ORDERS in note for note in capture_entry(facts(*others))["notes"])


def test_pages_that_changed_between_their_downloads_are_not_called_lost() -> None:
    words = next(step.words for step in next_steps(REPORT) if step.command == "sharc masks FOLDER")
    assert words == "1 page changed its content between visit and revisit. Is it noise?"


def test_what_was_left_out_as_a_trap_is_told_with_what_takes_it() -> None:
    """In the box at the top, and in what to do next."""
    why = "looks like a trap: 28 pages of /page/*.html had 7 contents (traps=0 takes them)"
    left = [page(f"http://h/page/{n}.html", reason=why) for n in range(12)]
    gone = page("http://h/gone", reason="not there (status 404)")
    source = rendered(facts(judged("http://h/", Verdict.COHERENT), *left, gone))["report.html"]
    body = html.fromstring(source)
    [step] = body.xpath("//ul[@class='steps']/li[code='-a traps=0']")
    assert step.text.startswith("12 addresses were left out as a likely trap")
    [told] = body.xpath("//ul[@class='key']/li[contains(., 'not captured')]")
    assert "13 not captured, apart from these; 12 left out as a trap: see What to do next" in told.text_content()
    assert "traps=0" not in str(next_steps(REPORT))
