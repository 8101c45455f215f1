"""The strategy of docs/strategies.md, from the page as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests import docs_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page's files, and what an installer would make of the last one."""
    folder = tmp_path_factory.mktemp("theirs")
    docs_files.install("strategies.md", folder)
    return folder


def run(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.long
def test_it_keeps_the_contract(folder):
    done = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_orders.py")
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d\d passed", done.stdout)


def test_it_crawls_by_path_and_by_name_and_is_better_than_the_order_of_discovery(folder):
    names = "bfs,my_orders.ColdestFirst,coldest-first:most=2"
    sharc = ("-c", "from sharc_crawler.cli import main; main()", "simulate")
    site = ("--world", "size=500", "--graph", "known", "--seeds", "2", "--jobs", "1", "--json")
    done = run(folder, *sharc, *site, "--strategy", names)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    bfs, by_path, by_name = (
        [one["incoherent"] for one in runs if one["strategy"] == name] for name in names.split(",")
    )
    assert len(by_path) == len(by_name) == 2
    assert sum(by_path) < sum(bfs)
    assert any(one["hopeless"] for one in runs if one["strategy"] == "my_orders.ColdestFirst")
