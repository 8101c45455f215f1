"""``sharc report`` on folders that hold a capture, and on some that do not."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from benchmarks.instant_runs import crawl as instant_crawl
from sharc_crawler.cli import main
from sharc_crawler.collection.terms import FILE
from sharc_crawler.demo import LivingSite
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Phase, Slot, Verdict
from sharc_crawler.polling.terms import Terms
from sharc_crawler.report.marks import UNDER_WAY
from sharc_crawler.report.next_steps import next_steps
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import Batch, JudgementRow
from sharc_crawler.storage.sqlite import FILE_NAME, SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


@pytest.mark.slow
def test_what_a_report_of_a_killed_crawl_needs_not_is_not_loaded():
    """Readers of packages and of others' WARC files take 11 MB."""
    script = "import sharc_crawler.cli.report, sys; print('warcio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=280)
    assert done.stdout == "False\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pages; one is the same at 10.25 s and 30.25 s, one is not."""
    later = visit_row(0).outcome._replace(started=30.25, ended=30.5)
    store = SqliteStore(tmp_path)
    store.commit(
        Batch(
            pages=[page_row(0), page_row(1)],
            visits=[
                *(visit_row(page)._replace(lease=page) for page in (0, 1)),
                *(visit_row(page, Slot.SECOND)._replace(lease=page + 2, outcome=later) for page in (0, 1)),
            ],
            judgements=[
                JudgementRow(0, Verdict.COHERENT, Evidence.BYTES, "equal bytes before and after"),
                JudgementRow(1, Verdict.CHANGED, Evidence.BYTES, "different bytes"),
            ],
            captures={0: capture_row(phase=Phase.DONE, reference=20.0, ended=31.0)},
        )
    )
    store.close()
    return tmp_path


def test_what_takes_long_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy.__wrapped__, "__defaults__", (True, None, 3_600.0))  # type: ignore[attr-defined]
    assert "…" not in run(folder).stderr
    monkeypatch.setattr(busy.__wrapped__, "__defaults__", (True, None, 0.0))  # type: ignore[attr-defined]
    assert run(folder).stderr.startswith("writing the report … 0 s")


def test_the_report_is_written_and_summed_up(folder: Path) -> None:
    answer = run(folder)
    assert answer.exit_code == 0, answer.output
    assert "1 of 2 pages was in this state at 1970-01-01T00:00:20Z: 1 shown by equal bytes" in answer.output
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    assert capture["coherence"]["coherent"] == 1
    assert "1 of 2 pages" in (folder / "report.html").read_text()


def test_a_capture_that_a_process_makes_at_this_moment_is_not_called_stopped(tmp_path: Path) -> None:
    running = SqliteStore(tmp_path)
    pages, visits = [page_row(0), page_row(1)._replace(state=State.QUEUED)], [visit_row(0)]
    running.commit(Batch(pages=pages, visits=visits, captures={0: capture_row(phase=Phase.VISIT)}))
    answer = run(tmp_path)
    assert "Not complete: it is being captured" in answer.output
    assert "the same command resumes it" not in answer.output
    assert "stopped" not in answer.output
    assert "1 × not visited by the crawl" in answer.output
    (capture,) = json.loads(run(tmp_path, "--json").stdout)["captures"]
    assert capture["notes"][0] == UNDER_WAY
    assert [step.command for step in next_steps(capture)] == ["sharc watch FOLDER"]
    assert "sharc watch" in (tmp_path / "report.html").read_text()
    running.close()
    answer = run(tmp_path)
    assert "Not complete: the same command resumes it" in answer.output
    assert "being captured" not in answer.output


def test_of_a_site_that_is_over_while_others_are_captured_nothing_is_certified_nor_refuted(folder: Path) -> None:
    """Its WARC file is not finished: the records that are missing in it are on their way."""
    running = SqliteStore(folder)
    answer = run(folder)
    assert answer.exit_code == 0, answer.output
    assert "certificate  none yet: it is being captured" in answer.output
    assert "not verified" not in answer.output
    running.close()
    assert "none yet" not in run(folder).output


@pytest.mark.parametrize("kept", [False, True])
def test_of_a_folder_of_captures_or_a_collection_all_reports_are_written(folder: Path, kept: bool) -> None:
    around = folder / "all"
    places = [around / ("captures/site" if kept else "") / f"2026010{day}T000000Z" for day in (1, 2)]
    for place in places:
        place.mkdir(parents=True)
        (place / FILE_NAME).write_bytes((folder / FILE_NAME).read_bytes())
    if kept:
        (around / FILE).write_text("sites: [http://site/]\n")
    answer = run(around)
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("1 of 2 pages was in this state") == 2
    assert all((place / "report.html").is_file() for place in places)
    answer = run(around, "--json")
    assert answer.exit_code == 2
    assert f"name one of them: {places[0]}" in answer.output


