from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.model import Change, Kind, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0


@pytest.fixture
def history(tmp_path: Path) -> str:
    """A site of a hot page, two calm ones, and one seen once; its lastmods are all equal but for the hot page's."""
    path = tmp_path / "history.sqlite"
    with ObservationStore(path) as store:
        for week in range(10):
            change = Change.UNKNOWN if not week else Change.UNCHANGED
            store.append(
                [
                    Observation(
                        "h", Url("http://h/hot"), 7 * DAY * week, Result.OK, Change.CHANGED if week else change
                    ),
                    Observation("h", Url("http://h/calm"), 7 * DAY * week, Result.OK, change),
                    Observation("h", Url("http://h/[calm]"), 7 * DAY * week, Result.OK, change),
                ]
            )
        store.append([Observation("h", Url("http://h/new"), 70 * DAY, Result.OK)])
    return str(path)


def test_json(history: str):
    result = CliRunner().invoke(main, ["rates", "h", "--history", history, "--json"])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["urls"], facts["accesses"]) == (4, 31)
    first = facts["pages"][0]
    assert first["url"] == "http://h/hot"
    assert first["observations"] == 9
    rates = {page["url"]: page["per_day"] for page in facts["pages"]}
    assert 1.0 > rates["http://h/hot"] > 10 * rates["http://h/calm"] > 0
    assert rates["http://h/calm"] < rates["http://h/new"] < rates["http://h/hot"]
    assert [page["url"] for page in facts["pages"] if page["change_seen"]] == ["http://h/hot"]
    assert {page["source"]: page["change_seen"] for page in facts["pages"]} == {"history": True, "unchanged": False}
    assert all(0 <= page["low"] < page["high"] for page in facts["pages"])
    assert facts["pages"][0]["low"] > 0 == facts["pages"][-1]["low"]  # a page never seen to change may never do
    assert facts["lastmods"][0]["believed"] is False
    assert facts["headers"][0]["values"] == 0


@pytest.mark.slow
def test_table_and_picture(history: str, tmp_path: Path):
    picture = tmp_path / "rates.png"
    result = CliRunner().invoke(main, ["rates", "h", "--history", history, "--picture", str(picture), "--limit", "3"])
    assert result.exit_code == 0, result.output
    assert "http://h/hot" in result.output
    assert "3 of 4 pages" in result.output
    assert "over " in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_what_captures_saw_is_a_change_history_to_simulate(tmp_path: Path):
    path, changes = tmp_path / "history.sqlite", tmp_path / "site.csv"
    root, hot, gone, late = (Url(f"http://h/{page}") for page in ("", "hot", "gone", "late"))
    with ObservationStore(path) as store:
        for day in range(4):
            change = Change.UNCHANGED if day else Change.UNKNOWN
            robots = Observation("h", Url("http://h/robots.txt"), day * DAY, Result.OK, kind=Kind.ROBOTS)
            at = day * DAY + 60
            moved = 1.5 * DAY if day == 2 else None
            looks = [
                Observation("h", root, at, Result.OK, change),
                Observation("h", hot, at, Result.OK, Change.CHANGED if day else change, last_modified=moved),
                Observation(
                    "h", gone, at, Result.GONE if day == 2 else Result.OK, Change.CHANGED if day > 1 else change
                ),
            ]
            store.append([robots, *looks, *([Observation("h", late, at, Result.OK, change)] if day > 1 else [])])
    result = CliRunner().invoke(main, ["rates", "h", "--history", str(path), "--changes", str(changes)])
    assert result.exit_code == 0, result.output
    following = result.stderr.splitlines()[-1].removeprefix("Next: sharc ").split()
    half = DAY / 2 + 60
    assert changes.read_text().splitlines() == [
        "page,created,alive_at_start,deleted,hist,changes",
        "http://h/,60.000,1,,,",
        f"http://h/hot,60.000,1,,,{half:.3f};{1.5 * DAY:.3f};{2 * DAY + half:.3f}",
        f"http://h/gone,60.000,1,{DAY + half:.3f},,{2 * DAY + half:.3f}",
        f"http://h/late,{2 * DAY + 60:.3f},0,,,",
    ]
    assert following[:6] == ["simulate", "--history", str(changes), "--root", "http://h/", "--window"]
    simulated = CliRunner().invoke(main, [*following, "--strategy", "sharc-selective", "--graph", "known", "--json"])
    assert simulated.exit_code == 0, simulated.output
    assert json.loads(simulated.stdout)["pages"] == 3, "the late one is not there when the window begins"


def test_rates_by_a_single_comparison_are_called_rough(history: str, tmp_path: Path):
    shown = CliRunner().invoke(main, ["rates", "h", "--history", history]).output
    assert "rough" not in shown
    marked = {line.split("│")[-2].strip(): "*" in line for line in shown.splitlines() if "http://h/" in line}
    assert marked == {"http://h/hot": False, "http://h/calm": True, "http://h/[calm]": True, "http://h/new": True}
    assert "*: no capture has seen it change" in shown
    path = tmp_path / "twice.sqlite"
    with ObservationStore(path) as store:
        for second, change in ((0.0, Change.UNKNOWN), (60.0, Change.CHANGED)):
            looks = [Observation("h", Url(f"http://h/{page}"), second, Result.OK, change) for page in range(5)]
            store.append(looks)
    shown = " ".join(CliRunner().invoke(main, ["rates", "h", "--history", str(path)]).output.split())
    assert "5 of 5 pages were seen fewer than 3 times" in shown


def test_unknown_site_and_missing_file(history: str, tmp_path: Path):
    result = CliRunner().invoke(main, ["rates", "hh", "--history", history])
    assert result.exit_code == 2
    assert "did you mean 'h'" in result.output or "Allowed: h" in result.output
    missing = tmp_path / "no.sqlite"
    assert CliRunner().invoke(main, ["rates", "h", "--history", str(missing)]).exit_code == 2
    assert not missing.exists()
