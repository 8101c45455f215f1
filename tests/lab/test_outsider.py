"""Somebody who has the history, the schedule and the printed facts, and none of our code, comes to the same scores."""

from __future__ import annotations

import csv
import gzip
import json
import random

import numpy as np
import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from tests.lab.small import write_history, write_lines

WINDOW = (1000.0, 5000.0)
SIZE = 40


def changes_of(history, window):
    """Page → change times in the window, from the file as it is documented."""
    text = gzip.decompress(history.read_bytes()).decode()
    found = {}
    for row in csv.DictReader(text.splitlines()):
        times = [float(part) for column in ("hist", "changes") for part in row[column].split(";") if part]
        found[row["page"]] = [t for t in times if window[0] <= t < window[1]]
    return found


def downloads_of(schedule):
    """Run → page → [visit, revisit or None]."""
    runs = {}
    with schedule.open() as file:
        assert file.readline() == "run,page,kind,time\n"
        for run, page, kind, time in csv.reader(file):
            pair = runs.setdefault(int(run), {}).setdefault(page, [None, None])
            place = ("visit", "revisit").index(kind)
            assert pair[place] is None
            pair[place] = float(time)
    return runs


def still(times, one, other):
    return not any(min(one, other) < t <= max(one, other) for t in times)


def coherent(times, visit, revisit, attested, reference):
    """True, False, or None where there is no evidence."""
    if attested:
        return still(times, visit, reference) or (revisit is not None and still(times, reference, revisit))
    return None if revisit is None else still(times, visit, revisit)


def true_at(reference, times, visit, revisit):
    """Does one of the downloads show the page as it was at T?"""
    return any(still(times, download, reference) for download in (visit, revisit) if download is not None)


def blur(times, visit, revisit, start, end):
    """What a reader at a random instant misses who takes the nearer download."""
    revisit = visit if revisit is None else revisit
    visit, revisit = min(visit, revisit), max(visit, revisit)
    middle, seen = (visit + revisit) / 2, 0.0
    for t in times:
        if start <= t <= end:
            seen += t - start if t <= visit else middle - t if t <= middle else t - middle if t <= revisit else end - t
    return seen / (end - start)


def scored_again(facts, downloads, changes, attested):
    moments = [time for pair in downloads.values() for time in pair if time is not None]
    start, end = min(moments), max(moments)
    verdicts = [
        coherent(changes[page], visit, revisit, page in attested, facts["reference"])
        for page, (visit, revisit) in downloads.items()
    ]
    blurs = [blur(changes[page], visit, revisit, start, end) for page, (visit, revisit) in downloads.items()]
    return {
        "pages": len(downloads),
        "coherent": verdicts.count(True),
        "incoherent": verdicts.count(False),
        "unknown": verdicts.count(None),
        "average_blur": pytest.approx(sum(blurs) / len(blurs)),
    }


def attested_pages(pages, share, seed):
    """The rule of docs/simulate.md."""
    drawn = np.random.default_rng([seed, *b"attested"]).random(len(pages)) < share
    return {page for page, yes in zip(pages, drawn, strict=True) if yes}


@pytest.fixture
def history(tmp_path):
    rng = random.Random(3)
    lines = []
    for page in range(SIZE):
        hot = rng.expovariate(1 / 3)
        hist, changes = (
            ";".join(str(t) for t in sorted(rng.uniform(*span) for _ in range(int(hot))))
            for span in ((0, 999), (1000, 5500))
        )
        lines.append(f"/{page},-9,1,,{hist},{changes}")
    return write_history(tmp_path, lines)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_schedule_alone_gives_the_scores(history, tmp_path, jobs):
    links = [{"page": "/0", "out": ["/1", "/2", "/3"]}]
    links += [{"page": f"/{page}", "out": [f"/{3 * page + child}" for child in (1, 2, 3)]} for page in range(1, 13)]
    write_lines(tmp_path / "site.start.links.jsonl", links)
    schedule = tmp_path / "schedule.csv"
    done = CliRunner().invoke(
        main,
        [
            *("simulate", "--history", str(history), "--world", "attested=0.5"),
            *("--root", "/0", "--window", "1970-01-01T00:16:40", "5000", "--rates", "history", "--graph", "discover"),
            *("--strategy", "bfs,dfs:revisits=none,sharc-selective,sharc-attested,sharc-attested:visits=2"),
            *("--seeds", "2", "--jobs", str(jobs), "--json", "--schedule", str(schedule)),
        ],
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {*found} == {"site", "pages", "window", "runs", "version", "site_options", "run_options"}
    assert (found["pages"], found["window"]) == (SIZE, [*WINDOW])
    changes = changes_of(history, WINDOW)
    downloads = downloads_of(schedule)
    assert sorted(downloads) == list(range(len(found["runs"]))) == list(range(10))
    for number, facts in enumerate(found["runs"]):
        attested = attested_pages(list(changes), 0.5, facts["seed"])
        again = scored_again(facts, downloads[number], changes, attested)
        if "judged" in facts:  # the frontier's verdicts, of which an outsider can say whether they are true
            shown = [true_at(facts["reference"], changes[page], *pair) for page, pair in downloads[number].items()]
            assert facts["coherent"] <= sum(shown) + facts["audited"]["audited"], "an audit's download shows pages, too"
            assert facts["wrongly_coherent"] == 0
            assert facts["coherent"] + facts["incoherent"] + facts["unknown"] == facts["pages"]
            again = {name: again[name] for name in ("pages", "average_blur")}
        assert {name: facts[name] for name in again} == again
        assert facts["gone"] == 0
        assert min(t for pair in downloads[number].values() for t in pair if t is not None) >= WINDOW[0]
    assert {facts["incoherent"] for facts in found["runs"]} != {0}


@pytest.mark.long
def test_a_real_history_scored_by_an_outsider(shared_data, tmp_path):
    name = shared_data / "change-histories/emacswiki-2012"
    history, schedule = name.with_name(f"{name.name}.csv.gz"), tmp_path / "schedule.csv"
    done = CliRunner().invoke(
        main,
        [
            *("simulate", "--history", str(history), "--root", "SiteMap", "--window", "2012-03-01", "2012-04-01"),
            *("--graph", "known", "--jobs", "1"),
            *("--strategy", "sharc-selective", "--rates", "history", "--json", "--schedule", str(schedule)),
        ],
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (facts,) = found["runs"]
    again = scored_again(facts, downloads_of(schedule)[0], changes_of(history, found["window"]), set())
    assert facts["pages"] == again["pages"]
    assert facts["incoherent"] == again["incoherent"]
    assert facts["average_blur"] == again["average_blur"]
    assert (
        facts["coherent"] + facts["gone"] == again["coherent"] + again["unknown"]
    )  # deletions are not in the schedule
