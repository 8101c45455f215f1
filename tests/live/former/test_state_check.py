"""WARC files are deleted, cut or overwritten, or rows of state are lost: what is missing is fetched again, no more."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Phase
from sharc_crawler.storage.beside import load_state
from tests.live.former.crawls import finish, killed, revisits_made, visits_made, whole


def delete(paths):
    paths[0].unlink()


def delete_all(paths):
    for path in paths:
        path.unlink()


def cut_in_half(paths):
    os.truncate(paths[0], paths[0].stat().st_size // 2)


def overwrite(paths):
    """In the middle, its size and its last record as before."""
    text = bytearray(paths[0].read_bytes())
    middle = len(text) // 2
    text[middle : middle + 400] = random.Random(3).randbytes(400)
    paths[0].write_bytes(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "damage"),
    [
        pytest.param(visits_made(12), delete, marks=pytest.mark.long),
        pytest.param(visits_made(12), overwrite, marks=pytest.mark.long),
        pytest.param(revisits_made(6), delete, marks=pytest.mark.long),
        (revisits_made(6), delete_all),
        pytest.param(revisits_made(6), cut_in_half, marks=pytest.mark.long),
        pytest.param(revisits_made(6), overwrite, marks=pytest.mark.long),
    ],
)
def test_what_is_missing_is_fetched_again_and_nothing_false_is_claimed(tmp_path, damage, when):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=24, scale=1e-3, slow=0.05)) as server:
        killed(folder, server.url, when)
        before = load_state(folder)
        damage(whole(folder))
        asked = Counter(request.target for request in server.log)
        code, out = finish(folder, server.url)
        assert code == 0, out
        again = Counter(request.target for request in server.log) - asked
    assert "Missing from the WARC files" in out
    assert verify(folder).findings == []
    state = load_state(folder)
    (capture,) = state.captures.values()
    assert sum("not in its WARC files any more" in note for note in capture.notes) == 1
    finished = Counter(visit.page for visit in state.visits if visit.finished)
    assert set(finished) == {row.page for row in state.pages if row.state == 0}, "all is there"
    pairs = zip(before.visits, state.visits, strict=False)
    lost = {visit.page for visit, now in pairs if visit.attempt and visit.finished > now.finished}
    assert lost
    urls = {row.page: row.url for row in state.pages}
    assert all(again[urls[page].removeprefix(server.url.rstrip("/"))] for page in lost), "fetched again"
    (report,) = json.loads((folder / "report.json").read_text())["captures"]
    judged = {row.page: row.verdict for row in state.judgements}
    firsts = [v for v in state.visits if v.finished and v.slot != "second" and state.pages[v.page].kind == "page"]
    late = [visit.page for visit in firsts if visit.outcome.started > capture.reference]
    assert all(judged[page] == "unknown" for page in late)
    if damage is delete_all or when.__qualname__.startswith("visits"):
        assert not late
    assert report["coherence"]["captured"] == 24
    assert report["coherence"]["coherent"] == 24 - len(late), "nothing changes on this site"


@pytest.mark.long
def test_a_file_damaged_is_kept_aside_as_it_was(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=24, slow=0.05)) as server:
        killed(folder, server.url, visits_made(12))
        (first, *_) = whole(folder)
        overwrite([first])
        text = first.read_bytes()
        code, out = finish(folder, server.url)
        assert code == 0, out
    kept = list(folder.glob("*.damaged"))
    assert [path.read_bytes() for path in kept] == [text]
    assert f"{first.name.removesuffix('.open')} was damaged" in out
    state = load_state(folder)
    finished = sum(visit.finished for visit in state.visits)
    assert finished > 0
    assert verify(folder).findings == []
    code, out = finish(folder, server.url)
    assert code == 2, "it is complete"


@pytest.mark.long
def test_a_capture_that_was_complete_but_for_its_report_goes_on_where_something_is_missing(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, scale=1e-3)) as server:
        assert finish(folder, server.url)[0] == 0
        (folder / ".running").touch()  # what a kill leaves behind, between the last page and the report
        whole(folder)[0].unlink()
        code, out = finish(folder, server.url)
        assert code == 0, out
    assert verify(folder).findings == []
    (capture,) = load_state(folder).captures.values()
    assert capture.phase is Phase.DONE
    (report,) = json.loads((folder / "report.json").read_text())["captures"]
    assert report["coherence"]["captured"] == 20
    assert 0 < report["coherence"]["coherent"] < 20


@pytest.mark.long
@pytest.mark.parametrize(
    "more",
    [{"strategy": "sharc-attested"}, {"subsites": "path"}, {"strategy": "bfs"}],
    ids=str,
)
def test_whatever_the_order(tmp_path, more):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=24, scale=1e-3, slow=0.05)) as server:
        killed(folder, server.url, visits_made(20), **more)
        whole(folder)[0].unlink()
        cut_in_half(whole(folder))
        code, out = finish(folder, server.url, **more)
        assert code == 0, out
    assert verify(folder).findings == []
    (report,) = json.loads((folder / "report.json").read_text())["captures"]
    assert report["coherence"]["captured"] == 24


@pytest.mark.long
def test_nothing_is_said_where_nothing_is_missing(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        killed(folder, server.url, visits_made(5))
        code, out = finish(folder, server.url)
        assert code == 0, out
    assert "WARC files any more" not in out
    assert not list(Path(folder).glob("*.damaged"))


@pytest.mark.slow
def test_visits_that_a_store_has_lost_are_made_again(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, scale=3e3, slow=0.05)) as server:
        killed(folder, server.url, revisits_made(6))
        lost = {row.page for row in load_state(folder).judgements[:2]}
        with sqlite3.connect(folder / "frontier.db") as state:
            state.executemany("DELETE FROM visit WHERE page = ? AND slot != 'second'", [(page,) for page in lost])
        asked = Counter(request.target for request in server.log)
        code, out = finish(folder, server.url)
        assert code == 0, out
        again = Counter(request.target for request in server.log) - asked
    assert "Some visits are missing from the state of" in out
    assert verify(folder).findings == []
    state = load_state(folder)
    assert sum("2 visits of this capture were not in its state" in note for note in state.captures[0].notes) == 1
    assert all(again[state.pages[page].url.removeprefix(server.url.rstrip("/"))] for page in lost)
    judged = {row.page: row.verdict for row in state.judgements}
    assert [judged[page] for page in lost] == ["unknown"] * 2, "nothing after T shows how they were at T"
