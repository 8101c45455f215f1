"""Data frames for notebooks, and the notebook of the docs, cell by cell."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.model import Document, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore
from tests.live import warm

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
DAY = 86_400.0


@pytest.fixture
def frames():
    """Loaded where it is used: pandas takes a quarter of a second in each process that tests."""
    from sharc_crawler.lab import frames

    return frames


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "history.db"
    with ObservationStore(path) as store:
        for site in ("a.example", "b.example"):
            urls = [Url(f"http://{site}/{number}") for number in range(3)]
            store.append(Observation(site, url, day * DAY, Result.OK) for day in range(4) for url in urls)
    return path


def test_a_history_has_a_row_for_each_download(frames, history):
    seen = frames.observations(history)
    assert seen.groupby("site").size().to_dict() == {"a.example": 12, "b.example": 12}
    assert seen.time.max().isoformat() == "1970-01-04T00:00:00+00:00"
    assert set(frames.observations(history, "a.example").site) == {"a.example"}


def test_what_a_document_and_a_page_lack_is_missing_and_nothing_else(frames, history, tmp_path):
    with ObservationStore(history) as store:
        read = Document(1, 2, 3)
        store.append([Observation("c.example", Url("http://c.example/"), 0.0, Result.OK, etag='"a"', document=read)])
    seen = frames.observations(history)
    assert seen.dtypes[["images", "tables", "outlinks"]].eq("Int64").all()
    assert seen.loc[seen.site == "c.example", ["etag", "images", "outlinks"]].to_numpy().tolist() == [['"a"', 1, 3]]
    visit = {"started": "2026-11-26T10:00:00Z", "status": 200, "length": 7, "attempts": 1}
    lines = [{"url": "/a", "visit": visit, "revisit": visit}, {"url": "/b", "visit": visit, "revisit": None}]
    (tmp_path / "report-pages.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    pages = frames.pages(tmp_path)
    assert {"visit", "revisit"}.isdisjoint(pages.columns)
    assert pages.dtypes[["visit.status", "revisit.status"]].eq("Int64").all()
    assert pages["revisit.started"].isna().tolist() == [False, True]


def test_a_folder_without_a_report_is_an_error_with_a_way_out(frames, tmp_path):
    for read in (frames.pages, frames.captures):
        with pytest.raises(DataError, match="sharc report makes it"):
            read(tmp_path)
    (tmp_path / "collection.yaml").touch()
    with pytest.raises(DataError, match="is a collection: give the folder of one capture"):
        frames.pages(tmp_path)


def test_a_strategy_alone_is_taken_and_no_world_is_refused(frames):
    site = SyntheticSpec(size=5)
    assert [one.facts["strategy"] for one in frames.simulate(site, "bfs")] == ["bfs"]
    with pytest.raises(UsageError, match="seeds=0 is not possible"):
        frames.simulate(site, "bfs", seeds=0)
    (known,) = frames.simulate(site, "bfs", graph="known")
    assert known.facts["graph"] == "known"
    with pytest.raises(UsageError, match="option='grap' is not known; did you mean 'graph'"):
        frames.simulate(site, "bfs", grap="known")
    with pytest.raises(UsageError, match=r"takes one crawl of simulate\(\), as downloads\(crawls\[0\]\), not a list"):
        frames.downloads([known])


def test_simulations_are_rows_and_their_downloads_too(frames):
    crawls = frames.simulate(SyntheticSpec(size=40, leaves="hot"), ["bfs", "sharc-selective"], seeds=2)
    assert list(frames.runs(crawls)[["strategy", "seed"]].itertuples(index=False, name=None)) == [
        ("bfs", 0),
        ("sharc-selective", 0),
        ("bfs", 1),
        ("sharc-selective", 1),
    ]
    for crawl in crawls:
        kinds = frames.downloads(crawl).groupby("kind").size()
        assert kinds["visit"] == 40
        assert 0 < kinds["revisit"] <= 40


@pytest.mark.long
def test_the_notebook_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *cells = json.loads(NOTEBOOK.read_text())["cells"]
    demo, add = [line.split() for line in first["source"] if line.startswith("    sharc ")]
    assert warm.finished([*demo[1:], "--pages", "20"], tmp_path, program=warm.SHARC).returncode == 0
    assert CliRunner().invoke(main, add[1:]).exit_code == 0
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            *lines, shown = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(lines, []), "notebook", "exec"), names)
            is_shown = isinstance(shown, ast.Expr)
            names["shown"] = eval(ast.unparse(shown), names) if is_shown else exec(ast.unparse(shown), names)
            if "draw_schedule(" in ast.unparse(shown):
                assert names["shown"]._repr_png_().startswith(b"\x89PNG"), "a picture, also without pyplot"
    assert len(names["pages"]) >= 20
    assert set(names["pages"].verdict.dropna()) <= {"coherent", "changed", "unknown"}
    assert names["pages"]["visit.started"].notna().any()
    assert len(names["runs"]) == 9
