"""Fixtures for all tests, and what ``make quick`` leaves out."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings, strategies
from hypothesis.internal.conjecture import providers

from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import Generator

#: a failure is the same for everybody; the same examples each time find nothing new, so they are few
#: a busy machine may stand still for a minute, which is no fault of how examples are made
SLOW = [HealthCheck.too_slow]
settings.register_profile("default", deadline=None, derandomize=True, max_examples=10, suppress_health_check=SLOW)
settings.register_profile("thorough", deadline=None, max_examples=400)  # make test-long
settings.load_profile("default")
#: nor do they come of constants in the modules that a process has loaded by then: each process has others
providers._get_local_constants = lambda: providers._local_constants

#: what a test does that starts a server or a process; CPython's names of the events (PEP 578)
SERVES = frozenset({"socket.bind", "subprocess.Popen"})

#: folders of tests most of whose time is waiting
WAITING = {("tests", name) for name in ("acceptance", "collection", "fleet", "live")}

_PROJECT = "SCRAPY_SETTINGS_MODULE"
_CHOSEN = os.environ.get(_PROJECT)


def pytest_runtest_teardown() -> None:
    """Scrapy writes the project of this folder into the environment; the next test's projects are others."""
    if _CHOSEN is None:
        os.environ.pop(_PROJECT, None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what is slow, starts a server or a process")
    parser.addoption("--forked", type=int, metavar="N", help="collect once, test in that many processes")


#: tests write and sync thousands of small files: in memory, where there is room for all that they leave at once
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
_PLACE = "PYTEST_DEBUG_TEMPROOT"

#: threads of libraries that compute: each waits for the others by turning in circles, and eight processes test at once
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def pytest_configure(config: pytest.Config) -> None:
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if _PLACE not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ[_PLACE] = str(MEMORY)
    config.pluginmanager.register(Doctests())
    if number := config.getoption("--forked"):
        config.pluginmanager.register(Forked(number))
        if not config.getoption("--quick"):
            _share_forker(config)
    if config.getoption("--quick"):
        config.option.markexpr = " and ".join(filter(None, (config.option.markexpr, "not slow")))
        config.pluginmanager.register(Quick())


def _share_forker(config: pytest.Config) -> None:
    """One process forks the crawls of all that test: its modules are loaded once."""
    from tests.live import warm

    forker, place = warm.begun()
    os.environ[warm.SHARED] = str(place)
    config.add_cleanup(forker.communicate)  # it ends when nobody can ask any more


#: what tests of several files load, half a second and more each: once, before the processes that test are forked
LOADED = ("matplotlib.dates", "matplotlib.figure", "sklearn.tree")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is collected stays to the end: it is not looked through for garbage, then or later."""
    gc.disable()
    try:
        collected = yield
        if session.config.getoption("--forked"):
            _load(session.config)
        return collected
    finally:
        gc.freeze()
        gc.enable()


def _load(config: pytest.Config) -> None:
    strategies.text().validate()  # a table of all characters
    for name in () if config.getoption("--quick") else LOADED:
        with suppress(ModuleNotFoundError):  # an extra
            import_module(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that wait for crawls lie among those that compute, file by file, so that no processor waits with them.

    They lie in the first half, so that nobody waits for another's long crawl at the end.
    """
    files, place = dict.fromkeys(item.path for item in items), {}
    for waiting, end in (True, 0.5), (False, 1.0):
        some = [path for path in files if (path.relative_to(config.rootpath).parts[:2] in WAITING) == waiting]
        place |= {path: end * (number + 0.5) / len(some) for number, path in enumerate(some)}
    items.sort(key=lambda item: place[item.path])


EVERY = 4
ROWS = pytest.StashKey[Counter[str]]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Of a matrix's rows the first and every fourth after it are in the default run, the others in the long one."""
    if (matrix := item.get_closest_marker("matrix")) and not item.get_closest_marker("long"):
        name = item.nodeid.partition("[")[0]
        rows = item.config.stash.setdefault(ROWS, Counter())
        if rows[name] % (matrix.args or (EVERY,))[0]:
            item.add_marker("long")
        rows[name] += 1


class Doctests:
    """Of 900 modules 250 have examples: the others are neither imported nor looked through for them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        if not any(isinstance(one, DoctestModule) for one in found) or b">>> " in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]


class Quick:
    """A test ends as skipped where it begins to serve: nobody has to mark it."""

    def __init__(self) -> None:
        self.testing = False
        sys.addaudithook(self.refuse)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> object:
        self.testing = True
        try:
            return (yield)
        finally:
            self.testing = False

    def refuse(self, event: str, _arguments: tuple[object, ...]) -> None:
        if self.testing and event in SERVES:
            pytest.skip(f"a quick run starts no servers and no processes ({event})")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the repository (or in $SHARC_DATA); never committed, so its tests skip where it is absent."""
    folder = Path(os.environ.get("SHARC_DATA", Path(__file__).resolve().parents[1] / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}; set SHARC_DATA to its folder")
    return folder


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are numbered: a gzip header bears the time, and pytest's processes must agree on the names of tests."""
    return argname if isinstance(val, bytes) and not val.isascii() else None
