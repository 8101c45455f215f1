from __future__ import annotations

import errno
import gzip
import json
import re
import resource
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.options import Original, WarcOptions
from sharc_crawler.archive.rows import Rows
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import DataError, StateError, UsageError
from sharc_crawler.instants import iso
from tests.archive.readback import INFO, OK, URL, check, page, read, read_all

CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
NOT_MODIFIED = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'


def writer(folder: Path, **options) -> WarcWriter:
    return WarcWriter(folder, "example.org", "run1", INFO, WarcOptions(**options))


def test_an_exchange_is_a_response_and_a_request_byte_for_byte(tmp_path):
    exchange = page(head=b"X-Latin: \xe9\r\n")
    with writer(tmp_path) as out:
        ref = out.write(exchange)
    _, response, request = read_all(tmp_path)
    assert response.block == exchange.response
    assert request.block == exchange.request
    assert (response.offset, response.length) == (ref.offset, ref.length)
    assert (tmp_path / ref.file).is_file()
    assert response.head | {"WARC-Record-ID": "", "WARC-Warcinfo-ID": ""} == {
        "WARC-Type": "response",
        "WARC-Record-ID": "",
        "WARC-Date": "2026-11-18T11:06:40.250000Z",
        "WARC-Target-URI": URL,
        "WARC-IP-Address": "127.0.0.1",
        "WARC-Warcinfo-ID": "",
        "WARC-Payload-Digest": "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N",
        "WARC-Block-Digest": response["WARC-Block-Digest"],
        "Content-Type": "application/http;msgtype=response",
        "Content-Length": str(len(exchange.response)),
    }
    assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
    assert request["WARC-Date"] == response["WARC-Date"]
    assert request["WARC-IP-Address"] == "127.0.0.1"
    assert request["Content-Type"] == "application/http;msgtype=request"


def test_each_file_starts_with_what_a_later_reader_needs(tmp_path):
    with writer(tmp_path) as out:
        out.write(page())
    info, response, _ = read_all(tmp_path)
    fields = dict(line.split(": ", 1) for line in info.block.decode().splitlines())
    assert info.kind == "warcinfo"
    assert info["WARC-Filename"] == next(tmp_path.glob("*.warc.gz")).name
    assert response["WARC-Warcinfo-ID"] == info["WARC-Record-ID"]
    assert fields["operator"] == "me@example.org"
    assert fields["robots"] == "obey"
    assert fields["software"] == "sharc-crawler/test"
    assert fields["strategy"] == "sharc-selective"
    assert json.loads(fields["strategy-parameters"]) == {"size": 3}
    assert fields["site"] == "example.org"


def test_chunks_stay_and_the_digest_is_of_what_is_in_them(tmp_path):
    with writer(tmp_path) as out:
        out.write(page(response=CHUNKED))
    _, response, _ = read_all(tmp_path)
    assert response.block == CHUNKED
    assert response["WARC-Payload-Digest"] == parse_response(OK + b"\r\nhello").digest


def test_an_equal_payload_is_stored_once_with_the_new_headers(tmp_path):
    first = page(b"same", started=1000.123456)
    again = page(b"same", url=URL + "2", started=2000.5, head=b"X-New: 1\r\n")
    with writer(tmp_path) as out:
        out.write(first)
        ref = out.write(again)
    response, revisit = [record for record in read_all(tmp_path) if record.kind in {"response", "revisit"}]
    assert revisit.kind == "revisit"
    assert (revisit.offset, revisit.length) == (ref.offset, ref.length)
    assert revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert revisit["WARC-Payload-Digest"] == response["WARC-Payload-Digest"]
    assert revisit["WARC-Refers-To"] == response["WARC-Record-ID"]
    assert revisit["WARC-Refers-To-Target-URI"] == URL
    assert revisit["WARC-Refers-To-Date"] == response["WARC-Date"] == "1970-01-01T00:16:40.123456Z"
    assert revisit["WARC-Target-URI"] == URL + "2"
    assert revisit["WARC-Truncated"] == "length"
    assert revisit.block == again.response.removesuffix(b"same")


