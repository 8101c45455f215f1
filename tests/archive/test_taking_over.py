"""WARC files that change hands: sealed by the new owner, and left alone by the former one."""

from __future__ import annotations

import pytest

from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.taking_over import seal_former
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.errors import Superseded
from tests.archive.readback import INFO, page, read_all


def test_a_former_owner_that_goes_on_changes_nothing_of_what_was_sealed(tmp_path):
    former = WarcWriter(tmp_path, "example.org", "epoch-1", INFO, WarcOptions())
    former.write(page())
    former.sync()
    (sealed,) = seal_former(tmp_path, 2)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    former.write(page(b"later"))
    with pytest.raises(Superseded, match="took the file over"):
        former.close()
    former.abandon()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    assert sealed.name in kept
    assert [record.kind for record in read_all(tmp_path)] == ["warcinfo", "response", "request"]


def test_what_a_killed_owner_had_begun_to_write_goes(tmp_path):
    draft = tmp_path / ".report-pages.jsonl.13689"
    draft.write_text('{"url": ')
    seal_former(tmp_path, 2)
    assert not draft.exists()
