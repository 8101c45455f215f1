"""``sharc fleet``: what it is given, and what it says of what cannot be used."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from rich.console import Console

from sharc_crawler.cli import main
from sharc_crawler.cli._fleet_table import PATIENCE, drawn
from sharc_crawler.cli.fleet import command
from sharc_crawler.fleet.ledger import SiteState
from sharc_crawler.fleet.opening import open_fleet

if TYPE_CHECKING:
    from pathlib import Path

SITE = "https://www.example.org/"


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    dsn = f"sqlite:{tmp_path / 'fleet.db'}"
    open_fleet(dsn, make=True).close()
    return dsn


def refused(*arguments: object) -> str:
    answer = CliRunner().invoke(main, ["fleet", *map(str, arguments)])
    assert answer.exit_code == 2, answer.output
    return answer.stderr


@pytest.mark.parametrize("name", command.commands)
def test_every_command_helps_with_an_example(name: str) -> None:
    answer = CliRunner().invoke(main, ["fleet", name, "--help"])
    assert f"sharc fleet {name} " in answer.output
    assert "\\b" not in answer.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("settings: {SHARC_WARC_LEVEL: 9}", "sharc fleet work … -s SHARC_WARC_LEVEL=9"),
        ("budget: 100", "budget is a collection's"),
        ("keep: {all: 7d}", "keep is a collection's"),
        ("notify: mail me", "notify is a collection's"),
        ("defaults: {every: 1d}", "every of example.org"),
    ],
)
def test_what_a_plan_says_and_a_fleet_would_not_do_is_refused(dsn: str, tmp_path: Path, text: str, told: str) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"{text}\nsites: [{SITE}]\n")
    assert told in refused("add", dsn, plan)
    assert not open_fleet(dsn).status().states


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("url=https://www.example.com/", "sites stand in FILE"),
        ("output=captures", "leave it out"),
        ("objects=s3://bucket/captures", "leave it out"),
        ("history=history.db", "-s SHARC_HISTORY="),
        ("cookies=cookies.txt", "cookies: a site of a fleet has none of its own; leave it out"),
        ("browser=always", "browser: a site of a fleet has none of its own; leave it out"),
        ("collection=news", "collection: a site of a fleet has none of its own; leave it out"),
    ],
)
def test_an_argument_that_is_no_sites_own_is_refused(dsn: str, tmp_path: Path, argument: str, told: str) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(SITE)
    assert told in refused("add", dsn, seeds, "-a", argument)
    assert not open_fleet(dsn).status().states


@pytest.mark.parametrize(
    "setting",
    ["SHARC_CONTROL=True", "SHARC_PROGRESS=True", "CONCURRENT_REQUESTS_PER_DOMAIN=4", "SHARC_OUTPUT=elsewhere"],
)
def test_a_setting_that_a_worker_decides_is_refused(dsn: str, tmp_path: Path, setting: str) -> None:
    told = refused("work", dsn, "--output", tmp_path / "captures", "-s", "SHARC_OPERATOR=a@b.example", "-s", setting)
    name, _, value = setting.partition("=")
    assert f"{name}={value!r}" in told
    assert "leave it out" in told
    assert not (tmp_path / "captures").exists()


@pytest.mark.parametrize("site", ["example.org", "www.example.org", SITE])
def test_a_site_is_found_however_it_is_written(dsn: str, tmp_path: Path, site: str) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"{SITE}\nhttps://www.example.com/\n")
    for order in (("add", dsn, seeds), ("pause", dsn, site)):
        answer = CliRunner().invoke(main, ["fleet", *map(str, order)])
        assert answer.exit_code == 0, answer.output
    assert [one.site for one in open_fleet(dsn).sites() if one.state == "paused"] == ["example.org"]


@pytest.mark.parametrize("name", ["status", "pause", "stop", "drop", "requeue"])
def test_an_order_for_sites_of_which_one_is_unknown_changes_nothing(dsn: str, tmp_path: Path, name: str) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(SITE)
    assert CliRunner().invoke(main, ["fleet", "add", dsn, str(seeds)]).exit_code == 0
    assert "exmaple.org: no such site" in refused(name, dsn, "example.org", "exmaple.org")
    assert open_fleet(dsn).status().states == {SiteState.WAITING: 1}


@pytest.mark.parametrize("columns", ["40", "80"])
def test_sites_that_begin_alike_are_told_apart_wherever_they_are_shown(
    dsn: str, tmp_path: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = [f"a-name-that-is-{'rather-' * 6}long-{number}.example" for number in (1, 2)]
    (tmp_path / "seeds.txt").write_text("".join(f"https://{site}/\n" for site in sites))
    assert CliRunner().invoke(main, ["fleet", "add", dsn, str(tmp_path / "seeds.txt")]).exit_code == 0
    monkeypatch.setenv("COLUMNS", columns)
    shown = CliRunner().invoke(main, ["fleet", "status", dsn]).output
    assert [site for site in sites if site not in shown] == []
    drawn_narrow = StringIO()
    ledger = open_fleet(dsn)
    Console(file=drawn_narrow, width=int(columns)).print(drawn([], ledger.sites(None, 2)))
    words = "".join(line.split(" ")[0] for line in drawn_narrow.getvalue().splitlines()[1:])
    assert "".join(sites) in words


def test_what_is_there_already_is_said(dsn: str, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(SITE)
    orders = (("init", dsn), ("add", dsn, seeds), ("add", dsn, seeds), ("init", dsn))
    told = [CliRunner().invoke(main, ["fleet", *map(str, order)]).stdout.strip() for order in orders]
    assert told == [
        "The fleet is ready.",
        "1 site added",
        "0 sites added, 1 known already, unchanged",
        "The fleet is ready. It has 1 site already.",
    ]


@pytest.mark.parametrize(
    ("words", "module"), [(["fleet", "status"], "fleet.PATIENCE"), (["watch"], "watch.FLEET_PATIENCE")]
)
def test_who_only_looks_waits_ten_seconds_at_most(
    dsn: str, words: list[str], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may hold a lock on the tables."""
    monkeypatch.setattr(f"sharc_crawler.cli.{module}", 0.1)
    assert PATIENCE == 10.0
    with closing(sqlite3.connect(dsn.removeprefix("sqlite:"))) as somebody:
        somebody.execute("BEGIN EXCLUSIVE")
        asked = CliRunner().invoke(main, [*words, dsn])
    assert (asked.exit_code, "locked" in asked.output) == (1, True)
