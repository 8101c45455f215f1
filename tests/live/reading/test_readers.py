"""Documents are read by other processes: whatever one of them brings, the crawl and the other documents go on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import closing

import pytest

from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.masks import Mask, as_json
from sharc_crawler.live.reading import document
from sharc_crawler.live.reading import readers as module
from sharc_crawler.live.reading.readers import Readers
from sharc_crawler.live.reading.readings import Order, Wants
from tests.live.wire_servers import in_loop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
URL = "http://h.example/"
PAGE = Order(URL, Wants.DOCUMENT, compared=True)
TERMS = {"detector": "content", "masks": None}

#: a reader that dies over, or stays with, what is so called; else reads as ours does
_FAULTY = """
import os, signal, sys, time
from sharc_crawler.live.reading import reader_process

read = reader_process.read

def faulty(raw, order, detector):
    if b"deadly" in raw and order.wants == "document":
        os.kill(os.getpid(), signal.SIGKILL)
    if b"fatal" in raw:
        os._exit(3)
    if b"once" in raw and not os.path.exists(os.environ["SEEN"]):
        open(os.environ["SEEN"], "w").close()
        os._exit(4)
    while b"endless" in raw and order.wants == "document":
        pass
    while b"asleep" in raw and not os.path.exists(os.environ["SEEN"]):
        time.sleep(0.01)
    return read(raw, order, detector)

