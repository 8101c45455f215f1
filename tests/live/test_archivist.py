"""What becomes of a visit whose exchange was written by another thread, or could not be."""

from __future__ import annotations

import errno
from concurrent.futures import Future
from dataclasses import replace

import pytest

from sharc_crawler.live.archivist import Archivist, conclude
from sharc_crawler.live.session import Lease
from sharc_crawler.model import NO_VALIDATORS, CaptureRef, Fetch, Kind, Outcome, Plan, Result, Sighting, Slot

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


def test_what_is_small_is_written_at_once():
    archivist = Archivist()
    assert archivist.keep(lambda: CaptureRef("a.warc.gz", 7, 9), size=100).result(0) == CaptureRef("a.warc.gz", 7, 9)
    assert archivist.keep(full, size=100).exception(0).errno == errno.ENOSPC
    assert not archivist.pending
    archivist.close()


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
