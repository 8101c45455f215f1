"""Exchanges are written by a process of their own; what becomes of a visit whose exchange could not be."""

from __future__ import annotations

import asyncio
import errno
import gzip
import logging
import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from sharc_crawler.bodies.spooling import Spooling
from sharc_crawler.certificate.verify import verify
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.live.requests import Lease
from sharc_crawler.live.writing.archivist import Archivist, conclude
from sharc_crawler.live.writing.errors_as_json import describe, error_of
from sharc_crawler.live.writing.messages import NotArchivedError
from sharc_crawler.live.writing.writer_process import Server, Writers, _Told
from sharc_crawler.model import NO_VALIDATORS, CaptureRef, Exchange, Fetch, Kind, Outcome, Plan, Result, Sighting, Slot
from sharc_crawler.plugin_faults import fault
from tests.archive.readback import INFO, read_all
from tests.live.warm import PROFILE
from tests.live.wire_servers import in_loop

URL = "http://example.org/"
FETCH = Fetch(1, 0, "example.org", URL, Kind.PAGE, Slot.ONLY, Plan.HOPEFUL, "example.org", 1, NO_VALIDATORS, 0.0)
ANSWERED = Outcome(Result.OK, 1.0, 2.0, status=200, digest="sha1:A", sent=1.5)


def lease(outcome, result):
    written = Future()
    if isinstance(result, BaseException):
        written.set_exception(result)
    else:
        written.set_result(result)
    return Lease(FETCH, outcome=outcome, links=[Sighting(URL + "a")], written=written)


def exchange(number, body=b"hello"):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    return Exchange(f"{URL}{number}", number, number + 0.5, b"GET / HTTP/1.1\r\n\r\n", head + body)


@pytest.fixture
def archivist(tmp_path):
    terms = {"folder": str(tmp_path), "run": "run1", "info": asdict(INFO), "options": {}, "history": None}
    archivist = Archivist(lambda: terms)
    yield archivist
    pytest_twisted.blockon(deferred_from_coro(archivist.close()))


def writer_processes():
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if b"writer_process" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def writer_process():
    """The only one that this process has."""
    (child,) = writer_processes()
    return child


def responses(folder):
    return [record["WARC-Target-URI"] for record in read_all(folder) if record.kind == "response"]


@pytest.mark.slow
@in_loop
async def test_small_exchanges_do_not_wait_for_large_ones(archivist, tmp_path):
    """Those that were handed over later are on the disk first; a large payload that is stored already is not again."""
    (tmp_path / "bodies").mkdir()
    body = random.Random(1).randbytes(30_000_000)
    spooled = [Spooling(tmp_path / "bodies", [exchange(0, body).response]).done() for _ in range(2)]
    done = []
    large = archivist.keep("example.org", replace(exchange(0), response=spooled[0]))
    small = [archivist.keep("example.org", exchange(number)) for number in range(1, 4)]
    for name, one in zip("lsss", [large, *small], strict=True):
        one.add_done_callback(lambda _, name=name: done.append(name))
    assert archivist.held < 1000, "large ones take no memory"
    await asyncio.gather(*map(asyncio.wrap_future, [large, *small]))
    assert done == list("sssl")
    await asyncio.wrap_future(archivist.keep("example.org", replace(exchange(9), response=spooled[1])))
    await archivist.close()
    kinds = Counter(record.kind for record in read_all(tmp_path))
    assert (kinds["response"], kinds["revisit"]) == (2, 3), "the same body is stored once"


@in_loop
async def test_what_is_handed_over_counts_once_it_is_synced(archivist, tmp_path):
    kept = [archivist.keep("example.org", exchange(number, b"%d" % number)) for number in range(3)]
    assert archivist.pending == 3
    refs = [await asyncio.wrap_future(one) for one in kept]
    assert not archivist.pending
    (open_file,) = tmp_path.glob("*.open")
    for number, ref in enumerate(refs):
        assert f"{open_file}" == str(tmp_path / f"{ref.file}.open")
        record = gzip.decompress(open_file.read_bytes()[ref.offset : ref.offset + ref.length])
        assert f"WARC-Target-URI: {URL}{number}\r\n".encode() in record
    await archivist.close()
    assert responses(tmp_path) == [f"{URL}{number}" for number in range(3)]