reader_process.read = faulty
reader_process.SECONDS = 0.5
reader_process.main()
"""


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    (tmp_path / "faulty_reader.py").write_text(_FAULTY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "PROCESS", "faulty_reader")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    return tmp_path / "seen"


def links(reading):
    return [link.url for link in reading.links]


async def read(readers, *bodies):
    futures = [readers.read(HEAD + body, PAGE) for body in bodies]
    return await asyncio.gather(*map(asyncio.wrap_future, futures))


@in_loop
async def test_documents_are_read_in_their_order_and_more_than_one_process_is_given():
    with closing(Readers(TERMS)) as readers:
        found = await read(readers, *(b"<a href=/%d>a</a>" % number for number in range(50)))
        assert [links(one) for one in found] == [[f"{URL}{number}"] for number in range(50)]
        assert readers.pending == 0
        assert all(one.payload.digest and one.payload.fingerprint and not one.problems for one in found)


@in_loop
async def test_a_site_may_have_masks_of_its_own(tmp_path):
    (file := tmp_path / "masks.json").write_text(json.dumps(as_json([Mask("//p", r"seen (\d+) times")])))
    bodies = [b"<p>seen 6 times</p>", b"<p>seen 7 times</p>"]
    with closing(Readers(TERMS)) as readers:
        orders = [PAGE, PAGE._replace(masks=str(file))]
        futures = [readers.read(HEAD + body, order) for order in orders for body in bodies]
        found = [one.payload.fingerprint for one in await asyncio.gather(*map(asyncio.wrap_future, futures))]
    assert found[0] != found[1]
    assert found[2] == found[3]


@pytest.mark.parametrize("body", [b"deadly", pytest.param(b"endless", marks=pytest.mark.long)])
@in_loop
async def test_a_document_that_ends_its_reader_costs_its_own_links_alone(faulty, body):
    """It is tried again; then its digests are taken, and what is missing is said."""
    with closing(Readers(TERMS)) as readers:
        before, bad, after = await read(readers, b"<a href=/a>a", body, b"<a href=/b>b")
        assert links(before) == [f"{URL}a"]
        assert links(after) == [f"{URL}b"]
        assert links(bad) == []
        assert bad.payload == (labelled_digest(body), None, None), "what it is compared by is not lost"
        assert bad.problems == (
            "it could not be read, so its links are missing: the process that reads documents ended twice",
        )


@in_loop
async def test_a_detector_that_ends_its_process_is_named(tmp_path, monkeypatch, caplog):
    source = "import os\nclass Ending:\n    fingerprint = lambda *_: os._exit(3)\n"
    (tmp_path / "ending.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with closing(Readers(TERMS | {"detector": "ending.Ending"})) as readers:
        await read(readers, b"<a href=/a>a")
    assert "ended (exit code 3 with SHARC_DETECTOR='ending.Ending'); another one was started" in caplog.text


@in_loop
async def test_a_document_that_ends_every_reader_is_given_up(faulty):
    with closing(Readers(TERMS)) as readers:
        bad, after = await read(readers, b"fatal", b"<a href=/b>b")
        assert bad.problems == ("the reading process ended (exit code 3) each time",)
        assert bad.lost
        assert links(after) == [f"{URL}b"]


@in_loop
async def test_a_reader_that_died_once_costs_nothing(faulty):
    with closing(Readers(TERMS)) as readers:
        (found,) = await read(readers, b"<a href=/once>b")
        assert (links(found), found.problems) == ([f"{URL}once"], ())


@in_loop
async def test_a_reader_that_is_killed_from_outside_is_replaced(faulty):
    with closing(Readers(TERMS)) as readers:
        await read(readers, b"<a href=/a>a")
        os.kill(readers._readers[0]._child._process.pid, signal.SIGKILL)
        (found,) = await read(readers, b"<a href=/b>b")
        assert links(found) == [f"{URL}b"]


@in_loop
async def test_nobody_waits_behind_a_long_document(faulty):
    """It ends only when the others have been read."""
    with closing(Readers(TERMS)) as readers:
        long = readers.read(HEAD + b"<a href=/asleep>a", PAGE)
        others = await read(readers, *[b"<a href=/b>b"] * 40)
        assert all(links(one) == [f"{URL}b"] for one in others)
        assert not long.done()
        faulty.touch()
        assert links(await asyncio.wrap_future(long)) == [f"{URL}asleep"]
        await readers.finish()


@in_loop
async def test_where_a_document_takes_long_as_the_machine_is_busy_nobody_else_begins(faulty, monkeypatch):
    monkeypatch.setattr(module, "STALLED", 600.0)
    with closing(Readers(TERMS)) as readers:
        await read(readers, b"<a href=/b>b")
        found = readers.read(HEAD + b"<a href=/asleep>a", PAGE)
        behind = readers.read(HEAD + b"<a href=/b>b", PAGE)
        await asyncio.sleep(3 * module.PATIENCE)
        assert (len(readers._readers), behind.done()) == (1, False)
        faulty.touch()
        assert links(await asyncio.wrap_future(found)) == [f"{URL}asleep"]


@in_loop
async def test_another_is_there_before_a_document_that_may_take_long_does(faulty, monkeypatch):
    """To start one takes long where the machine is busy; nobody waits for that here."""
    monkeypatch.setattr(module, "PATIENCE", 600.0)
    with closing(Readers(TERMS)) as readers:
        long = readers.read(HEAD + b"<a href=/asleep>a".ljust(module.LONG + 1), PAGE)
        (found,) = await read(readers, b"<a href=/b>b")
        assert (links(found), long.done()) == ([f"{URL}b"], False)
        faulty.touch()
        assert links(await asyncio.wrap_future(long)) == [f"{URL}asleep"]


@in_loop
async def test_what_may_take_long_waits_until_another_is_there_and_the_others_do_not(faulty, monkeypatch):
    """Whoever is ready reads on meanwhile: else all would wait until the other one has begun."""
    monkeypatch.setattr(module, "PATIENCE", 600.0)
    with closing(Readers(TERMS)) as readers:
        await read(readers, b"<a href=/a>a")
        long = readers.read(HEAD + b"<a href=/asleep>a".ljust(module.LONG + 1), PAGE)
        for _ in range(3):
            found = await read(readers, *[b"<a href=/b>b"] * 20)
            assert ([links(one) for one in found], long.done()) == ([[f"{URL}b"]] * 20, False)
        faulty.touch()
        assert links(await asyncio.wrap_future(long)) == [f"{URL}asleep"]


@in_loop
async def test_a_large_document_is_given_more_time(faulty, monkeypatch):
    """What is given up has no digest, and its capture no certificate."""
    monkeypatch.setattr(module, "LONGEST", 0.0)
    monkeypatch.setattr(module, "DIGESTED", 1)
    with closing(Readers(TERMS)) as readers:
        long = readers.read(HEAD + b"<a href=/asleep>a".ljust(3_600), PAGE)
        while not (readers._readers and readers._readers[0].waited() > 3 * module.PATIENCE):
            await asyncio.sleep(0.05)
        faulty.touch()
        found = await asyncio.wrap_future(long)
        assert (links(found), found.problems) == ([f"{URL}asleep"], ())


@in_loop
async def test_what_a_lingering_process_answers_all_at_once_is_heard(faulty):
    """The long document, and those behind it that another has read meanwhile: in one piece, as the crawl was busy."""
    wrong = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
    with closing(Readers(TERMS)) as readers:
        long = readers.read(HEAD + b"<a href=/asleep>a", PAGE)
        await read(readers, *[b"<a href=/b>b"] * 10)
        faulty.touch()
        time.sleep(1)  # the loop hears nothing meanwhile
        assert links(await asyncio.wrap_future(long)) == [f"{URL}asleep"]
        await readers.finish()
        assert not wrong
        asyncio.get_running_loop().set_exception_handler(None)


@in_loop
async def test_a_process_that_cannot_be_started_is_said(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    readers = Readers(TERMS)
    (found,) = await read(readers, b"<a href=/b>b")
    assert "cannot be started" in found.problems[0]
    readers.close()


@pytest.mark.parametrize("digests", [True, False])
@pytest.mark.parametrize(
    "raw",
    [
        HEAD + b"gone",
        b"HTTP/1.1 103\r\n\r\nHTTP/1.1 301\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        b"nothing that is HTTP",
        b"",
    ],
)
def test_a_small_answer_of_which_a_digest_is_wanted_alone_is_handed_to_nobody(raw, digests):
    """There is no loop here in which anybody could answer."""
    order = Order(URL, Wants.NOTHING, digests=digests)
    found = Readers(TERMS).read(raw, order).result()
    assert found == document.read(raw, order, document.detector_of(**TERMS))


@pytest.mark.parametrize(
    ("head", "order"),
    [
        (HEAD, Order(URL, Wants.NOTHING, compared=True)),
        (HEAD, Order(URL, Wants.ROBOTS)),
        (HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), Order(URL, Wants.NOTHING)),
        (HEAD + b"a" * module.SMALL, Order(URL, Wants.NOTHING)),
    ],
)
def test_whatever_else_is_wanted_is_read_by_another_process(head, order):
    assert module._digested(head + b"text", order) is None
