from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import diff as command
from sharc_crawler.cli import main
from sharc_crawler.collection import overview as module
from sharc_crawler.collection.comparing import Captured
from sharc_crawler.collection.distrust import NAME, distrust
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.overview import INDEX, overview
from sharc_crawler.collection.page import PAGE, meant, render, write_overview
from sharc_crawler.report.claim import in_words

BUDGET = "budget: max_requests=4 has no room left for it"


@pytest.fixture
def copied(collected, tmp_path):
    """The collection, for tests that change it."""
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    return Collection(tmp_path / "kept")


def entries(found):
    (site,) = found["sites"]
    return site["captures"]


def test_what_changed_between_captures_is_counted_and_named(collected):
    first, second = entries(overview(collected.collection))
    assert first["changes"] is None
    assert (first["complete"], first["certified"], first["problem"]) == (True, True, None)
    assert first["totals"] == {"captured": 3, "coherent": 3, "changed": 0, "unknown": 0, "not_captured": 0}
    counts = {"new": 1, "gone": 1, "changed": 1, "same": 1, "unknown": 0, "left": 0}
    assert second["changes"] == {**counts, "named": (collected.url,)}
    assert second["former"] == first["folder"]
    assert first["bytes"] == sum(path.stat().st_size for path in collected.folders[0].glob("*.warc.gz"))


def test_all_pages_that_changed_between_two_captures_are_listed(collected, monkeypatch):
    def diff(*words):
        return CliRunner().invoke(main, ["diff", *map(str, words)])

    old, new = collected.folders
    found = json.loads(diff(old, new, "--json").stdout)
    assert found["changed"] == [collected.url]
    assert [len(found[name]) for name in ("new", "gone", "changed", "same", "unknown")] == [1, 1, 1, 1, 0]
    told = diff(old, new)
    assert told.stdout.splitlines() == [
        "Pages: 1 changed, 1 new, 1 gone, 1 the same",
        f"changed: {collected.url}",
        f"new: {found['new'][0]}",
        f"gone: {found['gone'][0]}",
    ]
    assert told.stderr.startswith(f"Next: sharc diff {old} {new} {collected.url}")
    monkeypatch.setattr(command, "SHOWN", 0)
    assert "changed: … and 1 more (--json has all)" in diff(old, new).stdout
    assert diff(old, old).exit_code == diff(old, new, "--html", old / "x.html").exit_code == 2


def test_a_capture_that_is_not_complete_is_not_listed_against_another(copied):
    old, new = (one.folder for one in copied.captures())
    with closing(sqlite3.connect(new / "frontier.db")) as db, db:
        db.execute("UPDATE capture SET ended = NULL")
    refused = CliRunner().invoke(main, ["diff", str(old), str(new)])
    assert (refused.exit_code, f"{new} is not complete" in refused.output) == (2, True), refused.output


def test_what_a_confirmation_leaves_stands_in_the_index(copied):
    """Whenever it was made: an index of before is not taken for it."""
    write_overview(copied)
    folder = next(copied.captures()).folder
    document = json.loads((folder / "certificate.json").read_text())["capture"]
    left = {"totals": {**document["totals"], "coherent": 1}, "claim": {**document["claim"], "statement": "none-shown"}}
    (folder / "confirmation").mkdir()
    (folder / "confirmation" / "confirmation.json").write_text(json.dumps({"capture": left}))
    entry = entries(write_overview(copied))[0]
    assert (entry["totals"]["coherent"], entry["statement"]) == (1, in_words(left["claim"])["statement"])


