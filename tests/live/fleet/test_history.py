"""What a capture taught goes by the ledger to whoever captures the site next."""

from __future__ import annotations

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.changes.masks import Mask, grown, load_masks, taken_over
from sharc_crawler.errors import UsageError
from sharc_crawler.fleet.ledger import SiteOrder
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.live.config import Config
from sharc_crawler.live.fleet.history import SharedHistory, learned, take_in
from sharc_crawler.live.fleet.keeping import SharedFolder
from sharc_crawler.live.fleet.order import ordered
from sharc_crawler.live.fleet.run import fleet_settings, run_worker
from sharc_crawler.model import Fetch, Outcome, Result, Sighting, Wait
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.live.serving import Answering

if TYPE_CHECKING:
    from pathlib import Path

SITE, ROOT = "a.example", "http://a.example/"


def captured(path: Path, start: float, digest: str) -> SqliteStore:
    """A site of a page that links to another one, visited twice."""
    path.mkdir()
    store = SqliteStore(path)
    frontier, now = Frontier(store=store), start
    frontier.open(CaptureSpec(SITE, (ROOT,), strategy="bfs", sitemaps=()), now)
    while not frontier.done:
        decision = frontier.next(now)
        if isinstance(decision, Fetch):
            links = [Sighting(f"{ROOT}more")] if decision.url == ROOT else []
            frontier.finished(decision, Outcome(Result.OK, now, now, 200, f"sha1:{digest}"), links)
        elif isinstance(decision, Wait):
            now = decision.until
    return store


def both(folder: Path) -> list[ObservationStore]:
    return [ObservationStore(folder / name) for name in ("first", "second")]