@pytest.mark.parametrize(
    ("options", "second"),
    [
        ({"dedup": "off"}, page(b"hello", started=2000)),
        ({}, page(b"other", started=2000)),
        (
            {},
            page(response=CHUNKED, started=2000),
        ),  # the same payload, framed so that headers and body cannot be joined
    ],
)
def test_stored_in_full_again(tmp_path, options, second):
    with writer(tmp_path, **options) as out:
        out.write(page(b"hello"))
        out.write(second)
    assert [record.kind for record in read_all(tmp_path)].count("response") == 2


def test_a_payload_of_a_former_capture_is_not_stored_again(tmp_path):
    """``dedup=site``: against what former captures hold, framed alike; within the capture as ever."""
    with writer(tmp_path / "1") as out:
        out.write(page(b"old", started=1000.123456))
        out.write(page(response=CHUNKED, url=URL + "c", started=1001))
        held = {(original.digest, chunked): original for original, chunked in out.stored()}
    (old, _) = [record for record in read_all(tmp_path / "1") if record.kind == "response"]
    options = WarcOptions(dedup="site")
    with WarcWriter(tmp_path / "2", "example.org", "run2", INFO, options, lambda *key: held.get(key)) as out:
        for number, exchange in enumerate((page(b"old"), page(b"hello"), page(b"hello"), page(b""))):
            out.write(replace(exchange, url=f"{URL}{number}"))
        original = Original(URL + "0", page().started, parse_response(page(b"old").response).digest)
        out.write_revisit(page(url=URL + "0", response=NOT_MODIFIED), original)
        new = [(original.url, chunked) for original, chunked in out.stored()]
    records = [record for record in read_all(tmp_path / "2") if record.kind in {"response", "revisit"}]
    assert [record.kind for record in records] == ["revisit", "response", "revisit", "response", "revisit"]
    for record in (records[0], records[4]):
        assert record["WARC-Refers-To"] == old["WARC-Record-ID"]
        assert record["WARC-Refers-To-Target-URI"] == URL
        assert record["WARC-Refers-To-Date"] == "1970-01-01T00:16:40.123456Z"
    assert records[2]["WARC-Refers-To-Target-URI"] == URL + "1", (
        "the chunked one of the former capture is framed otherwise"
    )
    assert new == [(URL + "1", False)]


def test_what_is_evidence_of_other_pages_is_in_each_capture(tmp_path):
    """Without the former capture its certificate could not be verified."""
    options, former = WarcOptions(dedup="site"), Original(URL, 1.0, parse_response(page(b"map").response).digest, "<a>")
    with WarcWriter(tmp_path, "example.org", "run2", INFO, options, lambda *_: former) as out:
        for evidence in (False, True, True):
            out.write(replace(page(b"map"), evidence=evidence))
    found = [record for record in read_all(tmp_path) if record.kind in {"response", "revisit"}]
    assert [record.kind for record in found] == ["revisit", "response", "revisit"]
    assert found[0]["WARC-Refers-To"] == "<a>"
    assert found[2]["WARC-Refers-To"] == found[1]["WARC-Record-ID"]


def test_empty_and_truncated_payloads_are_not_referred_to(tmp_path):
    with writer(tmp_path) as out:
        for started in (1, 2):
            out.write(page(b"", started=started))
            out.write(page(b"cut", started=started + 2, truncated="length"))
    records = read_all(tmp_path)
    assert [record.kind for record in records].count("response") == 4
    assert [record["WARC-Truncated"] for record in records if record["WARC-Truncated"]] == ["length", "length"]


def test_a_304_is_a_revisit_without_a_block_and_its_bytes_are_kept_beside_it(tmp_path):
    first = page(started=1000)
    original = Original(URL, 1000, parse_response(first.response).digest)
    with writer(tmp_path) as out:
        out.write(first)
        out.write_revisit(page(response=NOT_MODIFIED, started=2000), original)
    _, response, _, revisit, request, notes = read_all(tmp_path)
    assert revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit["WARC-Refers-To"] == response["WARC-Record-ID"]
    assert revisit["WARC-Refers-To-Date"] == response["WARC-Date"]
    assert revisit["WARC-Refers-To-Target-URI"] == URL
    assert revisit["Content-Length"] == "0"
    assert revisit["WARC-Payload-Digest"] is None
    assert request["WARC-Concurrent-To"] == notes["WARC-Concurrent-To"] == revisit["WARC-Record-ID"]
    assert b64decode(notes.block.split(b"http-response-base64: ")[1]) == NOT_MODIFIED


