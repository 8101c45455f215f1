from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.model import Change, Document, Kind, Result, Url
from sharc_crawler.observation import Linked, Observation
from sharc_crawler.rates.predictor.source import PredictorRates
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose 20 news change every week or every other, and whose 40 essays never do; and one seen once."""
    path = tmp_path_factory.mktemp("history") / "archive.sqlite"
    with ObservationStore(path) as store:
        store.append([Observation("h", Url("robots:http://h/robots.txt"), 0.0, Result.OK, kind=Kind.ROBOTS)])
        for week in range(12):
            rows = []
            for page in range(60):
                url = Url(f"http://h/{'news' if page < 20 else 'essay'}/{page}.html")
                hot = page < 20 and (week % 2 == 0 or page % 2 == 0)
                change = Change.UNKNOWN if not week else Change.CHANGED if hot else Change.UNCHANGED
                counts = Document(images=page % 3, tables=0, outlinks=5)
                rows.append(
                    Observation("h", url, week * 7 * DAY, Result.OK, change, media_type="text/html", document=counts)
                )
            store.append(rows)
        store.append_links("h", [Linked(Url("http://h/news/0.html"), 0.0, (Url("http://h/essay/30.html"),))])
        store.append([Observation("once", Url("http://once/"), 0.0, Result.OK)])
    return path


def train(history: Path, model: Path, *options: str):
    return CliRunner().invoke(main, ["rates", "train", str(history), "-o", str(model), *options])


@pytest.mark.slow
def test_report_and_model(history: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    done = train(history, model, "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["pages"], report["horizon_days"]) == (60, 30.0)
    assert len(report["classifiers"]) == 4
    for one in report["classifiers"]:
        assert sum(one["off_by"]) == 60
        assert one["accuracy"] == one["off_by"][0] / 60
        assert 0 <= one["coherence_loss"] < report["loss_of_equal_rates"]
    chosen = {one["features"]: one["kind"] for one in report["classifiers"] if one["chosen"]}
    assert set(chosen) == {"online", "offline"}
    data = json.loads(model.read_text())
    assert data["about"]["sites"] == ["h", "once"]
    assert {name: one["kind"] for name, one in data["classifiers"].items()} == chosen
    assert PredictorRates(str(model))


@pytest.mark.slow
def test_for_readers(history: Path, tmp_path: Path):
    done = train(history, tmp_path / "model.json", "--site", "h", "--kind", "bayes", "--horizon", "7")
    assert done.exit_code == 0, done.output
    assert "60 pages in" in done.stdout
    assert "coherence loss" in done.stdout
    assert done.stdout.count("bayes *") == 2
    assert "a capture of 7 days" in " ".join(done.stdout.split())
    assert "url=http://h/ " in done.stderr


@pytest.mark.slow
def test_what_cannot_be_learned_from(history: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    few = train(history, model, "--site", "once")
    assert few.exit_code == 3
    assert "0 pages were seen at least twice" in few.stderr
    assert "Capture the sites again" in few.stderr
    unknown = train(history, model, "--site", "g")
    assert unknown.exit_code == 2
    assert "site='g' is not known" in unknown.stderr
    assert train(history, tmp_path / "no" / "model.json").exit_code == 2
    assert not model.exists()


@pytest.mark.slow
def test_a_site_is_short_for_show(history: Path):
    for arguments in (
        ["h", "--history", str(history)],
        ["--history", str(history), "h"],
        ["show", "h", "--history", str(history)],
    ):
        done = CliRunner().invoke(main, ["rates", *arguments])
        assert done.exit_code == 0, done.output
        assert "http://h/news/0.html" in done.output
    assert "Example" in CliRunner().invoke(main, ["rates", "train", "--help"]).output
