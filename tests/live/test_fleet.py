"""Workers of a fleet: real processes, real sites on loopback; one is killed, and nobody can tell from the captures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.delivery import fetch
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.fleet.ledger import SiteState
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.storage.beside import open_state
from tests.fleet.database import Database, missing
from tests.live.serving import Answering, serving_at
from tests.object_store import object_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PAGES, SITES, DELAY, TERM = 12, 4, 0.1, 4.0
FAR = 7  #: the first page that takes three others to be found


class Asked:
    """What servers were asked: of each site the paths, in order."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.by_site: dict[str, list[str]] = defaultdict(list)
        self.killed = Event()  #: until then no site can be captured to its end


def handler_of(asked: Asked) -> type[BaseHTTPRequestHandler]:
    class Tree(Answering, BaseHTTPRequestHandler):
        """A page links to two further ones."""

        def do_GET(self):
            with asked.lock:
                asked.by_site[self.headers["Host"]].append(self.path)
            number = int(self.path[1:] or 0) if self.path[1:].isdigit() or self.path == "/" else PAGES
            if FAR <= number < PAGES:
                asked.killed.wait(240)
            links = "".join(f"<a href=/{page}>{page}</a>" for page in (2 * number + 1, 2 * number + 2) if page < PAGES)
            body = f"<html><title>{number}</title>{self.headers['Host']} {links}".encode() if number < PAGES else b""
            with suppress(ConnectionError):  # whoever asked was killed
                self.answer(body, status=200 if body else 404)

    return Tree


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    server = Database(tmp_path_factory.mktemp("postgresql"))
    yield server
    server.stop()


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    known = Asked()
    with serving_at([f"127.0.8.{number}" for number in range(1, SITES + 1)], handler_of(known)) as urls:
        (tmp_path / "seeds.txt").write_text("\n".join(urls))
        yield known


@pytest.fixture
def dsn(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """PostgreSQL where it is installed, else a file."""
    if missing():
        return f"sqlite:{tmp_path / 'fleet.db'}"
    database: Database = request.getfixturevalue("database")
    return database.new()


def sharc(*arguments: object) -> str:
    done = CliRunner().invoke(main, ["fleet", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def begin(
    dsn: str, folder: Path, name: str, output: object = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    settings = {"SHARC_OPERATOR": "a@b.example", "SHARC_ALLOWED_ADDRESSES": "127.0.0.0/8", "DOWNLOAD_DELAY": DELAY}
    chosen = [part for setting, value in settings.items() for part in ("-s", f"{setting}={value}")]
    command = ["fleet", "work", dsn, "--output", output or folder / "captures", "--sites", SITES // 2, "--term", TERM]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from sharc_crawler.cli import main; main()",
            *map(str, command),
            "--name",
            name,
            *chosen,
        ],
        stderr=(folder / f"{name}.log").open("wb"),
        env={**os.environ, **(environment or {})},
    )


def until(condition, seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def killed_and_ended(
    dsn: str, folder: Path, asked: Asked, output: object = None, environment: Mapping[str, str] | None = None
) -> int:
    """One of two workers is killed; the other one ends all captures. How many requests a site may have been sent."""
    sharc("init", dsn)
    sharc("add", dsn, folder / "seeds.txt", "-a", "hops=9")
    sharc("pause", dsn)
    ledger = open_fleet(dsn)
    workers = {name: begin(dsn, folder, name, output, environment) for name in ("first", "second")}
    try:
        until(lambda: len(ledger.status().workers) == len(workers))
        sharc("resume", dsn)
        until(lambda: any(one.owner == "first" and one.visits >= 3 for one in ledger.sites()))
        os.kill(workers["first"].pid, signal.SIGKILL)
        asked.killed.set()
        until(lambda: ledger.status().states == {SiteState.DONE: SITES})
        sharc("drain", dsn, "second")
        assert workers["second"].wait(240) == 0, (folder / "second.log").read_text()
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()
    assert ledger.status().takeovers >= 1
    assert [one.worker for one in ledger.status().workers if one.worker == "second"] == [], "it has left"
    sites = list(ledger.sites())
    assert [one.visits for one in sites] == [2 * PAGES - 1] * SITES, "one page is its own revisit"
    ledger.close()
    # robots.txt, sitemap, and what was in flight whenever a site was lost, as on a machine with too much to do
    return 2 * PAGES - 1 + 2 + max(one.epoch for one in sites) - 1


@pytest.mark.long
def test_a_worker_is_killed_and_another_ends_its_captures(tmp_path: Path, dsn: str, asked: Asked):
    most = killed_and_ended(dsn, tmp_path, asked)
    for folder in (tmp_path / "captures").iterdir():
        assert not verify(folder).findings, folder
        assert not list(folder.glob(".epoch-*")), "what owners wrote for themselves is gone"
        with open_state(folder) as store:
            started = sorted(row.started for row in store.exchanges())
            assert any("epoch 1 of this site" in note for note in store.captures()[0].notes)
        assert min(later - earlier for earlier, later in pairwise(started)) >= DELAY, "one owner or two"
    for site, paths in asked.by_site.items():
        assert len(paths) <= most, site


@pytest.mark.long
def test_what_counts_of_a_killed_worker_lies_in_the_object_store(tmp_path: Path, dsn: str, asked: Asked):
    scratch, back = tmp_path / "scratch", tmp_path / "back"
    scratch.mkdir()
    with object_store(tmp_path / "s3") as store:
        environment = {**store.environment, "TMPDIR": str(scratch)}
        most = killed_and_ended(dsn, tmp_path, asked, store.url("fleet"), environment)
        with patch.dict(os.environ, store.environment):
            fetch(ObjectFolder(store.url("fleet")), back)
    assert len(list(scratch.glob("sharc-fleet-*"))) == 1, "of the killed one, and nothing that counts"
    assert len(list(back.iterdir())) == SITES
    for folder in back.iterdir():
        assert not verify(folder).findings, folder
        assert not list(folder.glob("*.part-*"))
        assert (folder / "journal.jsonl.gz").exists()
    assert max(map(len, asked.by_site.values())) <= most
