from __future__ import annotations

import csv
import json
import math
import re

import pytest
from click.testing import CliRunner

from benchmarks.synthetic_views import SyntheticLog, generate
from sharc_crawler.cli import main


@pytest.fixture(autouse=True, scope="module")
def duckdb():
    """Loaded by a test, not before: what is collected is frozen, and DuckDB calls that a leak at exit, in 100 lines."""
    return pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Synthetic views as a table, and labels by truth."""
    folder = tmp_path_factory.mktemp("temporal")
    made = generate(SyntheticLog(pages=500, news_sites=3, mixed_sites=3, evergreen_sites=6), 2)
    with (folder / "views.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["page", *(f"2022-01-{d:02d}" for d in range(1, 32)), *(f"2022-02-{d:02d}" for d in range(1, 29))]
        )
        rows.writerows([page, *views[:59].tolist()] for page, views in zip(made.pages, made.views, strict=True))
    with (folder / "labels.csv").open("w") as file:
        file.write("page,label\n")
        file.writelines(
            f"{p},{'temporal' if t else 'untemporal'}\n" for p, t in zip(made.pages, made.temporal, strict=True)
        )
    return folder


def run(*arguments):
    return CliRunner().invoke(main, ["temporal", *map(str, arguments)])


@pytest.mark.long
def test_seeds_labels_pictures_and_json(log, tmp_path):
    seeds, pictures = tmp_path / "instant-seeds.txt", tmp_path / "pictures"
    options = ("--top", 3, "-o", seeds, "--pictures", pictures, "--labels", log / "labels.csv", "--json")
    result = run(log / "views.csv", *options)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["window"] == {"start": "2022-01-01", "days": 59}
    assert sum(facts["pages"][kind] for kind in ("temporal", "untemporal", "unknown")) == facts["pages"]["reliable"]
    scores = [group["score"] for group in facts["chosen"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert seeds.read_text().splitlines() == [group["seed"] for group in facts["chosen"]]
    assert all(line.startswith("https://site") and line.endswith(".example/") for line in seeds.read_text().split())
    labels = facts["labels"]
    assert labels["now"]["hit"] > 0.9 * labels["labelled"]
    assert labels["best"]["reward"] >= labels["now"]["reward"]
    assert {file.name for file in pictures.iterdir()} == {"curves.png", "ranking.png"}
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures.iterdir())


@pytest.mark.slow
def test_each_page_has_a_class_and_a_curve(log, tmp_path):
    result = run(log / "views.csv", "--curves", tmp_path / "curves.csv", "--json")
    assert result.exit_code == 0, result.output
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    pages = json.loads(result.stdout)["pages"]
    for kind in ("temporal", "untemporal", "unknown"):
        assert sum(row["class"] == kind for row in rows) == pages[kind]
    assert all(float(row["share"]) > 0.7 for row in rows if row["class"] == "temporal")
    with (log / "views.csv").open(newline="") as file:
        views = {row["page"]: [float(row[day]) for day in row if day != "page"] for row in csv.DictReader(file)}
    row = max(rows, key=lambda row: (row["class"] == "temporal", int(row["views"])))
    area, birth, mu, sigma = (float(row[name]) for name in ("log_area", "birth", "mu", "sigma"))
    ages = [(day - birth, seen) for day, seen in enumerate(views[row["page"]], 1)]
    fitted = [
        (seen, math.exp(area - ((math.log(age) - mu) / sigma) ** 2 / 2) / (age * sigma * math.sqrt(2 * math.pi)))
        for age, seen in ages
        if age > 0
    ]
    unborn = sum(seen**2 for age, seen in ages if age <= 0)
    assert unborn + sum((seen - curve) ** 2 for seen, curve in fitted) == pytest.approx(float(row["squares"]), rel=1e-3)


@pytest.mark.slow
def test_table(log):
    result = run(log / "views.csv", "--top", 2)
    assert result.exit_code == 0, result.output
    assert re.search(
        r"2 of \d+ groups chosen: they hold \d+ of 47 pages called temporal; ", " ".join(result.output.split())
    )
    assert "precision" not in result.output, "nothing is known of how right the classes are"
    assert result.output.count(".example") == 2


@pytest.mark.slow
def test_a_narrow_terminal_shows_groups_whole(log):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["temporal", str(log / "views.csv"), "--by", "folder"])
    cells = [line.split("│")[2].strip() for line in result.stdout.splitlines() if line.count("│") == 8]
    assert "…" not in "".join(cells)
    assert "/news/" in "".join(cells)


@pytest.fixture(scope="module")
def by_folder(log):
    return json.loads(run(log / "views.csv", "--by", "folder", "--json").stdout)


@pytest.mark.slow
def test_folders_of_a_high_score_are_the_news(by_folder):
    best = [group for group in by_folder["chosen"] if group["score"] >= 0.3]
    assert best
    assert all(group["seed"].endswith("/news/") for group in best)


@pytest.mark.slow
def test_a_group_without_a_temporal_page_is_no_seed(by_folder):
    assert 0 < len(by_folder["chosen"]) < by_folder["groups"]
    assert all(group["temporal"] > 0 for group in by_folder["chosen"])


@pytest.mark.long
def test_sites_with_thresholds_of_their_own(log):
    options = ("--labels", log / "labels.csv", "--per-site")
    facts = json.loads(run(log / "views.csv", *options, "--json").stdout)
    assert facts["labels"]["sites"]
    assert facts["labels"]["held_out"].keys() == {"one", "per_site"}
    assert "own thresholds for" in " ".join(run(log / "views.csv", *options).output.split())
    alone = run(log / "views.csv", "--per-site")
    assert (alone.exit_code, "give --labels" in alone.stderr) == (2, True)


@pytest.mark.slow
def test_where_nothing_is_chosen_it_says_so_and_what_to_do(log, tmp_path):
    flat = tmp_path / "flat.csv"
    days = [f"2022-01-{day:02d}" for day in range(1, 31)]
    rows = [",".join(["page", *days]), *(",".join([f"https://a.example/{n}", *["10"] * 30]) for n in range(12))]
    flat.write_text("\n".join(rows))
    result = run(flat, "-o", seeds := tmp_path / "seeds.txt")
    assert result.exit_code == 0, result.output
    assert "No page is temporal: there is no site to poll" in result.stderr.splitlines()[-1]
    assert "a lower share of --threshold (0.7 now)." in result.stderr.splitlines()[-1]
    assert not seeds.exists()
    result = run(log / "views.csv", "--budget", 0.01)
    assert "--budget 0.01 is too little for the first group" in result.stderr.splitlines()[-1]


@pytest.mark.slow
def test_templates(log):
    chosen = json.loads(run(log / "views.csv", "--by", "template", "--json").stdout)["chosen"]
    assert chosen
    assert all(group["pages"] >= 10 for group in chosen)


@pytest.mark.slow
def test_budget_limits_the_choice(log):
    small = json.loads(run(log / "views.csv", "--budget", 3, "--json").stdout)
    large = json.loads(run(log / "views.csv", "--budget", 30, "--json").stdout)
    assert sum(group["pages"] for group in small["chosen"]) <= 59 * 3
    assert len(small["chosen"]) < len(large["chosen"])


@pytest.mark.slow
def test_errors_say_the_way_out(log, tmp_path):
    result = run(log / "views.csv", "--top", 3, "--budget", 5)
    assert (result.exit_code, "give one" in result.stderr) == (2, True)
    result = run(log / "views.csv", "--threshold", 3, 2)
    assert (result.exit_code, "--threshold: share=2 is no share of all interest" in result.stderr) == (2, True)
    result = run(log / "views.csv", "--until", "1990-01-01")
    assert (result.exit_code, "--until 1990-01-01: the logs begin after it" in result.stderr) == (2, True)
    result = run(log / "views.csv", "--days", 1)
    assert (result.exit_code, "--days 1: a curve needs 5 days" in result.stderr) == (2, True)
    result = run(log / "views.csv", "--threshold", 100, 0.7)
    assert (result.exit_code, "--threshold: 100 days are no part of a window of 59 days" in result.stderr) == (2, True)
    result = run(tmp_path / "absent.log")
    assert (result.exit_code, "no such file" in result.stderr) == (3, True)
    result = run(tmp_path)
    assert (result.exit_code, "is a folder: give the log files in it" in result.stderr) == (3, True)
