"""``sharc watch`` as it is typed: what it watches, its page, and orders from there."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from functools import partial
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.cli._fleet_table import follow
from sharc_crawler.cli.control import give
from sharc_crawler.control import ORDERS, STATUS, Orders, read_orders, write
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tail import LOG
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.web import WatchServer
from tests.fleet.ledger_means import site_order
from tests.watch.test_tally import status


def test_the_page_is_for_who_has_its_address(tmp_path):
    status(tmp_path)
    watched = Watched(tmp_path)
    server = WatchServer(lambda: facts(watched, time.time()))
    try:
        path, host = f"/{server.url.split('/')[3]}/", server.url.split("/")[2]
        assert server.answer("GET", path, host)[0] == 200
        watched.look()
        assert json.loads(server.answer("GET", f"{path}facts.json", host)[2])["headline"].startswith("No sign of life")
        assert server.answer("GET", "/facts.json", host)[0] == 404
        assert server.answer("GET", path, "evil.example:80")[0] == 403
        assert server.answer("POST", f"{path}stop", host)[0] == 403, "read only"
        assert not (tmp_path / "control.json").exists()
    finally:
        server._server.server_close()


@pytest.fixture
def served(tmp_path):
    """A page that takes orders, and its address."""
    server = WatchServer(dict, order=partial(give, tmp_path))
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield server.url
    server.close()
    thread.join()


def post(url: str, body: bytes = b"") -> tuple[int, str]:
    try:
        with urlopen(Request(url, data=body, method="POST"), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_the_page_gives_orders(tmp_path, served):
    write(tmp_path, ORDERS, Orders())
    assert post(f"{served}pause")[0] == 200
    assert post(f"{served}delay", b"2.5")[0] == 200
    orders = read_orders(tmp_path)
    assert (orders.paused, orders.delay) == (True, 2.5)
    code, told = post(f"{served}delay", b"soon")
    assert (code, told) == (409, "delay='soon' is no duration; write seconds, or 30s, 5m, 2h, 1d, none below 0")
    assert post(f"{served}delay")[0] == 409, "no seconds were given"
    assert post(f"{served}delay", b"5" * 1000)[0] == 413
    assert post(f"{served}status")[0] == 404
    assert read_orders(tmp_path) == orders, "what was refused changed nothing"


def test_who_connects_oddly_writes_nothing_to_the_terminal(served, capsys):
    at = urlsplit(served)
    head = f"POST {at.path}pause HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Length: "
    with socket.create_connection((at.hostname, at.port)) as odd:
        odd.sendall(f"{head}{'9' * 5000}\r\n\r\n".encode())
        assert odd.recv(100).startswith(b"HTTP/1.1 413 ")
    with socket.create_connection((at.hostname, at.port)) as reset:
        reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reset.sendall(f"{head}100\r\n\r\n".encode())
    assert post(f"{served}nothing")[0] != 200  # by then the others were seen
    assert capsys.readouterr().err == ""


def test_what_cannot_be_read_now_is_told_to_the_page(tmp_path):
    (tmp_path / LOG).mkdir()
    watched = Watched(tmp_path)
    server = WatchServer(watched.look)
    try:
        told = server.answer("GET", f"/{server.url.split('/')[3]}/facts.json", server.url.split("/")[2])
        assert (told[0], b"Is a directory" in told[2]) == (409, True)
    finally:
        server._server.server_close()


def test_orders_that_are_not_ours_are_told_to_the_page(tmp_path, served):
    assert "takes no orders" in post(f"{served}pause")[1]
    (tmp_path / ORDERS).write_text("{}")
    (tmp_path / ORDERS).chmod(0o666)
    code, told = post(f"{served}pause")
    assert code == 409
    assert "not obeyed" in told


def test_without_a_folder_it_is_the_crawl_that_was_heard_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = CliRunner().invoke(main, ["watch", "--json"])
    assert (asked.exit_code, "name the folder" in asked.output) == (2, True)
    for age, name in enumerate(("former", "spider/last", "older")):
        folder = tmp_path / "captures" / name
        folder.mkdir(parents=True)
        status(folder, progress=name)
        os.utime(folder / STATUS, (2e9, 2e9) if name == "spider/last" else (1e9 + age, 1e9 + age))
    asked = CliRunner().invoke(main, ["watch", "--json"])
    assert asked.stderr == "captures/spider/last\n"


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path, monkeypatch):
    folder = tmp_path / "capture"

    def begin(_seconds: float) -> None:
        folder.mkdir()
        status(folder, ended="finished")

    monkeypatch.setattr("sharc_crawler.cli.watch.time.sleep", begin)
    asked = CliRunner().invoke(main, ["watch", str(folder)])
    assert asked.exit_code == 0
    assert asked.stderr.startswith(f"{folder} is not there yet; waiting")
    assert asked.stdout.startswith("The crawl is over")


def test_a_misspelt_folder_is_not_waited_for_and_the_next_capture_of_a_row_is(tmp_path, monkeypatch):
    (tmp_path / "www.example.org-1").mkdir()
    asked = CliRunner().invoke(main, ["watch", str(tmp_path / "www.exmaple.org-1")])
    assert asked.exit_code == 2
    assert f"is not there; did you mean {tmp_path / 'www.example.org-1'}? A crawl that is to begin" in asked.stderr
    wanted = tmp_path / "www.example.org-2"
    monkeypatch.setattr("sharc_crawler.cli.watch.time.sleep", lambda _: (wanted.mkdir(), status(wanted, ended="it")))
    asked = CliRunner().invoke(main, ["watch", str(wanted)])
    assert (asked.exit_code, f"{wanted} is not there yet; waiting" in asked.stderr) == (0, True)


def test_a_folder_that_never_is_there_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("sharc_crawler.cli.watch.PATIENCE", 0.0)
    asked = CliRunner().invoke(main, ["watch", str(tmp_path / "nowhere")])
    assert (asked.exit_code, f"no crawl has begun in '{tmp_path / 'nowhere'}'; name" in asked.stderr) == (2, True)


def test_a_fleet_is_watched_by_its_dsn(tmp_path):
    dsn = f"sqlite:{tmp_path / 'fleet.db'}"
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1:1/\n")
    for words in (["init", dsn], ["add", dsn, str(tmp_path / "seeds.txt")]):
        assert CliRunner().invoke(main, ["fleet", *words]).exit_code == 0
    told = json.loads(CliRunner().invoke(main, ["watch", dsn, "--json"]).stdout)
    assert told["headline"] == "1 waiting"
    assert told["captures"][0]["phase"] == "waiting"
    assert CliRunner().invoke(main, ["watch", dsn]).stdout.startswith("1 waiting\n")
    refused = CliRunner().invoke(main, ["watch", dsn, "--web", "--control"])
    assert (refused.exit_code, "sharc fleet pause" in refused.output) == (2, True)


def test_a_fleet_on_a_terminal_is_watched_through_an_outage_of_its_ledger(tmp_path, monkeypatch, capsys):
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    looks, status = [], ledger.status

    def now_and_then():
        if len(looks) == 2:
            raise StoreUnavailable("the fleet's database: \x1b[2Jit starts up")
        return status()

    def look_again(_):
        looks.append(capsys.readouterr().out)
        if len(looks) == 2:
            ledger.add([site_order("a.example")])
        elif len(looks) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(ledger, "status", now_and_then)
    monkeypatch.setattr("sharc_crawler.cli._fleet_table.time.sleep", look_again)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(KeyboardInterrupt):
        follow(ledger, None)
    shown = "".join((*looks, capsys.readouterr().out))
    assert shown.index("no sites") < shown.index("it starts up; this is how it stood before") < shown.index("1 waiting")
    assert "\x1b[2J" not in shown
    ledger.close()
