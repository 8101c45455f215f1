"""A strategy from somebody else's package: a real distribution, installed by pip into an environment of its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import sysconfig
import venv
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "their-crawl-orders"
version = "0.1"
dependencies = ["sharc-crawler"]

[project.entry-points."sharc_crawler.strategies"]
theirs = "their_crawl_orders:NewestFirst"
"""

CODE = '''
"""Last found, first visited."""

from sharc_crawler.model import Slot, Visit
from sharc_crawler.strategies.base import Strategy


class NewestFirst(Strategy):
    revisits = False
    accepts_late = True

    def __init__(self, setting, most=1000):
        super().__init__(setting)
        self.most = most
        self.pages = []

    def add(self, candidates):
        self.pages.extend(candidates.pages.tolist())

    def next(self, now):
        return Visit(self.pages.pop(), Slot.ONLY) if self.pages else None

    def finished(self, visit, captured):
        if visit.page in self.pages:
            self.pages.remove(visit.page)

    def reprice(self, page, rate):
        pass

    def __len__(self):
        return len(self.pages)
'''

OURS = "import site; site.addsitedir({!r})\n"  # sharc-crawler and all that it needs, as installed here
SHARC = "from sharc_crawler.cli import main; main()"
SEVERAL = """
import sys
from click.testing import CliRunner
from sharc_crawler.cli import main
for words in sys.argv[1:]:
    done = CliRunner().invoke(main, words.split())
    print(done.exit_code, done.stderr.replace("\\n", " "))
"""
SITE = ("--world", "size=7,outdegree=2", "--jobs", "1", "--json")  # 0 links to 1 and 2, these to 3, 4 and 5, 6


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which their distribution is installed."""
    folder = tmp_path_factory.mktemp("theirs")
    package = folder / "project" / "src" / "their_crawl_orders"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(CODE)
    (folder / "project" / "pyproject.toml").write_text(PROJECT)
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    packages = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (folder / "ours.pth").write_text("".join(OURS.format(path) for path in sorted(paths)))
    (folder / "ours.pth").rename(f"{packages.strip()}/ours.pth")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index")
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", folder / "project"], check=True, timeout=300)
    return python


def sharc(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [python, "-c", SHARC, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.long
def test_it_crawls_by_name_beside_ours(python: Path, tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.csv"
    done = sharc(python, "simulate", "--strategy", "theirs:most=9,bfs:revisits=none", *SITE, "--schedule", schedule)
    assert done.returncode == 0, done.stderr
    assert [run["strategy"] for run in json.loads(done.stdout)["runs"]] == ["theirs:most=9", "bfs:revisits=none"]
    rows = [row for row in csv.DictReader(schedule.open()) if row["run"] == "0"]
    order = [row["page"] for row in sorted(rows, key=lambda row: float(row["time"]))]
    assert [int(page.rpartition("/")[2] or 0) for page in order] == [0, 2, 6, 5, 1, 4, 3]


@pytest.mark.long
def test_a_misspelt_name_is_told_theirs(python: Path) -> None:
    words = [" ".join(("simulate", "--strategy", spec, *SITE)) for spec in ("their", "theirs:mots=5")]
    done = subprocess.run([python, "-c", SEVERAL, *words], capture_output=True, text=True, timeout=300, check=True)
    name, option = done.stdout.splitlines()
    assert name.startswith("2 ") and "theirs" in name.replace("'their'", "")
    assert option.startswith("2 ") and "most" in option