def test_a_304_of_a_page_that_was_stored_as_a_revisit_refers_to_the_bytes(tmp_path):
    with writer(tmp_path) as out:
        out.write(page(url=URL + "-a", started=1000))
        out.write(page(url=URL + "-b", started=1001))
        digest = parse_response(page().response).digest
        out.write_revisit(page(url=URL + "-b", response=NOT_MODIFIED, started=2000), Original(URL + "-b", 1001, digest))
    revisit = next(record for record in read_all(tmp_path) if "server" in (record["WARC-Profile"] or ""))
    assert revisit["WARC-Refers-To-Target-URI"] == URL + "-a"
    assert revisit["WARC-Refers-To-Date"] == iso(1000)


def test_not_modified_is_the_servers_word_alone(tmp_path):
    original = Original(URL, 1, parse_response(page().response).digest)
    with writer(tmp_path) as out, pytest.raises(DataError, match=r"status=200 of http://example.org/page is not 304"):
        out.write_revisit(page(), original)
    with writer(tmp_path) as out, pytest.raises(DataError, match="status=None"):
        out.write_revisit(page(response=b""), original)
    assert not list(tmp_path.iterdir())


def test_interim_responses_are_kept_beside_the_final_one(tmp_path):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with writer(tmp_path) as out:
        out.write(page(response=hints + OK + b"\r\nhi"))
    _, response, _, notes = read_all(tmp_path)
    assert response.block == OK + b"\r\nhi"
    assert b64decode(notes.block.split(b": ")[1]) == hints
    assert notes["WARC-Concurrent-To"] == response["WARC-Record-ID"]


def test_a_truncated_response_says_so_and_why(tmp_path):
    with writer(tmp_path) as out:
        out.write(page(truncated="disconnect", error="lost:\r\nreset by peer"))
    _, response, _, notes = read_all(tmp_path)
    assert response["WARC-Truncated"] == "disconnect"
    assert notes.block == rb"error: lost:\x0d\x0areset by peer" + b"\r\n"


def test_a_failed_exchange_is_metadata_with_what_came(tmp_path):
    with writer(tmp_path) as out:
        ref = out.write(page(response=b"HTTP/1.1 200 OK\r\nCont", error="ConnectionLost: reset"))
        out.write(page(request=b"", response=b"", ip=None, error="DNS"))
    _, notes, request, bare = read_all(tmp_path)
    assert notes.kind == "metadata"
    assert notes.offset == ref.offset
    assert request["WARC-Concurrent-To"] == notes["WARC-Record-ID"]
    fields = dict(line.split(": ", 1) for line in notes.block.decode().splitlines())
    assert fields["error"] == "ConnectionLost: reset"
    assert fields["ended"] == iso(1_795_000_001.25)
    assert b64decode(fields["received-base64"]) == b"HTTP/1.1 200 OK\r\nCont"
    assert b"error: DNS" in bare.block
    assert bare["WARC-IP-Address"] is None


def test_rebuilt_headers_are_said_to_be_rebuilt(tmp_path):
    with writer(tmp_path) as out:
        out.write(page(normalised="headers rebuilt"))
    _, response, request = read_all(tmp_path)
    assert [response["Sharc-Normalised"], request["Sharc-Normalised"]] == ["headers rebuilt"] * 2


def test_what_was_sent_before_is_told_of_answers_and_of_failures(tmp_path):
    with writer(tmp_path) as out:
        out.write(replace(page(), before=1))
        out.write(replace(page(), before=1, response=b"", error="reset"))
    notes = [record.block for record in read_all(tmp_path) if record.kind == "metadata"]
    assert [b"sent-before: 1\r\n" in block for block in notes] == [True, True]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/\r\nWARC-Type: warcinfo",
        "http://example.org/a b",
        "http://example.org/\x00",
        "http://example.org/é",
        "example.org/page",
        "",
    ],
)
def test_a_url_that_would_forge_fields_is_refused_and_leaves_no_trace(tmp_path, url):
    with writer(tmp_path) as out:
        out.write(page())
        with pytest.raises(DataError, match=r"url=.* is not a URI"):
            out.write(page(url=url))
        with pytest.raises(DataError, match="not a URI"):
            out.write_revisit(page(response=NOT_MODIFIED), Original(url, 1, None))
    assert len(read_all(tmp_path)) == 3


