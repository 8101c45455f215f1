"""The log of a capture."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.frontier.admission import TOO_FAR
from sharc_crawler.model import Kind, Outcome, Result, Slot, Verdict
from sharc_crawler.report.left_out import left_by
from sharc_crawler.report.load import capture_facts
from sharc_crawler.report.log import entry, heritrix_line
from sharc_crawler.state.rows import Batch, JudgementRow, OutsideRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row

if TYPE_CHECKING:
    from pathlib import Path

#: a line of Heritrix's crawl.log: time, status, size, URL, hops, via, type, thread, start and duration, digest, seed
CRAWL_LOG = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z +-?\d+ +(?:\d+|-) \S+ [LEPMRX-]+ \S+ \S+ #\d{3} \d{17}\+\d+ \S+ \S+ \S+"
)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """A page visited twice, an image that failed once, a page that robots.txt refuses, a link to elsewhere."""
    failed = Outcome(Result.FAILED, 12.0, 13.0, error="no answer in time")
    refused = Outcome(Result.REFUSED, 15.0, 15.0, error="robots.txt disallows it")
    state = Batch(
        pages=[page_row(0), page_row(1)._replace(kind=Kind.RESOURCE, parent=0, depth=1), page_row(2)],
        visits=[
            visit_row(0)._replace(lease=1),
            visit_row(1)._replace(lease=2, finished=False, outcome=failed),
            visit_row(1)._replace(lease=3, attempt=2),
            visit_row(2)._replace(lease=4, attempt=0, outcome=refused),
            visit_row(0, Slot.SECOND)._replace(
                lease=5, outcome=visit_row(0).outcome._replace(started=30.0, ended=31.0)
            ),
        ],
        captures={0: capture_row()},
        outside=[OutsideRow(0, "http://elsewhere.example/", "another host", page_row(0).url)],
    )
    store = SqliteStore(tmp_path)
    store.commit(state)
    return store


def test_every_exchange_is_an_entry_in_the_order_they_ended(store):
    found = [entry(row) for row in store.exchanges()]
    assert [(one["decision"], one["attempt"], one["result"]) for one in found] == [
        (1, 1, "ok"),
        (2, 1, "failed"),
        (3, 2, "ok"),
        (4, 0, "refused"),
        (5, 1, "ok"),
    ]
    assert found[1]["error"] == "no answer in time"
    assert found[1]["referrer"] == found[0]["url"]
    assert [one["slot"] for one in found if one["url"] == found[0]["url"]] == ["first", "second"]
    assert len({tuple(one) for one in found}) == 1, "stable fields"
    assert [one["number"] for one in found] == [1, 2, 3, 4, 5]
    assert [entry(row) for row in store.exchanges(after=3)] == found[3:]


def test_what_a_shorter_way_led_to_after_all_is_not_told_as_left(tmp_path):
    far, on_way = "http://h.example/far", TOO_FAR.format(50)
    left = [OutsideRow(0, url, on_way, "http://h.example/50") for url in (page_row(1).url, far)]
    store, spec = SqliteStore(tmp_path), capture_row().spec
    whole = capture_row()._replace(skipped={on_way: 2}, spec=replace(spec, hops=50))
    store.commit(Batch(pages=[page_row(0), page_row(1)], captures={0: whole}, outside=left))
    (found,) = capture_facts(store)
    assert [row.url for row in found.outside] == [far]
    trails = "hops limits links in a row, which may have no end"
    why = f"1 URL and what only it leads to were not followed for hops=50. {trails}"
    assert (
        left_by(found) == f"The site was not captured whole: {why}. A new capture with a larger one would take it, too"
    )
    store.commit(Batch(pages=[page_row(2)._replace(url=far)]))
    assert not left_by(capture_facts(store)[0])


def test_the_format_of_heritrix(store):
    lines = [heritrix_line(row) for row in store.exchanges()]
    assert len(lines) == 5
    for line in lines:
        assert CRAWL_LOG.fullmatch(line), line
    assert [int(line.split()[1]) for line in lines] == [200, -4, 200, -9998, 200]
    assert lines[1].split()[4] == "E"


@pytest.mark.parametrize(
    ("result", "reason", "code"),
    [
        (Result.REFUSED, "budget: max_bytes=50000000B has no room left for it", -5003),
        (Result.REFUSED, "budget: max_time=80s has no room left for it", -5004),
        (Result.REFUSED, "robots.txt could not be read (no such host)", -61),
        (Result.REFUSED, "excluded by 'print='", -5001),
        (Result.FAILED, "no such host", -1),
        (Result.FAILED, "connection refused", -2),
        (Result.FAILED, "cut short", -3),
    ],
)
def test_what_came_to_nothing_has_the_code_of_heritrix(store, result, reason, code):
    row = next(iter(store.exchanges()))._replace(result=result, status=None, error=reason)
    assert int(heritrix_line(row).split()[1]) == code


def test_the_command(store, tmp_path: Path):
    store.close()
    done = CliRunner().invoke(main, ["log", str(tmp_path)])
    assert [json.loads(line)["decision"] for line in done.output.splitlines()] == [1, 2, 3, 4, 5]
    failed = CliRunner().invoke(main, ["log", str(tmp_path), "--failed"])
    assert [json.loads(line)["decision"] for line in failed.output.splitlines()] == [2, 4]
    assert CliRunner().invoke(main, ["log", str(tmp_path), "--heritrix"]).output.count("\n") == 5
    left = CliRunner().invoke(main, ["log", str(tmp_path), "--not-followed"])
    (line,) = map(json.loads, left.output.splitlines())
    assert (line["url"], line["reason"], line["via"]) == ("http://elsewhere.example/", "another host", page_row(0).url)


def test_a_page_made_by_script_has_its_verdict_with_its_data(tmp_path: Path):
    """As the report has it. Its document stayed, its data changed, or is not judged yet."""
    spec = CaptureSpec("h.example", ("http://h.example/",), settings={"browser": "always"})
    capture = capture_row(spec=spec, reference=20.0, ended=None)
    rows = [page_row(0), page_row(1, kind=Kind.DATA, parent=0), page_row(2)]
    same = JudgementRow(0, Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES)
    visits = [visit_row(number, slot) for slot in (Slot.FIRST, Slot.SECOND) for number in range(3)]
    with closing(SqliteStore(tmp_path)) as store:
        judgements = [same, same._replace(page=2)]
        store.commit(Batch(rows, visits, judgements=judgements, captures={0: capture}, embeds=[(0, 1)]))

    def verdicts() -> list[str | None]:
        done = CliRunner().invoke(main, ["log", str(tmp_path)])
        return [json.loads(line)["verdict"] for line in done.output.splitlines()]

    assert verdicts() == [None, None, "coherent"] * 2
    with closing(SqliteStore(tmp_path)) as store:
        other = JudgementRow(1, Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
        store.commit(Batch(judgements=[other], captures={0: capture._replace(ended=40.0)}))
    assert verdicts() == ["changed", "changed", "coherent"] * 2