def test_what_a_budget_left_is_neither_gone_nor_new_and_its_capture_not_the_best(copied):
    old, new = (one.folder for one in copied.captures())
    left = "1 more page was left by max_requests=4. A new capture with a larger one would take it, too"
    with closing(sqlite3.connect(new / "frontier.db")) as db, db:
        (page,) = db.execute("SELECT page FROM page WHERE url LIKE '%tides.html'").fetchone()
        db.execute("DELETE FROM judgement WHERE page = ?", (page,))
        db.execute("UPDATE visit SET attempt = 0, result = 'refused', error = ? WHERE page = ?", (BUDGET, page))
    report = json.loads((new / "report.json").read_text())
    report["captures"][0]["left_by_budget"] = left
    report["captures"][0]["coherence"] |= {"captured": 2, "coherent": 2, "unknown": 0, "changed": 0}
    (new / "report.json").write_text(json.dumps(report))
    entry = entries(write_overview(copied))[1]
    counts = {"new": 1, "gone": 1, "changed": 1, "same": 0, "unknown": 0, "left": 1}
    assert entry["changes"] == {**counts, "named": entry["changes"]["named"]}, "a 404 is gone whatever the budget was"
    assert (entry["left"], meant(entry)) == (1, 3)
    page = (copied.folder / PAGE).read_text()
    for words in ("certified, cut short</td>", ">66.7 %</td>", ">2 of 3</td>", "1 left by a bound", f". {left}. "):
        assert words in page, words
    told = CliRunner().invoke(main, ["collection", str(copied.folder)], env={"COLUMNS": "200"}).stdout
    assert "(cut) " in told
    assert "1/1/1, 1 left" in told
    told = CliRunner().invoke(main, ["diff", str(old), str(new)]).stdout
    assert "1 new, 1 gone, 1 left by the budget, limit or hops of one of them" in told


def test_a_collection_without_a_title_goes_by_its_folder(copied):
    (copied.folder / "collection.yaml").write_text("sites: [http://127.0.0.1/]")
    write_overview(Collection(copied.folder))
    assert "<h1>kept</h1>" in (copied.folder / PAGE).read_text()


def test_what_is_known_is_not_read_again(copied, monkeypatch):
    before = write_overview(copied)
    read = []
    monkeypatch.setattr(module, "contents", lambda folder: read.append(folder) or Captured({}))
    assert json.dumps(overview(copied)) == json.dumps(before)
    assert read == []
    first, second = (one.folder for one in copied.captures())
    (second / "report.json").touch()
    overview(copied)
    assert read == [first, second]


def test_a_damaged_capture_is_told_of_and_the_others_stand(copied):
    first, second = (one.folder for one in copied.captures())
    (second / "report.json").write_text("{")
    shutil.copytree(first, first.with_name("20990101T000000Z"))
    found = CliRunner().invoke(main, ["collection", str(copied.folder), "--json"])
    assert found.exit_code == 0, found.output
    one, damaged, last = entries(json.loads(found.stdout))
    assert "make it again: sharc report" in damaged["problem"]
    assert (one["problem"], last["problem"]) == (None, None)
    assert last["former"] == one["folder"]
    assert last["changes"] == {"new": 0, "gone": 0, "changed": 0, "same": 3, "unknown": 0, "left": 0, "named": []}
    assert "damaged" in (copied.folder / PAGE).read_text()


def test_a_capture_whose_warc_files_are_not_as_certified_is_told_of(copied):
    first, _ = (one.folder for one in copied.captures())
    assert [one["problem"] for one in entries(write_overview(copied))] == [None, None]
    (warc, *_) = sorted(first.glob("*.warc.gz"))
    held = warc.read_bytes()
    for damage in (lambda: warc.write_bytes(held[:-9]), warc.unlink):
        damage()
        one, other = entries(write_overview(copied))
        assert f"{warc.name} missing, or not as certified: sharc verify" in one["problem"]
        assert other["problem"] is None
        assert ">damaged</td>" in (copied.folder / PAGE).read_text()
    warc.write_bytes(held)
    assert [one["problem"] for one in entries(write_overview(copied))] == [None, None]


def test_while_a_capture_runs_the_page_says_what_the_one_before_it_shows(copied):
    last = list(copied.captures())[-1]
    begun = copied.capture_folder(last.site, 2_000_000_000.0)
    begun.mkdir()
    shutil.copy(last.folder / "frontier.db", begun)
    _, second, running = entries(write_overview(copied))
    page = (copied.folder / PAGE).read_text()
    assert f"<p>{second['statement']}. The newest capture: {running['statement']}. " in page.replace("&#39;", "'")


def test_of_a_stopped_capture_nothing_is_said_to_be_gone(copied, monkeypatch):
    told = module._summary
    monkeypatch.setattr(module, "_summary", lambda one: told(one) | {"complete": False})
    assert [one["changes"] for one in entries(overview(copied))] == [None, None]


