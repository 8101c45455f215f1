"""The wheel alone, outside of a checkout, captures a site."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sharc_crawler"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(folder.glob("*.whl"))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    root = tmp_path / "site"
    root.mkdir()
    (root / "index.html").write_text('<title>home</title><a href="/other.html">other</a>')
    (root / "other.html").write_text('<title>other</title><a href="/">home</a>')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_the_wheel_holds_every_file_of_the_package(wheel):
    here = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "sharc_crawler/watch/page.html" in here
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == here


def test_a_release_names_the_repository_that_it_is_made_from(tmp_path):
    """Nobody knows its address before."""
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text())["jobs"]["build"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "The package names this repository"]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    told = {"GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "a/b", "GITHUB_REF_NAME": "v0.1.0"}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env={**os.environ, **told}, check=True)
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    assert urls == {
        "Homepage": "https://pypi.org/project/sharc-crawler/",
        "Source": "https://git.example/a/b",
        "Documentation": "https://git.example/a/b/tree/v0.1.0/docs",
        "Issues": "https://git.example/a/b/issues",
        "Changelog": "https://git.example/a/b/blob/v0.1.0/CHANGELOG.md",
    }


@pytest.mark.long
def test_the_wheel_captures_a_site(wheel, site, tmp_path):
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    environment = {**os.environ, "PYTHONPATH": str(installed), "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    run = partial(subprocess.run, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    where = run([sys.executable, "-c", "import sharc_crawler; print(sharc_crawler.__file__)"]).stdout
    assert where.startswith(str(installed))
    run([sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site}", "-a", "output=out", "-a", "delay=0.01"])
    assert (tmp_path / "out/report.html").exists()
    sharc = [sys.executable, "-c", "from sharc_crawler.cli import main; main()"]
    assert "All 2 pages were in this state together" in run([*sharc, "verify", "out"]).stdout
    assert json.loads(run([*sharc, "watch", "out", "--json"]).stdout)["ended"] == "finished"
