"""Files on disk and lines in the terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive import drafts as module
from sharc_crawler.cli.report import read_truth
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.evidence.facts import Outside, SubsiteFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Phase, Result, Url, Verdict
from sharc_crawler.report.document import document
from sharc_crawler.report.next_steps import next_steps
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.packaging import package
from sharc_crawler.report.phrases import few
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.write import ReportPaths, write
from sharc_crawler.state.rows import Batch, CaptureRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.sqlite import SqliteStore
from tests.certificate.made import make
from tests.report.by_hand import T, facts, judged, page, visit
from tests.report.made_up import capture

if TYPE_CHECKING:
    from pathlib import Path


def test_both_files_are_written(tmp_path: Path) -> None:
    paths = write([capture(20)], tmp_path)
    assert paths == ReportPaths(tmp_path / "report.json", tmp_path / "report.html")
    assert json.loads(paths.json.read_text()) == document([capture(20)])
    assert paths.html.read_text().startswith("<!DOCTYPE html>")
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "report-pages.jsonl", "report.html"}, (
        "nothing is left behind"
    )


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    paths = write([facts(judged("http://a.example/\udcff", Verdict.CHANGED), notes=("\udcfe",))], tmp_path)
    assert "\udcff" in json.loads((tmp_path / "report-pages.jsonl").read_text())["url"]
    assert paths.html.read_bytes()


def test_a_failed_write_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write([capture(20)], tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write([capture(30)], tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone"):
        write([capture(5)], tmp_path / "gone")


@pytest.mark.slow
def test_the_summary_says_what_came_of_it(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    warc = tmp_path / "archive" / capture().warcs[0]
    warc.touch()
    made = capture(300, 15.0, truth=False)
    text = summary([made], write([made], tmp_path))
    assert document([made])["captures"][0]["claim"]["sentence"] in text
    assert "270 coherent (90.0 %), 25 changed, 5 unknown, 5 not captured" in text
    assert "2026-11-20T12:45:00Z" in text
    assert "2 h 30 min" in text
    for path in (warc, tmp_path / "report.json", tmp_path / "report.html"):
        assert str(path) in text, "whole, not broken over lines"
    assert len(text.splitlines()) <= 16


def test_the_summary_of_a_capture_that_came_to_nothing(tmp_path: Path) -> None:
    lost = facts(page("/", reason="404"), reference=None, ended=None, notes=("a", "b", "c", "d", "e", "f", "g"))
    text = summary([lost], write([lost], tmp_path))
    assert "No page was captured" in text
    assert "not reached" in text
    going_on = f"ot complete: the same command resumes it, with -a output={tmp_path}\n"
    assert f"\nN{going_on}" in text
    assert f"\nStopped by Ctrl-C, n{going_on}" in summary([lost], write([lost], tmp_path), stopped="by Ctrl-C")
    assert "2 more notes" in text
    ended = facts(page("/", reason="404"))
    assert "reference" not in summary([ended], write([ended], tmp_path)), "of nothing there is no T"


def test_the_summary_says_why_pages_are_missing(tmp_path: Path) -> None:
    gone = [page(f"/{n}", reason="not there (status 404)") for n in range(3)]
    home, other = "http://h.example/", "http://elsewhere.example/"
    led = [page(f"/dir{n}", reason=f"redirects to {home}", target=home) for n in range(2)]
    away = page("/away", reason=f"redirects to {other}", target=other)
    made = facts(judged(home, Verdict.COHERENT), *gone, *led, away)
    text = summary([made], write([made], tmp_path))
    assert "6 not captured (2 redirects to captured pages)\n" in text
    listed = f"3 × not there (status 404); 1 × redirects to {other}"
    assert f"  not captured {listed}\n" in text


def test_the_summary_says_what_embedded_resources_take_away(tmp_path: Path) -> None:
    cut, gone = (Url(f"http://h.example/{name}.png") for name in ("cut", "gone"))
    pages = [judged(f"/{n}", Verdict.COHERENT, embeds=(cut, gone)) for n in range(7)]
    lost = page(cut, kind=Kind.RESOURCE, reason="cut short", visit=visit(T - 5, result=Result.FAILED))
    never = page(gone, kind=Kind.RESOURCE, reason="not there", visit=visit(T - 5, result=Result.GONE))
    made = facts(*pages, lost, never)
    line = "  embedding    0 of 7 coherent with all they embed; missing: 1 × cut short; 1 × not there\n"
    assert line in summary([made], write([made], tmp_path))
    whole = facts(*pages, replace(never, visit=replace(visit(T - 5, result=Result.GONE), status=410)))
    assert "embedding" not in summary([whole], write([whole], tmp_path)), "said only where it differs"


def test_the_summary_says_which_embedded_resources_are_claimed_on_the_server_s_word(tmp_path: Path) -> None:
    """No audit draws any."""
    styles = [Url(f"http://h.example/{n}.css") for n in range(3)]
    pages = [judged(f"/{n}", Verdict.COHERENT, embeds=tuple(styles)) for n in range(7)]
    kinds = (Evidence.VALIDATOR, Evidence.ATTESTED, Evidence.BYTES)
    parts = [replace(judged(url, Verdict.COHERENT, kind=Kind.RESOURCE), evidence=kind)
             for url, kind in zip(styles, kinds, strict=True)]  # fmt: skip
    made = facts(*pages, *parts)
    line = "embedding    7 of 7 coherent with all they embed; 2 resources only by the server's word, which audits"
    assert line in summary([made], write([made], tmp_path)).replace("\n" + " " * 15, " ")
    assert document([made])["captures"][0]["coherence"]["complete"]["on_word"] == 2


@pytest.mark.slow
def test_pages_that_the_budget_left_stand_beside_the_claim(tmp_path: Path) -> None:
    why = "budget: max_time=8s has no room left for it"
    left = [page(f"/left{n}", reason=why) for n in range(229)]
    files = [page(f"/left{n}.png", reason=why, kind=Kind.RESOURCE) for n in range(2)]
    kept = [judged(f"/{n}", Verdict.COHERENT) for n in range(53)]
    made = facts(*kept, *left, *files, page("/gone", reason="not there"))
    paths = write([made, facts(*kept)], tmp_path)
    said = "The site was not captured whole: 229 more pages and 2 embedded files were left by max_time=8s. A new"
    said += " capture with a larger one would take them, too."
    assert f"\n{said}\n" in summary([made], paths)
    overview = paths.html.read_text()
    assert f"at 2026-11-18T11:06:40Z. {said}</td>" in overview
    assert '<td class="number">230</td>' in overview
    assert said in (tmp_path / "report-1.html").read_text()
    assert "left by" not in (tmp_path / "report-2.html").read_text()


def test_so_do_links_that_limit_or_hops_left(tmp_path: Path) -> None:
    few = {"skipped": {"over limit=9": 160, "other site": 7}, "settings": {"limit": 9, "hops": 50}}
    outside = [Outside(f"http://a.example/{number}", "over limit=9", "") for number in range(58)]
    few["outside"] = (*outside, Outside("http://b.example/", "other site", ""))
    made = facts(judged("/", Verdict.COHERENT), **few)
    limit = "limit counts pages, but not their revisits or embedded files"
    said = "The site was not captured whole: 58 URLs and what only they lead to were not followed for limit=9."
    said += f" {limit}. A new capture with a larger one would take them, too."
    told = summary([made], write([made], tmp_path))
    assert f"\n{said}\n" in told
    assert "1 coherent (100 %), 0 changed, 0 unknown, 0 not captured, 58 URLs not followed" in told
    assert "-a limit=18" in [step.command for step in next_steps(document([made])["captures"][0])]
    bound = {
        "skipped": {"over limit=2000000": 1},
        "outside": (Outside("http://a.example/x", "over limit=2000000", ""),),
    }
    made = facts(judged("/", Verdict.COHERENT), **bound, settings={"limit": 0, "hops": 50})
    assert "1 URL and what only it leads to were not followed for limit=2000000. " in summary(
        [made], write([made], tmp_path)
    )
    far = {"more than 1 links from a seed or sitemap (hops=1)": 1}
    left = page("/left", reason="budget: max_requests=40 has no room left for it")
    beyond = (Outside("http://a.example/far", next(iter(far)), ""),)
    made = facts(left, skipped=far, outside=beyond, settings={"hops": 1})
    assert document([made])["captures"][0]["left_by_budget"] == (
        "The site was not captured whole: 1 more page was left by max_requests=40, and 1 URL and what only it leads to"
        " were not followed for hops=1. hops limits links in a row, which may have no end. max_requests counts all"
        " requests: pages, revisits, embedded files, robots.txt, sitemaps. A new capture with larger ones would take"
        " them, too"
    )
    assert "-a hops=2" in [step.command for step in next_steps(document([made])["captures"][0])]


def test_parts_are_counted_once_the_capture_is_complete(tmp_path: Path) -> None:
    parts = tuple(SubsiteFacts(name, T, T - 60, T + 1, 0.5) for name in ("docs", "news"))
    pages = [replace(judged(f"/{part.name}", Verdict.COHERENT), subsite=part.name) for part in parts]
    made = facts(*pages, reference=None, subsites=parts, ended=T + 2)
    told = summary([made], write([made], tmp_path))
    assert told.count("of 1 page coherent") == 2
    stopped = replace(made, ended=None)
    assert "of 1 page coherent" not in summary([stopped], write([stopped], tmp_path)), "revisits are still to come"


def test_notes_are_whole_sentences(tmp_path: Path) -> None:
    rest = f"{'and so on, ' * 12}which nobody shows"
    made = facts(judged("/", Verdict.COHERENT), notes=(f"http://h.example/{'deep/' * 60} is not trusted: {rest}",))
    text = summary([made], write([made], tmp_path))
    assert f" is not trusted: {rest}\n" in text
    assert "deep/" * 60 not in text


def test_foreign_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    evil = facts(judged("/", Verdict.COHERENT), notes=("\x1b[2J[bold red]gone[/]\r",))
    text = summary([evil], write([evil], tmp_path))
    assert "\x1b[2J" not in text
    assert "\r" not in text
    assert "[bold red]gone[/]" in text


def test_truth_covers_what_it_covers() -> None:
    truth = read_truth(['{"page": "/a", "from": 10, "to": 20, "changes": [11, 15]}'])
    assert truth("http://any.example/a?q", 12.0, 20.0) == (15.0,)
    assert truth("http://any.example/a", 9.0, 20.0) is None
    assert truth("http://any.example/b", 12.0, 13.0) is None


@pytest.mark.parametrize("line", ["", "{", '{"page": "/a"}', '{"page": "/a", "from": 1, "to": 2, "changes": 3}', "[]"])
def test_a_truth_file_that_is_something_else_is_refused(line: str) -> None:
    good = '{"page": "/a", "from": 10, "to": 20, "changes": []}'
    with pytest.raises(DataError, match=r"truth\.jsonl, line 2"):
        read_truth([good, line], "truth.jsonl")


def test_the_truth_is_told_where_it_is_known(tmp_path: Path) -> None:
    made = capture(20)
    truth, blur = made.figures.truth.totals(), made.details.blur.totals()
    assert truth["agree"] > 1
    told = summary([made], write([made], tmp_path))
    (line,) = (line for line in told.splitlines() if line.startswith("  truth "))
    assert line.endswith(
        f" {truth['agree']} of {truth['agree']} verdicts agree with it; blur {few(blur['actual_average'])}"
    )
    unknown = capture(20, truth=False)
    assert "  truth " not in summary([unknown], write([unknown], tmp_path))


def test_why_pages_are_unknown_is_said_at_once(tmp_path: Path) -> None:
    unknown = [judged(f"/{n}", Verdict.UNKNOWN, reason="its lastmod is not believed") for n in range(7)]
    other = judged("/other", Verdict.UNKNOWN, reason="the second fetch failed")
    made = facts(judged("/", Verdict.COHERENT), *unknown, other)
    text = summary([made], write([made], tmp_path))
    assert "7 pages: its lastmod is not believed" in text
    assert "1 page: the second fetch failed" in text


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({}, "the same crawl command resumes it"),
        ({"spider": "items", "resume": True}, "the same crawl command resumes it"),
        ({"spider": "items"}, "its spider began without SHARC_RESUME=True, so begin anew, in another folder"),
    ],
)
def test_a_capture_that_is_not_complete_is_not_packaged_and_says_how_it_goes_on(tmp_path, settings, way):
    begun = replace(make(tmp_path), ended=None, settings=settings)
    with pytest.raises(UsageError, match=f"not complete: {way}"):
        package(tmp_path, [begun])


@pytest.mark.parametrize(
    ("strategy", "ended", "revisits"),
    [
        ("sharc-selective", None, True),
        ("sharc-selective", 9.0, False),
        ("bfs:revisits=none", None, False),
        ("of.another:Machine", None, False),
    ],
)
def test_a_capture_that_goes_on_waits_for_its_instant_where_its_strategy_revisits(
    tmp_path, strategy, ended, revisits
) -> None:
    store = SqliteStore(tmp_path)
    spec = CaptureSpec("a", ("http://a/",), strategy=strategy)
    store.commit(Batch(captures={0: CaptureRow(0, spec, Phase.VISIT, 1.0, None, ended, ())}))
    store.close()
    with open_facts(tmp_path) as (found,):
        assert found.revisits == revisits