def test_a_stopped_capture_takes_no_complete_ones_place(copied):
    found = overview(copied)
    first, second = entries(found)
    found["sites"][0]["captures"][-1] |= {"complete": False, "statement": "7 of 41 so far"}
    page = "".join(render(found)).replace("&#39;", "'")
    assert first["statement"] != second["statement"]
    assert f"<p>{first['statement']}. The newest capture is not complete yet: 7 of 41 so far. " in page


def test_a_site_goes_by_its_own_name_in_the_table(copied, collected):
    (copied.folder / "collection.yaml").write_text("sites: [{url: 'https://long.name.example/', name: herald}]")
    told = CliRunner().invoke(main, ["collection", str(copied.folder)], env={"COLUMNS": "80"})
    assert "herald" in told.stdout
    assert f"\n{urlsplit(collected.url).netloc} " in told.stdout, "one that is in no file goes by its address"


def test_the_page_needs_nobody_else(copied):
    write_overview(copied)
    text = (copied.folder / PAGE).read_text()
    assert "The harbour" in text
    assert "default-src &#39;none&#39;" in text
    assert "1 changed, 1 new, 1 gone" in text
    old, new = (one.folder.relative_to(copied.folder).as_posix() for one in copied.captures())
    assert f"sharc diff {old} {new} http://127.0.0.1" in text
    assert f'href="{new}/report.html"' in text
    assert (copied.folder / new / "report.html").exists()
    assert "http://127.0.0.1:8090/capture/2" in text


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"format": "sharc-collection", "version": 4, "sites": [{}]}', "folder only", "a number"]
)
def test_a_damaged_index_is_made_anew(copied, damage):
    write_overview(copied)
    before = (copied.folder / INDEX).read_text()
    if damage == "folder only":  # of each entry
        found = json.loads(before)
        for site in found["sites"]:
            site["captures"] = [{"folder": one["folder"]} for one in site["captures"]]
        damage = json.dumps(found)
    elif damage == "a number":
        damage = json.dumps({**json.loads(before), "sites": [{"captures": [3]}]})
    (copied.folder / INDEX).write_text(damage)
    write_overview(copied)
    assert (copied.folder / INDEX).read_text() == before


def test_what_an_index_claims_is_never_believed(copied):
    write_overview(copied)
    before = (copied.folder / INDEX).read_text()
    found = json.loads(before)
    for entry in entries(found):
        entry["statement"] = "All 999 pages were in this state together"
        entry["totals"] = dict.fromkeys(entry["totals"], 999)
        entry["reference"] = {"instant": "2020-01-01T00:00:00Z"}
        entry["seed"] = 7
    (copied.folder / INDEX).write_text(json.dumps(found))
    write_overview(copied)
    assert (copied.folder / INDEX).read_text() == before
    for rot in ({"changes": {"new": "1"}}, {"changes": 3}, {"left": None}, {"changes": {"named": 1}}):
        found = json.loads(before)
        entries(found)[1].update(rot)
        (copied.folder / INDEX).write_text(json.dumps(found))
        write_overview(copied)
        assert (copied.folder / INDEX).read_text() == before, rot


def test_a_server_that_is_asked_in_full_since_it_lied_is_told_of(copied):
    def shown():
        return CliRunner().invoke(main, ["collection", str(copied.folder)], terminal_width=200).stdout

    assert "not believed" not in shown()
    distrust(copied.folder, copied.names()[0], 3, capture=1e9)
    assert "not believed: the server was caught lying in the capture of 2001-09-09" in shown()
    assert "<b>Not believed:</b> the server was caught lying" in (copied.folder / PAGE).read_text()
    (site,) = json.loads((copied.folder / INDEX).read_text())["sites"]
    assert site["distrusted"].items() >= {"lies": 3, "capture": "2001-09-09T01:46:40.000000Z"}.items()
    site.pop("distrusted")
    assert "Not believed" not in "".join(render({**overview(copied), "sites": [site]})), "of a former index"
    (copied.folder / NAME).write_text("[")
    assert "distrusted.json cannot be read" in shown()


def test_a_folder_that_is_no_collection_is_named(tmp_path):
    found = CliRunner().invoke(main, ["collection", str(tmp_path)])
    assert found.exit_code == 2
    assert "is no collection: it has no collection.yaml" in found.stderr
