"""What becomes of a visit whose exchange was written by another thread, or could not be."""

from __future__ import annotations

import errno
import os
from concurrent.futures import Future
from dataclasses import replace
from threading import Event

import pytest

from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.live.archivist import LARGE, Archivist, conclude
from sharc_crawler.live.session import Lease
from sharc_crawler.model import NO_VALIDATORS, CaptureRef, Fetch, Kind, Outcome, Plan, Result, Sighting, Slot
from tests.archive.readback import INFO, page, read_all

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


def failing(_):
    raise OSError(errno.EIO, "Input/output error")


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


def test_what_cannot_be_synced_does_not_count_and_another_file_is_begun(tmp_path, monkeypatch):
    """The disk fails once, as Linux says it: a second call would say that all is well."""
    writers = {}

    def write(body):
        if "it" not in writers:
            writers["it"] = WarcWriter(tmp_path, "example.org", "run1", INFO)
        return writers["it"].write(page(body))

    def sync():
        try:
            writers["it"].sync()
        except OSError:
            del writers["it"]
            raise

    archivist = Archivist(sync)
    kept = archivist.keep(lambda: write(b"kept"), size=100)
    archivist.sync()
    lost = [archivist.keep(lambda body=body: write(body), size=100) for body in (b"lost", b"lost", b"too")]
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing)
        archivist.sync()
    again = archivist.keep(lambda: write(b"lost"), size=100)
    archivist.finish()
    archivist.close()
    writers["it"].close()
    assert [one.exception(0).errno for one in lost] == [errno.EIO] * 3
    assert kept.result(0).file != again.result(0).file
    answers = [record for record in read_all(tmp_path) if record.kind in {"response", "revisit"}]
    assert [(record.kind, record.block[-4:]) for record in answers] == [("response", b"kept"), ("response", b"lost")]


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


def test_what_failed_anyway_keeps_its_reason():
    one = lease(Outcome(Result.REFUSED, 1.0, 2.0, error="a private address"), OSError(errno.EIO, "Input/output error"))
    conclude(one)
    assert one.outcome.result is Result.REFUSED
    assert one.outcome.error.startswith("a private address; and not archived: ")
