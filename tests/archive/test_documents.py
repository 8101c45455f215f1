"""A file of documents is another of its run's, with an index that names nothing; it is there whole or not at all."""

from __future__ import annotations

import pytest

from sharc_crawler.archive.documents import document_file
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_file import are_finished
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.errors import DataError, StateError
from tests.archive.readback import INFO, TOLD, page, read, read_all

URN = "urn:example:certificate"


def test_documents_follow_what_the_run_wrote(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(started=1000))
    with Drafts() as drafts, document_file(tmp_path, "example.org", "run1", TOLD, 2000, drafts) as documents:
        refs = [documents.write(URN, 2000 + number, b'{"a": %d}' % number, "application/json") for number in (1, 2)]
        assert not (tmp_path / refs[0].file).exists(), "not before the other drafts"
    path = tmp_path / refs[0].file
    assert path.name == "example.org-19700101003320-00001-run1.warc.gz"
    about, *written = read(path)
    assert (about.kind, about["WARC-Filename"]) == ("warcinfo", path.name)
    assert about.block == read_all(tmp_path)[0].block.replace(b"deduplication: capture", b"deduplication: off")
    for record, ref, number in zip(written, refs, (1, 2), strict=True):
        assert (record.kind, record["WARC-Target-URI"], record["Content-Type"]) == ("metadata", URN, "application/json")
        assert (record.offset, record.length, record.block) == (ref.offset, ref.length, b'{"a": %d}' % number)
        assert record["WARC-Warcinfo-ID"] == about["WARC-Record-ID"]
    assert index_path(path).read_bytes() == b""
    assert are_finished(tmp_path)


def test_what_is_not_finished_leaves_nothing(tmp_path):
    with (
        pytest.raises(DataError, match="not a URI"),
        Drafts() as drafts,
        document_file(tmp_path, "example.org", "run1", TOLD, 2000, drafts) as documents,
    ):
        documents.write("urn:x y", 2000, b"{}", "application/json")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_being_written_has_no_next_file(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(started=1000))
        with (
            pytest.raises(StateError, match="is being written by another writer"),
            Drafts() as drafts,
            document_file(tmp_path, "example.org", "run1", TOLD, 2000, drafts),
        ):
            raise AssertionError
