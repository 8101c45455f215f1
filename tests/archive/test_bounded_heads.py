"""WARC files that were made to exhaust whoever reads them."""

from __future__ import annotations

import io
import zlib

import pytest
from click.testing import CliRunner
from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.bounded_heads import LONGEST_HEAD, bounded_records
from sharc_crawler.cli import main

LONG = 10 * LONGEST_HEAD
HEADS = {
    "a line": lambda: [b"WARC/1.1\r\nX: ", *([b"y" * 2**20] * (LONG >> 20))],
    "many lines": lambda: [b"WARC/1.1\r\n", *([b"X: y\r\n" * 2**17] * (LONG // (6 * 2**17)))],
}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("command", ["masks", "plan"])
def test_a_head_without_end_is_read_to_a_bound_and_its_file_named(tmp_path, head, command):
    packing = zlib.compressobj(1, zlib.DEFLATED, 31)
    data = b"".join([*map(packing.compress, HEADS[head]()), packing.flush()])
    (tmp_path / "a.warc.gz").write_bytes(data)
    done = CliRunner().invoke(main, [command, str(tmp_path / "a.warc.gz")])
    assert (done.exit_code, "a.warc.gz" in done.output) == (3, True), done.output
    assert "the head of a record is longer than 1,048,576 bytes" in done.output


@pytest.mark.parametrize("parsed", [True, False])
def test_what_is_unpacked_of_a_head_is_bounded(parsed):
    """Before the error no more of it was taken out of the file than that, and what is read ahead."""
    packed = io.BytesIO(zlib.compress(b"".join(HEADS["a line"]()), 1, 31))
    with pytest.raises(ArchiveLoadFailed, match="is longer than"):
        list(bounded_records(packed, no_record_parse=not parsed))
    assert packed.tell() < len(packed.getvalue()) / 2


@pytest.mark.parametrize("field", ["WARC-Date", "WARC-Target-URI"])
def test_an_answer_that_does_not_say_when_or_of_what_is_an_error_that_names_the_file(tmp_path, field):
    fields = {"WARC-Date": "2026-11-18T11:06:40Z", "WARC-Target-URI": "http://a.example/", "Content-Length": "0"}
    del fields[field]
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    (source := tmp_path / "a.warc").write_bytes(f"WARC/1.1\r\nWARC-Type: response\r\n{head}\r\n\r\n\r\n".encode())
    done = CliRunner().invoke(main, ["masks", str(source)])
    assert (done.exit_code, "a.warc cannot be read as a WARC file" in done.output) == (3, True), done.output


def test_a_report_that_is_nested_without_end_is_named(tmp_path):
    (tmp_path / "report.json").write_text('{"captures":' + "[" * 200_000)
    done = CliRunner().invoke(main, ["plan", str(tmp_path)])
    assert (done.exit_code, "report.json is no report of a capture" in done.output) == (3, True), done.output