@in_loop
async def test_who_waits_is_woken_and_nobody_else(archivist):
    woken = Counter()
    archivist.written = lambda: woken.update(["once"])
    await asyncio.wrap_future(archivist.keep("example.org", exchange(1)))
    assert not woken
    archivist.awaited = True
    await asyncio.wrap_future(archivist.keep("example.org", exchange(2)))
    assert woken["once"] == 1
    assert not archivist.awaited


@in_loop
async def test_what_was_just_handed_over_is_kept_when_all_ends(archivist, tmp_path):
    kept = archivist.keep("example.org", exchange(1))
    await archivist.close()
    assert kept.done()
    assert responses(tmp_path) == [f"{URL}1"]


@pytest.mark.long
@in_loop
async def test_what_is_large_blocks_nobody(archivist):
    """More than a socket holds, and it takes its time to be compressed."""
    large = archivist.keep("example.org", exchange(1, random.Random(1).randbytes(20_000_000)))
    small = archivist.keep("example.org", exchange(2))
    turns = 0
    while not small.done():
        await asyncio.sleep(0)
        turns += 1
    assert large.done()
    assert turns > 0, "the reactor goes round meanwhile"


@in_loop
async def test_all_that_is_to_be_kept_can_be_waited_for(archivist, tmp_path):
    kept = [archivist.keep("example.org", exchange(number)) for number in range(40)]
    await archivist.finish()
    assert all(one.done() for one in kept)
    await archivist.close()
    urls = [record["WARC-Target-URI"] for record in read_all(tmp_path) if record.kind in {"response", "revisit"}]
    assert urls == [f"{URL}{number}" for number in range(40)]


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@in_loop
async def test_a_process_that_is_killed_loses_only_what_it_had_not_answered(archivist, tmp_path):
    first = archivist.keep("example.org", exchange(1, b"first"))
    await archivist.finish()
    os.kill(writer_process(), signal.SIGKILL)
    second = archivist.keep("example.org", exchange(2, b"second"))
    with pytest.raises(NotArchivedError, match=r"ended \(signal 9\)"):
        await asyncio.wrap_future(second)
    (note,) = archivist.notes
    assert "ended (signal 9); restarted. 1 unsaved visit will be retried" in note
    again = archivist.keep("example.org", exchange(2, b"second"))
    await archivist.finish()
    assert first.result().file != again.result().file, "as after a crash"
    await archivist.close()
    assert responses(tmp_path) == [f"{URL}1", f"{URL}2"]


@in_loop
async def test_a_plug_in_that_ends_the_process_is_named(tmp_path, monkeypatch):
    (tmp_path / "ending.py").write_text("import os\ndef Writer(*_):\n    os._exit(7)\n")
    monkeypatch.syspath_prepend(tmp_path)
    terms = {"folder": str(tmp_path), "run": "run1", "info": asdict(INFO), "options": {}, "history": None}
    archivist = Archivist(lambda: terms | {"writer": "ending.Writer"})
    with pytest.raises(NotArchivedError, match=r"ended \(exit code 7 with SHARC_WRITER='ending\.Writer'\)"):
        await archivist.open("example.org")


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@in_loop
async def test_a_disk_that_hangs_at_the_end_stops_nobody_from_ending_the_crawl(archivist):
    await archivist.open("example.org")
    os.kill(writer := writer_process(), signal.SIGSTOP)
    kept = archivist.keep("example.org", exchange(1))
    asyncio.get_running_loop().call_later(0.01, os.kill, writer, signal.SIGCONT)
    await archivist.finish()
    assert kept.result().file


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@in_loop
async def test_files_of_a_process_that_died_are_finished_at_the_end(archivist, tmp_path):
    await asyncio.wrap_future(archivist.keep("example.org", exchange(1)))
    died = asyncio.get_running_loop().create_future()
    archivist.awaited, archivist.written = True, lambda: died.set_result(None)
    os.kill(writer_process(), signal.SIGKILL)
    await died
    await archivist.close()
    assert responses(tmp_path) == [f"{URL}1"]
    assert not list(tmp_path.glob("*.open"))


