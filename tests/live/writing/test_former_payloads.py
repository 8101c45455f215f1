"""A payload that a history says to lie in a former capture is left out only where it does lie there."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
import time
from dataclasses import replace

import pytest

from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.terms import SiteTerms
from sharc_crawler.live.writing.former_payloads import FormerPayloads
from sharc_crawler.live.writing.writer_process import stored_payloads
from sharc_crawler.model import Exchange
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.archive.readback import INFO, read_all
from tests.live import warm

SITE, DEDUP = "example.org", WarcOptions(dedup="site")
PAGE = Exchange("http://example.org/", 1000.25, 1000.5, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nhello")
DIGEST = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"  # of what it holds
WRONG = {
    "time": "time + 1",
    "a text for a time": "'soon'",
    "url": "url || 'x'",
    "record": "'<urn:uuid:0>'",
    "digest": "'sha1:OTHER'",
}


def captured(folder, *exchanges, former=None, run="run1"):
    folder.mkdir(parents=True, exist_ok=True)
    writer = WarcWriter(folder, SITE, run, INFO, DEDUP, former)
    for one in exchanges:
        writer.write(one)
    writer.close()
    return list(stored_payloads(writer.stored()))


def kinds(folder):
    return [record.kind for record in read_all(folder) if record.kind in ("response", "revisit")]


def altered(history, value, column, checksum=False):
    """A row of a history that was changed; ``checksum``: by somebody who knows how it is made."""
    with sqlite3.connect(history) as db:
        db.execute(f"UPDATE payload SET {column} = {value}")
    if checksum:
        with ObservationStore(history) as store, sqlite3.connect(history) as db:
            digest, chunked = db.execute("SELECT digest, chunked FROM payload").fetchone()
            held = store.payload(SITE, digest, chunked=bool(chunked))
            db.execute("UPDATE payload SET checksum = ?", (held.checksum,))


def begun(folder, of_collection):
    """A history that knows of one former capture, and the folder of the next one."""
    if of_collection:
        collection = Collection.begin(folder, SiteTerms(SITE, SITE, ("http://example.org/",), {}))
        former, output = (collection.capture_folder(SITE, moment) for moment in (1000.0, 2000.0))
    else:
        former, output = folder / "former", folder / "next"
    rows = captured(former, PAGE)
    SqliteStore(former).close()
    with ObservationStore(folder / "history.db") as store:
        store.keep_payloads(SITE, rows)
    return folder / "history.db", output


def next_capture(history, output, *exchanges):
    with ObservationStore(history) as store:
        return captured(output, *exchanges, former=FormerPayloads(store, SITE, output).find, run="run2")


@pytest.mark.parametrize("of_collection", [False, True])
def test_what_a_former_capture_holds_is_not_stored_again(tmp_path, of_collection):
    history, output = begun(tmp_path, of_collection)
    next_capture(history, output, replace(PAGE, started=2000.0))
    assert kinds(output) == ["revisit"]


@pytest.mark.parametrize("of_collection", [False, True])
@pytest.mark.parametrize("what", WRONG)
def test_a_row_that_is_not_as_it_was_written_is_forgotten(tmp_path, what, of_collection, caplog):
    history, output = begun(tmp_path, of_collection)
    altered(history, WRONG[what], "time" if "time" in what else what)
    body = PAGE if what != "digest" else replace(PAGE, response=b"HTTP/1.1 200 OK\r\n\r\nother")
    if what == "digest":
        altered(history, repr(digest_of(b"other")), "digest")
    next_capture(history, output, replace(body, started=2000.0))
    assert kinds(output) == ["response"]
    (record,) = caplog.records
    assert record.note
    assert record.getMessage().startswith(f"{history} is damaged: no former answer of http://example.org/")
    with sqlite3.connect(history) as db:
        assert db.execute("SELECT count(*) FROM payload").fetchone() == (0,)


def digest_of(body):
    return "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()


@pytest.mark.parametrize("column", ["time", "url", "digest"])
def test_in_a_collection_a_row_with_a_right_checksum_is_held_against_the_indexes(tmp_path, column):
    history, output = begun(tmp_path, of_collection=True)
    body = b"other" if column == "digest" else b"hello"
    altered(history, repr(digest_of(body)) if column == "digest" else WRONG[column], column, checksum=True)
    next_capture(history, output, replace(PAGE, started=2000.0, response=b"HTTP/1.1 200 OK\r\n\r\n" + body))
    assert kinds(output) == ["response"]


@pytest.mark.parametrize("of_collection", [False, True])
def test_rows_without_a_checksum_are_believed_where_an_index_bears_them_out(tmp_path, of_collection, caplog):
    history, output = begun(tmp_path, of_collection)
    altered(history, "NULL", "checksum")
    next_capture(history, output, replace(PAGE, started=2000.0))
    assert kinds(output) == ["revisit" if of_collection else "response"]
    assert not caplog.records, "nothing is wrong"


@pytest.mark.parametrize("lost", ["*.cdxj", "*.warc.gz"])
def test_what_no_file_holds_any_more_is_stored_again(tmp_path, lost):
    history, output = begun(tmp_path, of_collection=True)
    for path in (tmp_path / "captures").rglob(lost):
        path.unlink()
    next_capture(history, output, replace(PAGE, started=2000.0))
    assert kinds(output) == ["response"]


def test_a_capture_that_ends_meanwhile_is_looked_into(tmp_path):
    """As of another site of the same crawl."""
    history, output = begun(tmp_path, of_collection=True)
    with ObservationStore(history) as store:
        former = FormerPayloads(store, SITE, output)
        assert former.find(DIGEST, chunked=False) is not None
        other = tmp_path / "captures" / SITE / "19700101T000500Z"
        store.keep_payloads(SITE, captured(other, replace(PAGE, started=3000.0, response=PAGE.response + b"!")))
        SqliteStore(other).close()
        assert former.find(digest_of(b"hello!"), chunked=False).date == 3000.0


def test_a_wrong_row_costs_no_content(static, tmp_path):
    """The capture after it stores what it says to be there; the report tells of it."""
    site, kept = tmp_path / "site", tmp_path / "kept"
    site.mkdir()
    old, new = (f"<title>a</title><p>edition {number}".encode() for number in (1, 2))
    (site / "index.html").write_text("<a href=a.html>a</a>")
    (site / "a.html").write_bytes(old)
    with static(site) as url:
        words = warm.site_words(url=url, collection=kept, delay="0", sitemap="off", strategy="bfs")
        assert warm.finished(words, tmp_path, timeout=280).returncode == 0
        (site / "a.html").write_bytes(new)
        with ObservationStore(kept / "history.db") as store, sqlite3.connect(kept / "history.db") as db:
            (name,) = store.sites()
            held = store.payload(name, digest_of(old), chunked=False)._replace(digest=digest_of(new))
            db.execute(
                "UPDATE payload SET digest = ?, checksum = ? WHERE digest = ?",
                (held.digest, held.checksum, digest_of(old)),
            )
        time.sleep(1.1)  # captures are named by the second
        done = warm.finished(words, tmp_path, timeout=280)
    assert done.returncode == 0, done.stderr
    _, second = Collection(kept).captures()
    assert new in [record.block.partition(b"\r\n\r\n")[2] for record in read_all(second.folder)]
    assert "history.db is damaged: no former answer of" in (second.folder / "report.json").read_text()