def test_a_history_is_the_same_wherever_captures_were_made(tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    bodies = [learned(captured(tmp_path / "one", 1e9, "A"), first)]
    take_in(SITE, bodies, second)
    bodies.append(learned(captured(tmp_path / "two", 1.1e9, "B"), second))
    for _ in range(2):  # as often as one likes
        take_in(SITE, bodies, first)
    one, other = both(tmp_path)
    with one, other:
        assert list(one.observations(SITE)) == list(other.observations(SITE))
        assert list(one.linked(SITE)) == list(other.linked(SITE))
        assert len(list(one.observations(SITE))) >= 8
        assert [row.url for row in one.linked(SITE)] == [ROOT]
        changes = {row.change.value for row in one.observations(SITE) if row.time > 1.05e9 and row.url == ROOT}
        assert "changed" in changes, "against the capture that another worker made"


def test_what_is_told_again_is_what_was_told_first(tmp_path: Path):
    store, file = captured(tmp_path / "one", 1e9, "A"), tmp_path / "history"
    take_in(SITE, [learned(captured(tmp_path / "zero", 0.9e9, "Z"), tmp_path / "other")], file)
    bodies = [learned(store, file) for _ in range(2)]  # the end of a capture may be tried again
    for number, body in enumerate(bodies):
        take_in(SITE, [body], tmp_path / ("first", "second")[number])
    one, other = both(tmp_path)
    with one, other:
        assert list(one.observations(SITE)) == list(other.observations(SITE)) != []
        assert min(row.time for row in one.observations(SITE)) >= 1e9, "its own alone"


def test_a_report_names_the_ledger_and_no_file_of_a_worker_that_has_gone(tmp_path: Path):
    settings = ["SHARC_OPERATOR=a@b.example", f"SHARC_HISTORY={tmp_path / 'history'}"]
    config = Config.from_settings(fleet_settings(settings, SharedFolder(tmp_path / "captures"), 4))
    names = [ordered({"url": ROOT}, config, shares_history=shared)[0].settings["history"] for shared in (True, False)]
    assert names == ["the fleet's ledger", str(tmp_path / "history")]


class Counted(Answering, BaseHTTPRequestHandler):
    """Each answer says how many there were."""

    seen = count(1)

    def do_GET(self):
        links = "".join(f"<a href=/{number}>{number}</a>" for number in range(1, 9))
        body = f"<html><p>Page {self.path}</p><span class=views>seen {next(self.seen)} times</span>{links}".encode()
        self.answer(body, status=404 if self.path.endswith((".txt", ".xml")) else 200)


@pytest.mark.long
def test_a_worker_goes_by_the_masks_that_another_ones_capture_learned(tmp_path: Path):
    server = ThreadingHTTPServer(("127.0.7.1", 0), Counted)
    Thread(target=server.serve_forever, daemon=True).start()
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    site = f"127.0.7.1:{server.server_port}"
    ledger.add([SiteOrder(site, {"url": f"http://{site}/", "delay": "0.01"})])
    settings = ("SHARC_OPERATOR=a@b.example", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")
    words = ["fleet", "work", f"sqlite:{tmp_path / 'fleet.db'}", "--output", str(tmp_path / "captures"), "--until-done"]
    words += ["--history", "--masks", *(part for one in settings for part in ("-s", one))]
    for name in ("first", "second"):
        command = "from sharc_crawler.cli import main; main()"
        subprocess.run([sys.executable, "-c", command, *words, "--name", name], check=True)
        ledger.requeue([site])
    first, second = sorted((tmp_path / "captures").iterdir())
    said = [json.loads((folder / "certificate.json").read_text())["capture"]["settings"] for folder in (first, second)]
    assert "seen" in load_masks(first / "learned-masks.json")[0].pattern
    assert ("masks_taken" in said[0], said[1]["masks_taken"]) == (False, 1)
    assert not (second / "learned-masks.json").exists(), "nothing is left to be learned"
    server.shutdown()
    server.server_close()
    ledger.close()


class Asked:
    """A clerk that answers at once."""

    def __init__(self, **ledger) -> None:
        self.ledger = SimpleNamespace(**ledger)

    async def ask(self, method, *values):
        return method(*values)


@deferred_f_from_coro_f
async def test_masks_that_captures_learned_hold_for_the_next_one_and_grow(tmp_path: Path):
    one, other = Mask("//span", "seen (\\d+) times"), Mask("//p", "")
    history = SharedHistory(tmp_path, takes_masks=True)
    file = history.masks_of(SITE)
    assert file is not None
    text, new = grown(file, [one], "a.example")
    assert new == 1
    await history.take_in(Asked(history=lambda _: [], masks=lambda _: text), SITE)
    assert load_masks(file) == (one,)
    config = Config.from_settings(fleet_settings(["SHARC_OPERATOR=a@b.example"], SharedFolder(tmp_path / "x"), 4))
    stated = ordered({"url": ROOT}, config, shares_history=True, masks=file)[0].settings
    assert (stated["masks"], stated["masks_number"], stated["masks_taken"]) == ("the fleet's ledger", 1, 1)
    more, new = grown(file, [one, other], "a.example-round-2")
    file.write_text(more)
    assert (new, load_masks(file), taken_over(file)) == (1, (one, other), {"a.example": 1, "a.example-round-2": 1})


@deferred_f_from_coro_f
async def test_masks_are_taken_over_only_where_that_is_wanted(tmp_path: Path):
    history = SharedHistory(tmp_path, takes_masks=False)
    await history.take_in(Asked(history=lambda _: []), SITE)
    assert history.masks_of(SITE) is None
    settings = fleet_settings(["SHARC_OPERATOR=a@b.example"], SharedFolder(tmp_path / "x"), 4)
    assert "masks_number" not in ordered({"url": ROOT}, Config.from_settings(settings))[0].settings
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    with pytest.raises(UsageError, match=r"--masks: what captures learn is kept with --history alone"):
        run_worker(ledger, "w", str(tmp_path / "x"), room=4, term=60, takes_masks=True)
    own = ["SHARC_MASKS=mine.json"]
    with pytest.raises(UsageError, match=r"SHARC_MASKS='mine.json': with --masks it lies in the fleet's ledger"):
        run_worker(ledger, "w", str(tmp_path / "x"), own, room=4, term=60, shares_history=True, takes_masks=True)
    ledger.close()