@pytest.mark.parametrize("field", ["ip", "truncated"])
def test_a_value_that_would_forge_fields_is_refused(tmp_path, field):
    with writer(tmp_path) as out, pytest.raises(DataError, match="control characters"):
        out.write(page(**{field: "1\r\nWARC-Type: warcinfo"}))


def test_files_are_open_until_closed_and_named_by_site_time_serial_and_run(tmp_path):
    out = writer(tmp_path)
    assert not list(tmp_path.iterdir())
    ref = out.write(page())
    assert ref.file == "example.org-20261118110640-00000-run1.warc.gz"
    assert [path.name for path in tmp_path.iterdir()] == [ref.file + ".open"]
    out.close()
    out.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [ref.file.replace(".warc.gz", ".cdxj"), ref.file]
    with pytest.raises(StateError, match=r"site 'example.org', run 'run1' is closed"):
        out.write(page())


def test_a_full_file_is_followed_by_another_and_records_of_one_event_stay_together(tmp_path):
    with writer(tmp_path, max_size=3000, dedup="off") as out:
        refs = [out.write(page(b"%d" % number * 50, started=number)) for number in range(20)]
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert len(files) > 2
    assert [path.name.split("-")[2] for path in files] == [f"{serial:05d}" for serial in range(len(files))]
    for path in files:
        check(path)
        assert [record.kind for record in read(path)][:3] == ["warcinfo", "response", "request"]
        assert path.with_name(path.name.replace(".warc.gz", ".cdxj")).is_file()
    for number, ref in enumerate(refs):
        with (tmp_path / ref.file).open("rb") as stream:
            stream.seek(ref.offset)
            record = next(iter(ArchiveIterator(stream)))
            assert record.content_stream().read() == b"%d" % number * 50


def test_site_and_run_names_are_made_safe(tmp_path):
    with WarcWriter(tmp_path / "new" / "folder", "../../etc", "a/b", INFO) as out:
        ref = out.write(page(started=0))
    assert re.fullmatch(r"etc-[0-9a-f]{8}-19700101000000-00000-a-b-[0-9a-f]{8}\.warc\.gz", ref.file)
    assert (tmp_path / "new" / "folder" / ref.file).is_file()


def test_capture_info_that_would_forge_fields_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(DataError, match=r"run='a\\nb' has control characters"):
        WarcWriter(tmp_path, "example.org", "a\nb", INFO)
    with pytest.raises(DataError, match="operator="):
        WarcWriter(tmp_path, "example.org", "a", replace(INFO, operator="me\r\nsoftware: other"))
    assert not list(tmp_path.iterdir())


def test_one_writer_per_run_and_folder(tmp_path):
    with writer(tmp_path) as out:
        out.write(page())
        with pytest.raises(StateError, match="is being written by another writer"):
            writer(tmp_path)
        with WarcWriter(tmp_path, "example.org", "run2", INFO) as other:
            other.write(page())
    assert len(list(tmp_path.glob("*.warc.gz"))) == 2


def test_a_run_is_carried_on_with_its_numbering_and_payloads(tmp_path):
    with writer(tmp_path) as out:
        out.write(page(started=1000))
        out.write(page(response=CHUNKED, url=URL + "-chunked", started=1000))
        out.write(page(b"cut", started=1000, truncated="time"))
    with writer(tmp_path) as out:
        refs = [
            out.write(page(started=2000)),
            out.write(page(response=CHUNKED, started=2000)),
            out.write(page(b"cut", started=2000)),
        ]
    assert {ref.file.split("-")[2] for ref in refs} == {"00001"}
    later = [record for record in read(tmp_path / refs[0].file) if record.kind in {"response", "revisit"}]
    assert [record.kind for record in later] == ["revisit", "revisit", "response"]
    assert later[0]["WARC-Refers-To-Date"] == iso(1000)
    assert later[1]["WARC-Refers-To-Target-URI"] == URL + "-chunked"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dedup": "captur"}, "dedup='captur' is not known; did you mean 'capture'"),
        ({"level": 10}, "level=10 is not a compression level"),
        ({"max_size": 0}, "max_size=0 is not a size"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        WarcOptions(**options)


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"folder='.*/file' cannot be used for WARC files"):
        writer(tmp_path / "file")


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("size", [10, 3000, 5000, 200_000])
def test_any_level_and_size_reads_back(tmp_path, level, size):
    with writer(tmp_path, level=level) as out:
        out.write(page(b"x" * size))
    assert read_all(tmp_path)[1].block.endswith(b"\r\n\r\n" + b"x" * size)