@in_loop
async def test_without_a_process_nothing_is_archived_until_there_is_one(archivist, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(tmp_path / "nowhere"))
        with pytest.raises(NotArchivedError, match=r"cannot be started: .*No such file"):
            await archivist.open("example.org")
        lost = archivist.keep("example.org", exchange(1))
        assert isinstance(lost.exception(), NotArchivedError)
    kept = archivist.keep("example.org", exchange(2))
    await archivist.finish()
    await archivist.close()
    assert kept.result().file
    assert responses(tmp_path) == [f"{URL}2"]


@in_loop
async def test_it_is_written_though_nobody_waits_for_it_any_more(archivist, tmp_path):
    asyncio.wrap_future(archivist.keep("example.org", exchange(1))).cancel()
    await asyncio.sleep(0)
    other = archivist.keep("example.org", exchange(2))
    await archivist.finish()
    await archivist.close()
    assert other.done()
    assert len(read_all(tmp_path)) > 4


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@in_loop
async def test_what_is_in_the_way_of_a_writer_is_said_before_anything_is_fetched(tmp_path):
    (tmp_path / "file").write_text("")
    terms = {"folder": str(tmp_path / "file"), "run": "run1", "info": asdict(INFO), "options": {}, "history": None}
    archivist = Archivist(lambda: terms)
    with pytest.raises(UsageError, match="cannot be used for WARC files"):
        await archivist.open("example.org")
    await archivist.close()
    assert not writer_processes()


@in_loop
async def test_a_file_of_the_current_folder_is_no_module_of_ours(archivist, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit('not the one')")
    monkeypatch.chdir(tmp_path)
    await archivist.open("example.org")


_DISK_THAT_FAILS = """
import errno, os

sync, calls = os.fsync, []

def fsync(descriptor):
    if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".warc.gz.open"):
        calls.append(descriptor)
        if len(calls) == 4:
            raise OSError(errno.EIO, "Input/output error")
    sync(descriptor)

os.fsync = fsync
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names open files by /proc")
@in_loop
async def test_what_a_disk_fails_to_sync_has_failed_and_what_is_kept_after_it_lies_in_another_file(
    archivist, tmp_path, monkeypatch
):
    """The fourth call fails; a second one would say that all is well."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sitecustomize.py").write_text(_DISK_THAT_FAILS)
    monkeypatch.syspath_prepend(tmp_path / "code")
    results = []
    for number in range(6):
        kept = asyncio.wrap_future(archivist.keep("example.org", exchange(number, b"%d" % number)))
        results += await asyncio.gather(kept, return_exceptions=True)
    failed = results.pop(3)
    assert isinstance(failed, NotArchivedError)
    assert "Input/output error" in str(failed)
    assert len({one.file for one in results[:3]}) == len({one.file for one in results[3:]}) == 1
    assert results[2].file != results[3].file
    await archivist.close()
    assert responses(tmp_path) == [f"{URL}{number}" for number in (0, 1, 2, 4, 5)]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="names open files by /proc")
def test_what_cannot_be_synced_does_not_count_and_is_made_again(static, tmp_path):
    """A disk fails once, as Linux says it: a second call would say that all is well."""
    site, folder = tmp_path / "site", tmp_path / "capture"
    site.mkdir()
    (tmp_path / "sitecustomize.py").write_text(_DISK_THAT_FAILS)
    (site / "index.html").write_text("".join(f"<a href=page-{n}.html>{n}</a>" for n in range(20)))
    for number in range(20):
        (site / f"page-{number}.html").write_text(f"page {number}")
    with static(site) as url:
        arguments = {"url": url, "output": folder, "delay": 0, "sitemap": "off", "strategy": "bfs:revisits=none"}
        settings = ("SHARC_BACK_OFF=0.1", "CONCURRENT_REQUESTS=8", "CONCURRENT_REQUESTS_PER_DOMAIN=8")
        given = [text for name, value in arguments.items() for text in ("-a", f"{name}={value}")]
        given += [text for one in settings for text in ("-s", one)]
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "site", *given],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The crawl pauses: [Errno 5] Input/output error" in done.stderr
    assert "was left open" in done.stderr, "another file was begun"
    answers = Counter(record["WARC-Target-URI"] for record in read_all(folder) if record.kind == "response")
    assert {f"{url}page-{number}.html": 1 for number in range(20)}.items() <= answers.items()
    assert not list(folder.glob("*.open"))
    assert verify(folder).findings == []