def test_captures_several_folders_down_are_reported_and_what_cannot_be_is_named(folder: Path) -> None:
    around = folder / "all"
    places = [around / "kr", around / "books/20260101T000000Z", around / "dead/20260102T000000Z"]
    for place in places:
        place.mkdir(parents=True)
    for place in places[:2]:
        (place / FILE_NAME).write_bytes((folder / FILE_NAME).read_bytes())
    (places[2] / "site-00000.warc.gz").touch()
    (around / "kept").mkdir()
    (around / "kept" / FILE).write_text("sites: [http://site/]\n")
    answer = run(around)
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("1 of 2 pages was in this state") == 2
    assert [(place / "report.html").exists() for place in places] == [True, True, False]
    assert f"not reported: {places[2]}: its state is missing or empty\n" in answer.stderr
    assert f"not reported: {around / 'kept'}: it is a collection: sharc report {around / 'kept'}\n" in answer.stderr


def test_a_capture_that_cannot_be_read_does_not_keep_the_others_from_their_reports(folder: Path) -> None:
    around = folder / "all"
    places = [around / name for name in ("a", "b", "c")]
    for place in places:
        place.mkdir(parents=True)
        (place / FILE_NAME).write_bytes((folder / FILE_NAME).read_bytes())
    (places[0] / ".store").write_text("no_such_module.Store")
    (places[1] / FILE_NAME).write_bytes(b"no database" * 99)
    answer = run(around)
    assert answer.exit_code == 3
    assert answer.output.count("1 of 2 pages was in this state") == 1
    assert [(place / "report.html").exists() for place in places] == [False, False, True]
    assert f"not reported: {places[0]}: {str(places[0])!r} says that its state is kept by store" in answer.stderr
    assert f"not reported: {places[1]}: " in answer.stderr
    assert "2 captures of" in answer.stderr
    alone = run(places[0])
    assert (alone.exit_code, alone.stderr.count("a module that would be run")) == (2, 1)


def test_json_is_printed_and_nothing_written(folder: Path) -> None:
    answer = run(folder, "--json")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.output)["captures"][0]["site"] == "site"
    assert not (folder / "report.json").exists()


def test_the_truth_may_be_given(folder: Path) -> None:
    lines = [{"page": f"/{page}", "from": 0, "to": 100, "changes": [12.0] * page} for page in (0, 1)]
    truth = folder / "truth.jsonl"
    truth.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = json.loads(run(folder, "--truth", truth, "--json").output)["captures"][0]["truth"]
    assert (found["pages"], found["agree"]) == (2, 2)
    for nonsense in (b"not json", b"\x1f\x8b\x08", b"[" * 100_000):
        truth.write_bytes(nonsense)
        answer = run(folder, "--truth", truth)
        assert answer.exit_code == 3
        assert "truth.jsonl, line 1" in answer.output


def test_a_folder_without_a_capture(tmp_path: Path) -> None:
    answer = run(tmp_path)
    assert answer.exit_code == 2
    assert str(tmp_path) in answer.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there() -> None:
    answer = run("no-such-folder")
    assert answer.exit_code == 2
    assert "no-such-folder" in answer.output


def test_a_state_that_is_something_else(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but somebody's letters")
    answer = run(tmp_path)
    assert answer.exit_code == 3
    assert FILE_NAME in answer.output


@pytest.mark.slow
def test_an_instant_crawl_has_a_report_of_its_own(tmp_path):
    site = LivingSite(seed=1, pages=40, scale=1.0, news=600.0)
    state = instant_crawl(
        site, ["http://h.example/newsroom/"], Terms(every=60.0, duration=900.0), Politeness(delay=1.0), 1e9
    )
    store = SqliteStore(tmp_path)
    store.commit(state)
    store.close()
    printed = run(tmp_path, "--json")
    assert printed.exit_code == 0, printed.output
    report = json.loads(printed.stdout)
    assert report["format"] == "sharc-instant-report"
    assert report["new_pages"]["captured"] == report["new_pages"]["found"] > 50
    assert not (tmp_path / "report.json").exists()
    written = run(tmp_path)
    assert "new pages captured" in written.stdout
    assert json.loads((tmp_path / "report.json").read_text()) == report
    assert "When hubs were polled" in (tmp_path / "report.html").read_text()
