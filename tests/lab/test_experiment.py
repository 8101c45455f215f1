"""Runs, one or many, here or in other processes; and real histories, where they are to be had."""

from __future__ import annotations

import calendar
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.lab.experiment import RunSpec, build, facts, run, seeded, summary
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.pool import run_all
from sharc_crawler.lab.synthetic import SyntheticSpec
from tests.lab.small import write_history

SITE = SyntheticSpec(size=60, outdegree=4)


@pytest.mark.slow
def test_a_run_tells_what_the_command_promises():
    done = run(RunSpec(SITE, "sharc-selective"))
    promised = (
        "strategy revisits evidence rates graph seed incoherent unknown hopeless expected_incoherent average_blur"
    )
    assert {*promised.split(), "seconds"} <= {*done.facts}
    assert done.facts["revisits"] == "lifo"
    assert done.facts["evidence"] == "bytes"
    assert done.facts["coherent"] + done.facts["incoherent"] == 60
    assert done.facts["downloads"] == 119
    whole = summary(SITE, [done.facts])
    assert (whole["pages"], whole["window"], len(whole["runs"])) == (60, [0.0, 120.0], 1)


@pytest.mark.slow
def test_equal_seeds_give_equal_runs():
    def numbers(seed):
        found = facts(RunSpec(seeded(SITE, seed), "bfs", seed=seed, attested=0.5, lying=0.2), lambda _: None)
        return {name: value for name, value in found.items() if name != "seconds"}

    assert numbers(1) == numbers(1)
    assert numbers(1) != numbers(2)


@pytest.mark.long
def test_runs_in_other_processes_are_the_same_in_the_same_order():
    specs = [RunSpec(seeded(SITE, seed), strategy, seed=seed) for seed in (0, 1) for strategy in ("bfs", "dfs")]
    told = []
    here, there = (run_all(facts, specs, jobs, told.append) for jobs in (1, 2))
    for one, other in zip(here, there, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert max(told) <= len(specs)


@pytest.mark.long
def test_an_error_in_another_process_is_raised_here():
    specs = [RunSpec(SITE, "bfs"), RunSpec(SITE, "bfs:revisits=never"), RunSpec(SITE, "dfs")]
    with pytest.raises(UsageError, match="revisits='never' is not known"):
        run_all(facts, specs, 2, lambda _: None)


def endless(spec: RunSpec, tell: object) -> None:
    print(os.getpid(), flush=True)
    while True:
        time.sleep(0.05)


def test_one_that_is_killed_leaves_nobody_who_works_for_it(tmp_path):
    (tmp_path / "killed.py").write_text(
        "from tests.lab.test_experiment import SITE, RunSpec, endless, run_all\n"
        "if __name__ == '__main__':\n    run_all(endless, [RunSpec(SITE, 'bfs')] * 2, 2, lambda _: None)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "killed.py"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as process:
        working = [int(process.stdout.readline()) for _ in range(2)]
        process.kill()
        assert process.stdout.read() == b"", f"{working} have ended: nobody holds the stream any more"


@pytest.mark.parametrize("name", ["attested", "lying", "audited"])
@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_that_cannot_be(name, share):
    with pytest.raises(UsageError, match=f"{name}=.* between 0 and 1"):
        RunSpec(SITE, "bfs", **{"attested": 1.0, name: share})


@pytest.mark.slow
def test_the_lastmods_of_attested_pages_lie_as_ordered():
    found = facts(RunSpec(SyntheticSpec(size=2000), "bfs:revisits=none", attested=1.0, lying=0.1), lambda _: None)
    assert found["evidence"] == "attested"
    assert 150 < found["audit"]["lying"] < 250
    assert found["audit"]["audited"] == 40


def test_a_history_is_replayed(tmp_path):
    spec = HistorySpec(str(write_history(tmp_path)), "/", 0.0, 12.0)
    found = facts(RunSpec(spec, "bfs", graph="known"), lambda _: None)
    # Δ = 2: visits at 0, 2, 4, revisits at 10, 8, 6; / changed at 2, /b at 1 and vanished at 6
    assert (found["step"], found["incoherent"], found["gone"], found["coherent"]) == (2.0, 1, 1, 1)


@pytest.fixture(scope="module")
def wiki(shared_data):
    name = str(shared_data / "change-histories/emacswiki-2012")
    start, end = (float(calendar.timegm((year, 1, 1, 0, 0, 0))) for year in (2012, 2013))
    return HistorySpec.beside(f"{name}.csv.gz", "SiteMap", start, end)


@pytest.mark.long
@pytest.mark.parametrize(
    ("strategy", "rates", "incoherent"),
    [
        pytest.param(*("bfs", "oracle", 852), marks=pytest.mark.long),
        pytest.param(*("dfs", "oracle", 798), marks=pytest.mark.long),
        pytest.param(*("hottest-last", "oracle", 436), marks=pytest.mark.long),
        ("sharc-selective", "oracle", 164),
    ],
)
def test_reference_figures_of_the_known_graph(wiki, strategy, rates, incoherent):
    found = facts(RunSpec(wiki, strategy, rates, "known"), lambda _: None)
    assert found["pages"] == 6189
    assert abs(found["incoherent"] - incoherent) <= max(4, 0.01 * incoherent)
    assert found["gone"] < 15


@pytest.mark.long
def test_attested_single_visits(wiki):
    assert build(wiki).known[:2] == [build(wiki).root, build(wiki).graph.links(build(wiki).root, wiki.start)[0]]
    found = facts(RunSpec(wiki, "bfs:revisits=none", graph="known", attested=1.0), lambda _: None)
    assert found["incoherent"] == pytest.approx(236, abs=3)


@pytest.mark.long
def test_pages_are_found_through_the_links_of_the_day(wiki):
    found = facts(RunSpec(wiki, "sharc-selective"), lambda _: None)
    assert found["pages"] > 6200
    assert found["incoherent"] < 436
