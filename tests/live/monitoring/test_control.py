"""Orders to a crawl that runs: ``sharc control`` as a user types it, against a crawl in a process of its own."""

from __future__ import annotations

import errno
import json
import os
import time

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.cli.control import changed, give
from sharc_crawler.collection.terms import FILE as COLLECTION
from sharc_crawler.control import ORDERS, STATUS, Orders, read_orders, write
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import DataError
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.monitoring.control import Control
from sharc_crawler.storage.folders import RUNNING, hold
from sharc_crawler.storage.opening import USUAL, begin_state
from tests.live.test_interruptions import INTERRUPTED, USAGE, select_nothing, start

PATIENCE = 240


def order(folder, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["control", str(folder), *words])
    return done.exit_code, done.output


def nobody(folder) -> str:
    return f"sharc: error: no crawl runs in {str(folder)!r}, or it does not answer"


def wait_for(condition, process) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        select_nothing(0.05)


def test_paused_slowed_stopped_and_gone_on_with(tmp_path, monkeypatch):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=40, slow=0.05)) as server:
        process = start(folder, server.url, delay="0.05")
        wait_for(lambda: len(server.log) > 10 and (folder / STATUS).exists(), process)
        assert order(folder, "pause")[1].startswith("paused, ")
        select_nothing(0.5)  # what was in flight comes in
        asked = len(server.log)
        code, told = order(folder, "status", "--json")
        assert (code, json.loads(told)["paused"]) == (0, True)
        watched = json.loads(CliRunner().invoke(main, ["watch", str(folder), "--json"]).output)
        assert watched["headline"].endswith("pages, paused (by order)"), watched["headline"]
        assert watched["requests"] >= 10
        assert watched["hosts"][0]["host"] in server.url
        assert len(server.log) <= asked + 1, "nothing is asked for while it pauses; on a busy machine it was in flight"
        assert order(folder, "stop")[1].startswith("stops, ")
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == INTERRUPTED, out
        asked = len(server.log)
        assert "Stopped by order (sharc control), not complete: the same command resumes it" in out

        monkeypatch.setattr("sharc_crawler.cli.control.ANSWER_WITHIN", 0.3)
        code, told = order(folder, "delay", "0.01")
        assert code == USAGE, "nobody has obeyed"
        assert told.splitlines() == [nobody(folder) + "; one that is started again there will obey"]
        monkeypatch.undo()
        process = start(folder, server.url, delay="0.05")
        wait_for(lambda: read_status_paused(folder), process)
        assert len(server.log) == asked, "a pause holds over a restart"
        assert "0.01 s between" in order(folder, "resume")[1]
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, out
    assert CliRunner().invoke(main, ["watch", str(folder)]).output.startswith("The crawl is over: finished.")
    monkeypatch.setattr("sharc_crawler.cli.control.ANSWER_WITHIN", 0.3)
    for words in (["pause"], ["resume"], ["stop"], ["status"], ["delay", "1"]):
        code, told = order(folder, *words)
        assert (code, told.startswith(nobody(folder)), told.count("\n")) == (USAGE, True, 1), "it is complete"
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    said = [note for note in capture["notes"] if note.startswith("by order at ")]
    assert [note.partition(": ")[2].split()[0] for note in said] == ["paused", "paused", "0.01", "goes"]


def read_status_paused(folder) -> bool:
    """The second process has answered: it is younger than the order that nobody took."""
    orders, status = read_orders(folder), json.loads((folder / STATUS).read_text())
    return status["order"] == orders.number and status["paused"]


def test_orders_that_nobody_takes(tmp_path):
    assert "no crawl began there" in order(tmp_path, "pause")[1]
    write(tmp_path, ORDERS, Orders())
    assert order(tmp_path, "delay")[0] == USAGE
    assert order(tmp_path, "pause", "5")[0] == USAGE
    for seconds in ("fast", "-1", "inf"):
        code, told = order(tmp_path, "delay", "--", seconds)
        assert (code, told) == (
            USAGE,
            f"sharc: error: delay={seconds!r} is no duration; write seconds, or 30s, 5m, 2h, 1d, none below 0\n",
        )


def test_of_a_crawl_that_is_over_no_answer_is_waited_for(tmp_path, monkeypatch):
    control = Control(tmp_path, Sites(Politeness()))
    control.begin(0.0)
    control.end(1.0, "finished")
    monkeypatch.setattr("sharc_crawler.cli.control.ANSWER_WITHIN", PATIENCE)
    asked: list[float] = []

    def waited(seconds: float) -> None:
        asked.append(seconds)
        control.obey(2.0)

    monkeypatch.setattr("sharc_crawler.cli.control.time.sleep", waited)
    assert order(tmp_path, "status") == (USAGE, nobody(tmp_path) + "\n")
    assert not asked
    begun = hold(tmp_path)  # again: it will answer
    assert order(tmp_path, "status")[0] == 0
    assert asked
    begun.close()


