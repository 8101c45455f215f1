"""What becomes of a visit whose exchange was written by another thread, or could not be."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from threading import Event

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.errors import UsageError
from sharc_crawler.live.archivist import LARGE, Archivist, conclude
from sharc_crawler.live.lease import Lease
from sharc_crawler.model import NO_VALIDATORS, CaptureRef, Fetch, Kind, Outcome, Plan, Result, Sighting, Slot
from tests.archive.readback import read_all
from tests.live.conftest import PROFILE

URL = "http://example.org/"
FETCH = Fetch(1, 0, "example.org", URL, Kind.PAGE, Slot.ONLY, Plan.HOPEFUL, "example.org", 1, NO_VALIDATORS, 0.0)
ANSWERED = Outcome(Result.OK, 1.0, 2.0, status=200, digest="sha1:A")


def lease(outcome, result):
    written = Future()
    if isinstance(result, BaseException):
        written.set_exception(result)
    else:
        written.set_result(result)
    return Lease(FETCH, outcome=outcome, links=[Sighting(URL + "a")], written=written)


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def test_what_is_small_is_written_at_once_and_counts_when_it_is_synced():
    synced = []
    archivist = Archivist(lambda: synced.append("once"))
    first = archivist.keep(lambda: CaptureRef("a.warc.gz", 7, 9), size=100)
    second = archivist.keep(lambda: CaptureRef("a.warc.gz", 16, 9), size=100)
    assert archivist.keep(full, size=100).exception(0).errno == errno.ENOSPC
    assert not first.done()
    archivist.sync()
    assert (first.result(0), second.result(0)) == (CaptureRef("a.warc.gz", 7, 9), CaptureRef("a.warc.gz", 16, 9))
    assert synced == ["once"]
    assert not archivist.pending
    archivist.close()


def test_the_thread_syncs_when_it_has_no_more_to_write():
    synced, go_on = [], Event()
    archivist = Archivist(lambda: synced.append("once"))
    large = [archivist.keep(lambda: go_on.wait(60) and CaptureRef("a.warc.gz", 7, 9), size=LARGE) for _ in range(3)]
    small = archivist.keep(lambda: CaptureRef("a.warc.gz", 34, 9), size=100)
    archivist.sync()
    assert not small.done(), "its turn comes after the large ones"
    go_on.set()
    assert small.result(60) == CaptureRef("a.warc.gz", 34, 9)
    assert all(one.done() for one in large)
    assert synced == ["once"]
    archivist.close()


_DISK_THAT_FAILS = """
import errno, os, sys
from scrapy.cmdline import execute

sync, calls = os.fsync, []

def fsync(descriptor):
    if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".warc.gz.open"):
        calls.append(descriptor)
        if len(calls) == 4:
            raise OSError(errno.EIO, "Input/output error")
    sync(descriptor)

os.fsync = fsync
execute(["scrapy", "crawl", "site", *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names open files by /proc")
def test_what_cannot_be_synced_does_not_count_and_is_made_again(static, tmp_path):
    """A disk fails once, as Linux says it: a second call would say that all is well."""
    site, folder = tmp_path / "site", tmp_path / "capture"
    site.mkdir()
    (site / "index.html").write_text("".join(f"<a href=page-{n}.html>{n}</a>" for n in range(40)))
    for number in range(40):
        (site / f"page-{number}.html").write_text(f"page {number}")
    with static(site) as url:
        arguments = {"url": url, "output": folder, "delay": 0, "sitemap": "off", "strategy": "bfs:revisits=none"}
        settings = ("SHARC_BACK_OFF=0.1", "CONCURRENT_REQUESTS=8", "CONCURRENT_REQUESTS_PER_DOMAIN=8")
        given = [text for name, value in arguments.items() for text in ("-a", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-c", _DISK_THAT_FAILS, *given, *(text for one in settings for text in ("-s", one))],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
            cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "cannot be archived: [Errno 5] Input/output error" in done.stderr
    assert "was left open" in done.stderr, "another file was begun"
    answers = Counter(record["WARC-Target-URI"] for record in read_all(folder) if record.kind == "response")
    assert {f"{url}page-{number}.html": 1 for number in range(40)}.items() <= answers.items()
    assert not list(folder.glob("*.open"))
    assert verify(folder).findings == []


def test_what_is_on_disk_counts_and_says_where():
    one = lease(ANSWERED, CaptureRef("a.warc.gz", 7, 9))
    conclude(one)
    assert one.outcome == replace(ANSWERED, capture=CaptureRef("a.warc.gz", 7, 9))
    assert one.links


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), RuntimeError("a fault of ours")])
def test_a_visit_that_cannot_be_archived_has_failed_and_names_nothing(error, caplog):
    one = lease(ANSWERED, error)
    conclude(one)
    assert one.outcome == Outcome(Result.FAILED, 1.0, 2.0, error=f"not archived: {error}")
    assert not one.links
    assert f"{URL} was fetched and cannot be archived" in caplog.text


def test_without_room_it_is_made_again():
    one = lease(ANSWERED, OSError(errno.ENOSPC, "No space left on device"))
    conclude(one)
    assert "No space left" in one.unwritten


def test_neither_is_there_room_for_what_a_failed_file_left():
    error = UsageError("folder='x' cannot be used for WARC files: No space left on device")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    one = lease(ANSWERED, error)
    conclude(one)
    assert "No space left" in one.unwritten


def test_what_failed_anyway_keeps_its_reason():
    one = lease(Outcome(Result.REFUSED, 1.0, 2.0, error="a private address"), OSError(errno.EIO, "Input/output error"))
    conclude(one)
    assert one.outcome.result is Result.REFUSED
    assert one.outcome.error.startswith("a private address; and not archived: ")
