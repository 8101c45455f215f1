from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.verifying import verify_collection


@pytest.fixture
def copied(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    return Collection(tmp_path / "kept")


def test_each_certificate_holds_over_the_former_captures(collected):
    found, without = verify_collection(collected.collection)
    assert (found.findings, found.elsewhere, without) == ([], 0, [])
    assert len(found.digests) == 2


def test_a_capture_that_others_refer_to_is_missed(copied):
    first, second = (one.folder for one in copied.captures())
    shutil.rmtree(first)
    (finding,) = verify_collection(copied)[0].findings
    assert second.name in str(finding)
    assert "payloads that it refers to are in no capture of the collection" in str(finding)


def test_what_is_altered_or_open_is_named_with_its_capture(copied):
    first, second = (one.folder for one in copied.captures())
    (second / "certificate.json").unlink()
    pages = first / "certificate-pages.jsonl"
    pages.write_text(pages.read_text().replace('"coherent"', '"changed"', 1))
    told = CliRunner().invoke(main, ["verify", str(copied.folder)])
    assert told.exit_code == 3
    assert f"{first.relative_to(copied.folder)}/" in told.stdout
    assert f"not verified: {second.relative_to(copied.folder)}" in told.stderr
