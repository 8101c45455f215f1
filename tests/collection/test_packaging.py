from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.wacz_check import altered
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.packaging import package_collection
from sharc_crawler.errors import UsageError


@pytest.fixture(scope="module")
def packaged(collected, tmp_path_factory):
    """The collection as one file, and its parts."""
    place = tmp_path_factory.mktemp("packaged")
    done = CliRunner().invoke(main, ["package", str(collected.collection.folder), "-o", str(place / "all.wacz")])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(place / "all.wacz") as package:
        package.extractall(place / "parts")
    return place / "all.wacz", sorted((place / "parts").glob("*.wacz"))


def test_each_capture_is_a_part_and_the_whole_says_what_it_needs(packaged):
    whole, (first, second) = packaged
    said = json.loads(whole.with_name("parts").joinpath("datapackage.json").read_text())
    assert said["profile"] == "multi-wacz-package"
    assert [one["name"] for one in said["resources"]] == [one["path"] for one in said["resources"]]
    assert [one["name"] for one in said["resources"]] == [first.name, second.name]
    assert said["title"] == "The harbour"
    assert "2 captures of 1 site. 1 of them needs payloads that former ones hold" in said["description"]
    assert second.name in said["description"]
    assert first.name not in said["description"]
    assert list(altered(whole)) == []


def test_a_part_verifies_with_its_former_ones(packaged):
    _, (first, second) = packaged
    assert verify(first).findings == []
    assert verify(first).elsewhere == 0
    assert verify(second).elsewhere > 0
    with_former = verify(second, [first])
    assert (with_former.findings, with_former.elsewhere) == ([], 0)


def test_who_verifies_the_whole_is_told_how(packaged):
    found = CliRunner().invoke(main, ["verify", str(packaged[0])])
    assert found.exit_code == 3
    assert "unpack it with unzip, then verify each" in found.stderr


def test_what_is_there_is_not_replaced(packaged, collected):
    with pytest.raises(UsageError, match="exists and is left as it is"):
        package_collection(collected.collection, packaged[0])
    assert [one.name for one in packaged[0].parent.iterdir() if one.name.startswith(".")] == []


def changed(warc):
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 4
    warc.write_bytes(data)


@pytest.mark.parametrize("damage", [Path.unlink, changed])
def test_a_damaged_capture_is_left_out_and_named(collected, tmp_path, monkeypatch, damage):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    monkeypatch.chdir(tmp_path)  # the folder is typed as seen from there
    first, second = (one.folder for one in Collection(Path("kept")).captures())
    damage(next(first.glob("*.warc.gz")))
    done = CliRunner().invoke(main, ["package", "kept"])
    assert done.exit_code == 0, done.output
    assert f"{first} is left out: {first}" in done.stderr
    with zipfile.ZipFile(tmp_path / "kept" / "kept.wacz") as package:
        (part,) = (name for name in package.namelist() if name.endswith(".wacz"))
    assert part.endswith(f"{second.name[:8]}{second.name[9:15]}.wacz")