def test_a_crawl_that_a_full_disk_leaves_no_file_of_orders_begins(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    control = Control(tmp_path, Sites(Politeness()))
    with monkeypatch.context() as disk:
        disk.setattr("sharc_crawler.live.monitoring.control.write", full)
        control.begin(0.0)
    assert not control.obey(10.0)
    assert "no crawl began there, or with control=0" in order(tmp_path, "pause")[1]


def test_a_delay_longer_than_the_crawl_waits_is_refused(tmp_path):
    Control(tmp_path, Sites(Politeness(delay=2.0, max_delay=30.0))).begin(0.0)
    code, told = order(tmp_path, "delay", "31")
    assert (code, read_orders(tmp_path).delay) == (USAGE, None)
    assert told == (
        "sharc: error: delay 31 is more than the longest that the crawl waits, 30 s;"
        f" `sharc control {tmp_path} pause` asks for nothing until it is told to resume\n"
    )
    Control(tmp_path, Sites(Politeness(delay=60.0, max_delay=30.0))).begin(0.0)
    give(tmp_path, "delay", "1m")
    assert read_orders(tmp_path).delay == 60.0, "as long as it was started with"


def test_an_order_to_a_collection_is_for_the_capture_that_is_under_way(tmp_path, monkeypatch):
    monkeypatch.setattr("sharc_crawler.cli.control.ANSWER_WITHIN", 0.0)
    (tmp_path / COLLECTION).write_text("sites: [http://a.example/, http://b.example/]\n")
    assert "no capture of the collection" in order(tmp_path, "pause")[1]
    folders = [tmp_path / "captures" / name / "20260101T000000Z" for name in ("a.example", "b.example")]
    for folder in folders:
        folder.mkdir(parents=True)
        begin_state(folder, USUAL).close()
        write(folder, ORDERS, Orders())
        (folder / RUNNING).touch()
    assert f"are under way; name one of them: {folders[0]}, {folders[1]}" in order(tmp_path, "pause")[1]
    runs = hold(folders[1])  # the other was killed
    assert order(tmp_path, "pause")[1].startswith(f"{folders[1]}\n{nobody(folders[1])}")
    runs.close()
    assert [read_orders(folder).paused for folder in folders] == [False, True]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"paused": 1}', '{"delay": -1}', '{"delay": NaN}', '{"x": 1}'])
def test_what_is_no_order_is_not_obeyed(tmp_path, text):
    (tmp_path / ORDERS).write_text(text)
    (tmp_path / ORDERS).chmod(0o600)
    with pytest.raises(DataError, match=ORDERS):
        read_orders(tmp_path)


def test_a_file_that_others_may_write_is_not_obeyed(tmp_path):
    write(tmp_path, ORDERS, Orders(paused=True))
    assert (tmp_path / ORDERS).stat().st_mode & 0o133 == 0, "whoever may read a capture may verify it"
    assert read_orders(tmp_path) == Orders(paused=True)
    for mode in (0o602, 0o620, 0o666):
        (tmp_path / ORDERS).chmod(mode)
        with pytest.raises(DataError, match="nobody else"):
            read_orders(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_obeyed(tmp_path):
    write(tmp_path, ORDERS, Orders(paused=True))
    os.chown(tmp_path / ORDERS, 65_534, 65_534)
    with pytest.raises(DataError, match="nobody else"):
        read_orders(tmp_path)


@pytest.mark.parametrize(("again", "holds"), [(1.0, 7.0), (2.0, 2.0)])
def test_the_later_of_an_ordered_and_a_given_delay_counts_and_is_said(tmp_path, caplog, again, holds):
    Control(tmp_path, Sites(Politeness(delay=1.0))).begin(0.0)
    write(tmp_path, ORDERS, changed(read_orders(tmp_path), delay=7.0))
    frontier = Sites(Politeness(delay=again))
    Control(tmp_path, frontier).begin(1.0)
    assert frontier.politeness.delay == holds
    assert ("started again with delay=2" in caplog.text) == (holds == 2.0)
    assert ("7 s between two requests to a host, not the 1 s" in caplog.text) == (holds == 7.0)
    Control(tmp_path, frontier := Sites(Politeness(delay=again))).begin(2.0)
    assert frontier.politeness.delay == holds, "what was decided stays so"
