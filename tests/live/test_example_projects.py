"""Two projects as others write them: stock against add-on, and killed again and again."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live.example_sites import EACH, LISTS, PICTURES, ROOMS, Gallery, Members, example_site
from tests.live.warm import Scrapy, finished

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROJECTS = [("members", Members, 2 * LISTS * EACH), ("gallery", Gallery, ROOMS * PICTURES)]
ADDON = ('ADDONS={"sharc_crawler.live.addon.SharcAddon": 500}', "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")
ARCHIVED = (*ADDON, "SHARC_OUTPUT=capture")
RESUMABLE = (*ARCHIVED, "SHARC_RESUME=True")
REVISITING = (*ADDON, "SHARC_STRATEGY=sharc-selective")
SAME = (
    "item_scraped_count", "dupefilter/filtered", "scheduler/enqueued", "scheduler/dequeued", "finish_reason",
    "downloader/response_status_count/302", "file_count", "request_depth_max",
)  # fmt: skip
PATIENCE = 240
AT_ONCE = 8  #: requests to a host: Scrapy's default


@dataclass(frozen=True)
class Run:
    code: int
    items: Counter[str]
    stats: dict[str, object]
    files: list[str]
    err: str


@pytest.fixture
def project(tmp_path):
    """A copy of an example project, in which it can be run."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(EXAMPLES / name, tmp_path / name, dirs_exist_ok=True))

    return copied


def command(name: str, url: str, settings: tuple[str, ...]) -> list[str]:
    given = ["STATS_DUMP=False", *settings]
    return ["crawl", name, "-a", f"url={url}"] + [x for one in given for x in ("-s", one)]


def run(folder: Path, url: str, *settings: str, python: Path | None = None) -> Run:
    """To the end; ``python``: by another interpreter than ours."""
    (folder / "kept_stats.py").write_text(
        "import json, pathlib\nfrom scrapy.statscollectors import MemoryStatsCollector\n\n\n"
        "class Kept(MemoryStatsCollector):\n"
        "    def _persist_stats(self, stats):\n"
        "        pathlib.Path('stats.json').write_text(json.dumps(stats, default=str))\n"
    )
    words = command(folder.name, url, ("STATS_CLASS=kept_stats.Kept", *settings))
    if python is None:
        done = finished(words, folder, os.environ, timeout=PATIENCE)
    else:
        cold = [str(python), "-m", "scrapy", *words]
        done = subprocess.run(cold, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    stats = json.loads((folder / "stats.json").read_text())
    images = sorted(str(path.relative_to(folder)) for path in folder.glob("images/*/*"))
    return Run(done.returncode, items_of(folder), {name: stats.get(name) for name in SAME}, images, done.stderr)


def items_of(folder: Path) -> Counter[str]:
    """What the pipeline wrote; that a picture lay there already is said of one that is asked for again."""
    file = folder / "items.jsonl"
    text = file.read_text().replace('"uptodate"', '"downloaded"') if file.exists() else ""
    return Counter(text.splitlines())


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "site", "number"),
    [pytest.param(*one, id=one[0], marks=[pytest.mark.long] * (one[0] == "members")) for one in PROJECTS],
)
def test_a_project_brings_with_the_add_on_what_it_brings_without(project, tmp_path, name, site, number):
    with example_site(site) as (url, asked):
        plain = run(project(name), url)
        assert plain.code == 0
        assert plain.items.total() == number
        stock = Counter(asked)
        for settings in (ADDON, RESUMABLE, REVISITING):
            shutil.rmtree(tmp_path / name)
            asked.clear()
            ours = run(project(name), url, *settings)
            assert_same(ours, plain)
            # the order is the strategy's; what was asked for is the same, revisits of pages apart
            revisits = asked - stock
            assert asked - revisits == stock
            assert bool(revisits) == (settings is REVISITING)
            assert all(what.startswith("GET ") and times == 1 for what, times in revisits.items()), revisits
            # each other difference that is meant is said in a line (docs/drop-in.md)
            assert "CONCURRENT_REQUESTS_PER_DOMAIN" not in ours.err, "nobody set it"
            assert ("Nothing is archived" in ours.err) == (settings is not RESUMABLE)
            assert (tmp_path / name / "capture" / "report.json").exists() == (settings is RESUMABLE)


def assert_same(ours: Run, plain: Run) -> None:
    """What a project has of a crawl."""
    assert (ours.code, ours.items, ours.files) == (plain.code, plain.items, plain.files), ours.err
    assert ours.stats == plain.stats


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "site", "number"),
    [pytest.param(*one, id=one[0]) for one in PROJECTS],
)
def test_a_project_that_is_killed_goes_on(project, name, site, number):
    with example_site(site) as (url, _):
        folder = project(name)
        expected = run(folder, url).items
        kills = killed_until_complete(folder, url, random.Random(7), most=4)
    found = items_of(folder)
    assert kills
    assert found.keys() == expected.keys()
    assert found.total() - expected.total() <= kills * AT_ONCE, "those that were in flight"
    report = json.loads((folder / "capture" / "report.json").read_text())
    assert all(capture["times"]["ended"] for capture in report["captures"])
    assert any(capture["times"]["interruptions"] for capture in report["captures"])


def killed_until_complete(folder: Path, url: str, chance: random.Random, most: int) -> int:
    """Run with SHARC_RESUME, killed (SIGKILL) after a few more items each time; how often."""
    for name in ("items.jsonl", "stats.json"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "images", ignore_errors=True)
    kills = 0
    while True:
        aim = items_of(folder).total() + chance.randrange(1, 7)
        settings = (*RESUMABLE, "LOG_LEVEL=INFO")
        process = Scrapy(command(folder.name, url, settings), folder, os.environ)
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and (kills == most or items_of(folder).total() < aim):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        if process.poll() is None:
            process.kill()
            kills += 1
        if process.wait(PATIENCE) == 0:
            return kills
        remove_torn(folder)
        assert process.returncode == -9, process.communicate()


def remove_torn(folder: Path) -> None:
    """Scrapy's images pipeline writes in place, and takes a file that a kill has left empty for a whole one."""
    for path in folder.glob("images/*/*"):
        if not path.stat().st_size:
            path.unlink()
