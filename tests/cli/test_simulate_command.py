"""``sharc simulate`` and ``sharc plan``, as a user runs them."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.cli._inputs import instant
from sharc_crawler.errors import UsageError
from tests.lab.small import write_history

if TYPE_CHECKING:
    from click.testing import Result

PROMISED = (
    "strategy revisits evidence rates graph seed incoherent unknown hopeless expected_incoherent average_blur seconds"
    " hopeless_incoherent"
)


def sharc(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_synthetic_sites_in_json_with_schedules(tmp_path):
    file = tmp_path / "schedule.csv"
    done = sharc(
        "simulate",
        *("--world", "size=40,skew=1.1,outdegree=3", "--world", "leaves=hot,slow-down=2", "--seeds", 2),
        *("--strategy", "bfs,sharc-selective", "--jobs", 1, "--json", "--schedule", file),
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["pages"] == 40
    assert found["window"] == [0.0, 160.0]
    assert [(run["strategy"], run["seed"]) for run in found["runs"]] == [
        (strategy, seed) for seed in (0, 1) for strategy in ("bfs", "sharc-selective")
    ]
    assert {*PROMISED.split()} <= {*found["runs"][0]}
    rows = list(csv.DictReader(file.open()))
    assert {row["run"] for row in rows} == {"0", "1", "2", "3"}
    assert sum(row["run"] == "0" and row["kind"] == "revisit" for row in rows) == 40


def test_a_table_for_readers(tmp_path):
    done = sharc("simulate", "--world", "size=30,attested=1,lying=0.5", "--strategy", "bfs:revisits=none")
    assert done.exit_code == 0, done.output
    assert "bfs:revisits=none" in done.stdout
    assert "evidence: attested; rates: oracle; graph: discover" in done.stdout
    assert '"lies_found"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--world", "size=0"], "size=0 is not possible"),
        (["--world", "size=-5"], "size=-5 is not possible: a site has 1 to 10000000 pages"),
        (["--world", "size=many"], "size='many' must be a whole number\n"),
        (["--world", "size=5,size=6"], "--world size=6: size was given before"),
        (["--world", "size=5", "-a", "skip=attested"], "rates='oracle' has none; give --rates captures"),
        (["--world", "sise=5"], "--world sise=5: 'sise' is not known; did you mean 'size'"),
        (["--world", "sitemap"], "--world sitemap: write it as sitemap=VALUE"),
        (["--world", "sitemap=often"], "sitemap='often' must be 1 or 0"),
        (["-a", "depth=2"], "-a depth=2: 'depth' is not known"),
        (["--strategy", "bsf"], "strategy='bsf' is not known; did you mean 'bfs'"),
        (["--strategy", ""], "strategy='' is not known"),
        (["--history", __file__], f"--history {__file__} needs --window"),
        (["--history", "x.csv"], "'x.csv' does not exist"),
        (["--history", __file__, "--window", "spring", 1], "'spring' is neither a date"),
        (["--root", "/x"], "--root: only of a real site; add --history"),
        (["--window", 0, 1], "--window: only of a real site; add --history"),
        (["--history", __file__, "--window", 0, 1, "--world", "slow-down=2"], "slow-down: only of a synthetic site"),
        (["--history", __file__, "--history", __file__], "one site is simulated at a time; give one"),
        (["--history", __file__, "--window", "nan", 1], "'nan' is neither a date"),
        (["--world", "attested=2"], "attested=2.0 is not possible"),
        (["--world", "lying=0.1"], "there are none: add attested=SHARE, or sitemap=1"),
        (["--world", "late=5"], "late=5.0 is of what tells of changes, and nothing does: add sitemap=1, feed=N or"),
        (["--rates", "orakel"], "rates='orakel' is not known; did you mean 'oracle'"),
        (["--seeds", 0], "0 is not in the range x>=1"),
    ],
)
def test_bad_input(arguments, what):
    done = sharc("simulate", "--jobs", 1, *arguments)
    assert done.exit_code == 2
    assert what in done.stderr


@pytest.mark.slow
def test_a_broken_history_ends_with_its_own_code(tmp_path):
    history = write_history(tmp_path, [])
    done = sharc("simulate", "--history", history, "--window", 0, 1, "--jobs", 1)
    assert done.exit_code == 3
    assert "the site has no pages" in done.stderr


def test_instants():
    assert instant("2012-01-01T12:00") == instant("2012-01-01") + 43_200 == 1_325_419_200
    with pytest.raises(UsageError, match="neither a date such as"):
        instant("tomorrow")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("127.0.0.1:8977", "url='127.0.0.1:8977' says neither http nor https; write http://127.0.0.1:8977 or"),
        ("www.example.org", "SHARC_OPERATOR is not set"),  # taken as https://www.example.org, as by a crawl
        ("sitemap.xml", "'sitemap.xml' is no file, and no URL"),
    ],
)
def test_a_plan_takes_addresses_as_a_crawl_does(source, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["plan", source])
    assert (done.exit_code, says in done.output) == (2, True), done.output


@pytest.mark.slow
def test_several_worlds_have_a_mean_and_the_json_has_the_options():
    several = ["simulate", "--world", "size=30", "--strategy", "bfs", "--seeds", 2, "--jobs", 1]
    assert "Mean of all seeds ± standard deviation" in sharc(*several).output
    single = sharc(*several, "--strategy", "bfs:revisits=none").output.partition("Mean of all")[2]
    assert re.search(r"revisits=none +│ +- │ +- │ +30\.00 ± 0\.00 │ +0\.00 ± 0\.00 │ +- │", single), single
    attested = sharc(*several, "--strategy", "bfs:revisits=none", "--world", "attested=1").output
    assert "nothing shows a page incoherent" not in attested
    assert not re.search(r"│ +- │", attested), "the server's word shows some"
    found = json.loads(sharc(*several, "--world", "skew=2", "-a", "hints=0.2", "--json").stdout)
    assert (found["site_options"]["skew"], found["run_options"]["hints"]) == (2, 0.2)


def test_a_history_is_run_once_where_nothing_is_drawn(tmp_path):
    words = ["simulate", "--history", write_history(tmp_path), "--window", 0, 10, "--root", "/", "--strategy", "bfs"]
    done = sharc(*words, "--seeds", 3, "--jobs", 1, "--json")
    assert "--seeds 3: a history is what it is" in done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 1
    drawn = sharc(*words, "--seeds", 2, "--jobs", 1, "--json", "--world", "attested=0.5")
    assert [one["seed"] for one in json.loads(drawn.stdout)["runs"]] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "sharc-online"])
def test_an_address_that_nobody_names_is_not_there_in_a_history(tmp_path, strategy):
    """The crawl asks for one where several pages are gone; a history knows of none."""
    rows = [(f"http://a.example/{path}", 1001, "", "") for path in ("", "late/", "redir/", "cold/0", "cold/1")]
    rows += [(f"http://a.example/redir/{number}", 1001.5, "", "") for number in range(5)]
    rows += [(f"http://a.example/vanish/{number}", 1002, "1027;1961", 1491) for number in range(5)]
    rows += [(f"http://a.example/fly/{number}", 1007, "", f"{1486 + number};1931") for number in range(3)]
    lines = [",".join(map(str, (url, created, 1, deleted, "", changes))) for url, created, deleted, changes in rows]
    history = tmp_path / "history.csv"
    history.write_text("\n".join(["page,created,alive_at_start,deleted,hist,changes", *lines, ""]))
    command = ("simulate", "--history", history, "--root", "http://a.example/", "--window", "1000", "2194")
    done = sharc(*command, "--strategy", strategy, "--json")
    assert done.exit_code == 0, done.output
    (run,) = json.loads(done.stdout)["runs"]
    assert run["strategy"] == strategy


def test_a_window_beyond_the_history_is_refused_in_dates(tmp_path):
    history = write_history(tmp_path)
    done = sharc("simulate", "--history", history, "--window", "2030-01-01", "2031-01-01", "--jobs", 1)
    assert done.exit_code == 2
    assert "--window 2030-01-01T00:00:00Z 2031-01-01T00:00:00Z" in done.output
    done = sharc("simulate", "--history", history, "--window", "1960-01-01", "1961-01-01")
    assert done.exit_code == 2