def test_what_is_on_disk_counts_and_says_where():
    one = lease(ANSWERED, CaptureRef("a.warc.gz", 7, 9))
    conclude(one)
    assert one.outcome == ANSWERED._replace(capture=CaptureRef("a.warc.gz", 7, 9))
    assert one.links


@pytest.mark.parametrize("error", [OSError(errno.ENAMETOOLONG, "File name too long"), RuntimeError("a fault of ours")])
def test_a_visit_that_cannot_be_archived_has_failed_and_names_nothing(error, caplog):
    """All others would wait for it for ever."""
    one = lease(ANSWERED, error)
    conclude(one)
    assert one.outcome == Outcome(Result.FAILED, 1.0, 2.0, error=f"not archived: {error}", sent=1.5)
    assert not one.links
    assert f"{URL} was fetched and cannot be archived" in caplog.text


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EROFS])
def test_what_a_disk_does_not_take_is_made_again(number):
    """No room, a share that went away: all others would be lost, one by one."""
    for error in (OSError(number, "the reason"), error_of(describe(OSError(number, "the reason")))):
        one = lease(ANSWERED, error)
        conclude(one)
        assert "the reason" in one.unwritten
        failed = number not in (errno.ENOSPC, errno.EDQUOT)
        assert one.fault == (f"its disk or share could not be written to ({os.strerror(number)})" if failed else "")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EFBIG, "File too large", "a.warc.gz.open"), "a.warc.gz.open'.*limit.*; raise that, and"),
        (
            fault("SHARC_WRITER='mine.W'", "raised RuntimeError: w"),
            "^SHARC_WRITER='mine.W' raised RuntimeError: w. That",
        ),
    ],
)
def test_where_no_site_can_be_archived_the_crawl_stops_and_blames_none(error, said):
    one = lease(ANSWERED, error_of(describe(error)))
    with pytest.raises(DataError, match=said):
        conclude(one)
    assert one.outcome == ANSWERED


@pytest.mark.parametrize("error", [OSError("of its own"), RuntimeError("of its own")])
def test_what_another_writer_raises_names_it_unless_it_is_the_disks(tmp_path, error):
    terms = (str(tmp_path), "run", dict.fromkeys(("software", "operator", "robots", "strategy"), ""), {}, None)
    others = Writers(*terms, "sharc_crawler.archive.warc.WarcWriter")
    assert str(others.with_culprit(error)).startswith("SHARC_WRITER='sharc_crawler.archive.warc.WarcWriter' raised ")
    assert others.with_culprit(full := OSError(errno.ENOSPC, "No space left on device")) is full
    assert Writers(*terms).with_culprit(error) is error


def test_neither_is_there_room_for_what_a_failed_file_left():
    error = UsageError("folder='x' cannot be used for WARC files: No space left on device")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    one = lease(ANSWERED, error)
    conclude(one)
    assert "No space left" in one.unwritten


def test_what_failed_anyway_keeps_its_reason():
    one = lease(Outcome(Result.REFUSED, 1.0, 2.0, error="a private address"), RuntimeError("a fault of ours"))
    conclude(one)
    assert one.outcome.result is Result.REFUSED
    assert one.outcome.error.startswith("a private address; and not archived: ")


def test_what_is_logged_while_writers_are_held_is_told():
    """As where an object store fails while a site's last file is put: whoever puts it waited for ever."""
    here, there = socket.socketpair()
    server = Server(there)
    record = logging.makeLogRecord({"msg": "The object store is tried again"})
    with here, there, ThreadPoolExecutor(1) as pool, server.lock:
        pool.submit(_Told(server).emit, record).result(60)
        assert b"tried again" in here.recv(1_000)
