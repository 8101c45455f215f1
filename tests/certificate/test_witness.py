"""What WARC files say themselves, the records of failed exchanges among it."""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.members import records
from sharc_crawler.certificate import verify
from sharc_crawler.certificate import witness as witness_module
from sharc_crawler.certificate.witness import RecordedExchange, Witness, ingest
from sharc_crawler.model import Result, Slot
from tests.certificate.forging import rewrite
from tests.certificate.made import SITE, Maker, certified, said

if TYPE_CHECKING:
    from pathlib import Path


def ingested(folder: Path) -> Witness:
    return ingest({path.name: lambda path=path: path.open("rb") for path in sorted(folder.glob("*.warc.gz"))})


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    return Maker(tmp_path)


def only(witness: Witness) -> RecordedExchange:
    (exchange,) = witness
    return exchange


def test_a_failed_exchange_is_one_too_and_says_why_it_failed(maker: Maker, tmp_path: Path) -> None:
    visit = maker.visit("dead", b"", Slot.FIRST, Result.FAILED, error="ResponseNeverReceived: reset")
    maker.out.close()
    witness = ingested(tmp_path)
    exchange = only(witness)
    assert (exchange.kind, exchange.uri, exchange.message, exchange.digest) == ("metadata", f"{SITE}dead", None, None)
    assert exchange.notes["error"] == b"ResponseNeverReceived: reset"
    assert exchange.request.startswith(b"GET / HTTP/1.1\r\nHost: example.org"), "its request belongs to it"
    assert witness.find(exchange.file, int(visit.warc.rpartition(":")[2]), (exchange.uri, exchange.date)) == exchange
    assert (witness.documents, witness.findings) == ({}, [])


def test_a_document_is_no_exchange(tmp_path: Path) -> None:
    certified(tmp_path)
    witness = ingested(tmp_path)
    assert [document.uri.rpartition(":")[2] for document in witness.documents.values()] == ["pages", "example.org"]
    kinds = [exchange.kind for exchange in witness]
    assert kinds.count("metadata") == 2, "the failed ones"


def test_notes_belong_to_the_exchange_that_they_were_written_with(maker: Maker, tmp_path: Path) -> None:
    maker.visit("cut", said("the pa"), Slot.FIRST, Result.FAILED, truncated="disconnect", error="DataLoss")
    maker.visit("whole", said("whole"), Slot.FIRST)
    maker.out.close()
    cut, whole = ingested(tmp_path)
    assert (cut.kind, cut.whole, cut.notes["error"]) == ("response", False, b"DataLoss")
    assert (whole.kind, whole.whole, whole.notes) == ("response", True, {})
    assert whole.message is not None
    assert whole.message.payload == b"", "bodies are not kept"


def test_what_was_read_is_told_record_by_record(maker: Maker, tmp_path: Path) -> None:
    maker.visit("whole", said("whole"), Slot.FIRST)
    maker.out.close()
    (path,) = tmp_path.glob("*.warc.gz")
    told: list[int] = []
    witness = ingest({path.name: lambda: path.open("rb")}, told.append)
    assert witness.records == 3, "warcinfo, response, request"
    with path.open("rb") as file:
        assert {2 * record.end for record in records(file)} <= set(accumulate(told)), "read, and their digests taken"
    assert sum(told) == 2 * path.stat().st_size


@pytest.mark.slow
def test_the_way_is_told_within_a_large_record(maker: Maker, tmp_path: Path) -> None:
    body = Random(1).randbytes(5 << 20)  # more than is kept in memory
    maker.visit("large", b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body), Slot.FIRST)
    maker.out.close()
    (warc,) = tmp_path.glob("*.warc.gz")
    told: list[int] = []
    ingest({warc.name: lambda: warc.open("rb")}, told.append)
    size = warc.stat().st_size
    assert sum(told) == 2 * size
    assert sum(one > size // 10 for one in told) > 4, "as its digest is taken, too"
    read: list[int] = []
    assert len(list(verify._lines(warc, read.append))) == 1
    assert sum(read) == size
    assert sum(map(bool, read)) > 1


def test_a_field_that_is_given_twice_is_named_and_no_other(maker: Maker, tmp_path: Path) -> None:
    maker.visit("whole", said("whole"), Slot.FIRST)
    maker.out.close()
    (warc,) = tmp_path.glob("*.warc.gz")
    rewrite(warc, lambda r: ([*r.fields, ("WARC-DATE", "")], r.block) if r.kind == "response" else None)
    assert [one.what for one in ingested(tmp_path).findings if "twice" in one.what] == ["its warc-date is given twice"]


def test_exchanges_on_disk_are_found_as_those_in_memory_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certified(tmp_path)
    few, places = ingested(tmp_path), [f"{one.file}:{one.offset}" for one in ingested(tmp_path)]
    assert len(places) > 6
    moments = [(one.uri, one.date) for one in few]
    for number in (1, 3, len(places)):
        monkeypatch.setattr(witness_module, "FEW", number)
        many = ingested(tmp_path)
        assert list(many) == list(few)
        assert [many.at(place) for place in (*places, "none")] == [few.at(place) for place in (*places, "none")]
        assert [many.of(moment) for moment in moments] == [few.of(moment) for moment in moments]
        assert many.of(("http://none/", "2026")) is None
