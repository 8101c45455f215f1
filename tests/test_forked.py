"""Tests in processes forked from the one that has collected them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: (of what a shell runs in the background the interrupt is ignored)
CONFTEST = """
import signal
from tests.forked import Forked
def pytest_configure(config):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(Forked(2))
"""

TESTS = """
import os, sys, time, warnings
from pathlib import Path
import pytest

HERE = Path(__file__).parent

@pytest.fixture(scope="module")
def shared():
    with open(HERE / f"{__name__}.made", "a") as file:
        print("made", file=file)
    yield os.getpid()
    with open(HERE / f"{__name__}.made", "a") as file:
        print("gone", file=file)

def test_passes(shared, tmp_path):
    print("not told of")
    assert tmp_path.is_dir()
    warnings.warn("said by " + __name__)

def test_fails(shared):
    print("said before it failed")
    assert shared != os.getpid()

@pytest.mark.skipif(True, reason="not here")
def test_is_skipped():
    pass
"""

ENDS = """
import os
def test_before(): pass
def test_ends(): os._exit(7)
def test_after(): pass
"""


LONG = """
import time
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def server():
    yield
    Path("ended").touch()

def test_long(server):
    Path("begun").touch()
    time.sleep(500)
"""


def begun(folder: Path, *arguments: str, **files: str) -> subprocess.Popen[str]:
    """Those files of tests, in two processes."""
    for name, text in {"conftest": CONFTEST, **files}.items():
        (folder / f"{name}.py").write_text(text)
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-ra", *arguments]
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, *arguments: str, **files: str) -> tuple[int, str]:
    with begun(folder, *arguments, **files) as process:
        said, _ = process.communicate(timeout=560)
    return process.returncode, said


@pytest.mark.slow
def test_all_is_reported_as_by_one_process_and_what_a_file_shares_is_made_once(tmp_path) -> None:
    code, said = run(tmp_path, test_one=TESTS, test_two=TESTS)
    assert code == 1, said
    assert "2 failed, 2 passed, 2 skipped, 2 warnings" in said
    assert said.count("Captured stdout call") == 2
    assert "assert shared != os.getpid()" in said
    assert "not told of" not in said
    assert "UserWarning: said by test_two" in said
    assert [(tmp_path / f"test_{name}.made").read_text() for name in ("one", "two")] == ["made\ngone\n"] * 2


@pytest.mark.slow
def test_a_test_that_ends_its_process_has_failed_and_those_after_it_are_run(tmp_path) -> None:
    code, said = run(tmp_path, test_ends=ENDS, test_other="def test_other(): pass")
    assert code == 1, said
    assert "FAILED test_ends.py::test_ends - the process that ran it ended with exit code 7" in said
    assert "1 failed, 3 passed" in said


@pytest.mark.slow
def test_interrupted_what_tests_have_in_common_ends_as_it_should(tmp_path) -> None:
    with begun(tmp_path, test_long=LONG) as process:
        while not (tmp_path / "begun").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=560)
    assert process.returncode == 2, said
    assert (tmp_path / "ended").exists(), said
    assert "KeyboardInterrupt" in said


@pytest.mark.slow
def test_the_first_failure_ends_a_run_that_is_to_end_by_it(tmp_path) -> None:
    code, said = run(tmp_path, "-x", test_one="def test_fails(): assert 0\n" + "def test_more(): pass")
    assert code == 1, said
    assert "stopping after 1 failures" in said
    assert "passed" not in said