@pytest.mark.slow
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.booleans())
def test_any_bytes_read_back(tmp_path_factory, bodies, dedup):
    folder = tmp_path_factory.mktemp("any")
    sent = [page(OK + b"\r\n" + body, started=number) for number, body in enumerate(bodies)]
    with writer(folder, dedup="capture" if dedup else "off") as out:
        for exchange in sent:
            out.write(exchange)
    (path,) = folder.glob("*.warc.gz")
    records = read(path)
    assert [r.block for r in records if r.kind == "request"] == [exchange.request for exchange in sent]
    by_digest = {r["WARC-Payload-Digest"]: r.block for r in records if r.kind == "response"}
    for exchange in sent:
        assert by_digest[parse_response(exchange.response).digest].endswith(exchange.response.partition(b"\r\n\r\n")[2])


_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from tests.archive.readback import INFO, page
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
with WarcWriter(Path(sys.argv[1]), "example.org", "run1", INFO, WarcOptions(level=0)) as out:
    out.write(page(b"fits", started=1))
    try:
        out.write(page(bytes(30_000), started=2))
    except OSError as error:
        print("raised", error)
    out.write(page(b"fits too", started=3))
    for number in range(4):
        print(out.write(page(bytes([number]) * 7_000, started=4)).file)
"""


def test_a_failed_write_raises_and_leaves_the_file_as_it_was(tmp_path):
    """The kernel refuses to let the file grow, as a full disk would. Another file takes what fits in one."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert "raised [Errno 27] File too large" in done.stdout
    assert ".warc.gz.open" in done.stdout
    bodies = [record.block[-8:] for record in read_all(tmp_path) if record.kind == "response"]
    assert bodies == [b"\r\n\r\nfits", b"fits too", *(bytes([number]) * 8 for number in range(4))]
    assert [line[-18:-13] for line in done.stdout.splitlines()[1:]] == ["00001", "00001", "00002", "00002"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_gzip_members_are_one_per_record(tmp_path):
    with writer(tmp_path) as out:
        out.write(page())
    (path,) = tmp_path.glob("*.warc.gz")
    for record in read(path):
        piece = path.read_bytes()[record.offset : record.offset + record.length]
        assert gzip.decompress(piece).startswith(b"WARC/1.1\r\n")


def test_what_a_full_disk_refuses_to_the_index_is_in_no_file_either(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = writer(tmp_path)
    out.write(page(b"first"))
    with monkeypatch.context() as patch:
        patch.setattr(Rows, "append", full)
        with pytest.raises(OSError, match="No space left"):
            out.write(page(b"second"))
    ref = out.write(page(b"third"))
    out.close()
    responses = [record for record in read_all(tmp_path) if record["WARC-Type"] == "response"]
    assert [record.block.rpartition(b"\r\n")[2] for record in responses] == [b"first", b"third"]
    assert sorted(one.offset for one in read_index(index_path(tmp_path / ref.file)))[-1] == ref.offset


def test_a_payload_that_a_full_disk_does_not_note_is_stored_again(tmp_path, monkeypatch):
    """Its exchange is in the file by then: it is none that failed."""
    noted: list[object] = []
    append = Rows.append

    def full(rows, *fields):
        noted.append(fields)
        if len(noted) == 2:  # after the line of the index
            raise OSError(errno.ENOSPC, "No space left on device")
        append(rows, *fields)

    monkeypatch.setattr(Rows, "append", full)
    with writer(tmp_path) as out:
        refs = [out.write(page(b"the same", started=started)) for started in range(3)]
    kinds = [record.kind for record in read_all(tmp_path) if record.kind != "request"]
    assert kinds == ["warcinfo", "response", "response", "revisit"]
    assert [one.offset for one in read_index(index_path(tmp_path / refs[0].file))] == [ref.offset for ref in refs]
