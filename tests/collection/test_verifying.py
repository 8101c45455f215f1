from __future__ import annotations

import json
import re
import shutil
import time
from http.server import BaseHTTPRequestHandler
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.replay import downloaded, elsewhere
from sharc_crawler.cli import main
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.packaging import package_collection
from sharc_crawler.collection.verifying import verify_collection
from sharc_crawler.collection.verifying_package import verify_package
from sharc_crawler.plural import counted
from sharc_crawler.storage.opening import USUAL, begin_state
from tests.collection.damaged import damage
from tests.live import warm
from tests.live.serving import Answering, serving


@pytest.fixture
def copied(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    return Collection(tmp_path / "kept")


def test_each_certificate_holds_over_the_former_captures(collected):
    found, without = verify_collection(collected.collection)
    assert (found.findings, found.elsewhere, without) == ([], 0, [])
    assert len(found.digests) == 2


def test_each_claim_names_its_capture_and_its_digest(copied):
    told = CliRunner().invoke(main, ["verify", str(copied.folder)]).stdout.splitlines()
    for one in copied.captures():
        name = one.folder.relative_to(copied.folder).as_posix()
        digest = json.loads((one.folder / "certificate.json").read_text())["digest"]
        (at,) = [place for place, line in enumerate(told) if line.startswith(f"{name}: ")]
        assert told[at + 1] == f"  digest {digest}"
    asked = json.loads(CliRunner().invoke(main, ["verify", str(copied.folder), "--json"]).stdout)
    assert asked["captures"] == [one.folder.relative_to(copied.folder).as_posix() for one in copied.captures()]


def test_a_capture_that_others_refer_to_is_missed(copied):
    first, second = (one.folder for one in copied.captures())
    shutil.rmtree(first)
    (finding,) = verify_collection(copied)[0].findings
    assert second.name in str(finding)
    assert "payloads that it refers to are in no capture of the collection" in str(finding)
    times = downloaded([second])
    assert 1 <= len(times) <= elsewhere([second]), "when the capture that holds them made them"
    assert all(date.startswith("20") for date in times)


def test_payloads_in_a_capture_of_a_later_date_are_found(copied):
    """The clock was set back between the two."""
    first, _ = (one.folder for one in copied.captures())
    later = copied.capture_folder(first.parent.name, time.time())
    first.rename(later)
    (finding,) = verify_collection(copied)[0].findings
    assert "it began at" in str(finding), "the folder's name is of another time, no more"


def copied_to(capture, collection, began, stamp):
    """A capture once more, as if made at another time; its WARC files and its certificate are lost."""
    shutil.copytree(capture, other := collection.capture_folder(capture.parent.name, began))
    for warc in other.glob("*.warc.gz"):
        warc.unlink()
    (other / "certificate.json").unlink()
    for index in other.glob("*.cdxj"):
        index.write_text(re.sub(r"(?m)^(\S+) \d{14} ", rf"\1 {stamp} ", index.read_text()))
    return other


@pytest.mark.parametrize("later", [False, True])
def test_a_capture_that_lost_its_files_takes_nothing_from_what_others_hold(copied, later):
    first, second = (one.folder for one in copied.captures())
    began = time.time() if later else time.time() - 9 * 86_400
    lost = copied_to(first, copied, began, "20260101000000")
    found, _ = verify_collection(copied)
    accused = {str(one) for one in found.findings if lost.name not in str(one)}
    assert (accused, second.relative_to(copied.folder).as_posix() in found.captures) == (set(), True)
    package_collection(copied, copied.folder / "all.wacz")
    whole, _ = verify_package(copied.folder / "all.wacz")
    assert [str(one) for one in whole.findings] == []


def test_of_a_capture_that_does_not_hold_a_share_is_shown_and_those_that_hold_are_named(copied):
    first, second = (one.folder.relative_to(copied.folder).as_posix() for one in copied.captures())
    (copied.folder / second / "certificate-pages.jsonl").write_text("")
    found, _ = verify_collection(copied)
    told = CliRunner().invoke(main, ["verify", str(copied.folder)]).stdout
    assert f"  {second}: {counted(len(found.findings), 'finding')}" in told
    assert f"  All of it holds of 1 capture: {first}" in told
    for warc in (copied.folder / first).glob("*.warc.gz"):
        warc.unlink()
    told = CliRunner().invoke(main, ["verify", str(copied.folder)]).stdout
    assert f"{second}: " in told and f"{first}: " in told and "All of it holds" not in told
    assert "more (--json shows all)" in told


def test_a_capture_that_is_taken_in_without_what_it_refers_to_is_named_with_the_way_out(copied, tmp_path):
    first, second = (one.folder for one in copied.captures())
    told = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "alone"), str(second)])
    assert told.exit_code == 3, told.output
    assert f"in no capture of the collection: sharc collection add {tmp_path / 'alone'} the former" in told.stderr
    told = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "alone"), str(first)])
    assert told.exit_code == 0, told.output
    both = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "both"), str(second), str(first)])
    assert both.exit_code == 0, both.output


def test_captures_on_another_disk_are_a_finding_with_a_way_out(copied, tmp_path):
    (tmp_path / "link").symlink_to(copied.folder)
    assert verify_collection(Collection(tmp_path / "link"))[0].findings == []
    moved = (copied.folder / "captures").rename(tmp_path / "larger")
    (copied.folder / "captures").symlink_to(moved)
    found, _ = verify_collection(copied)
    assert [str(one) for one in found.findings] == [
        "captures: a folder that lies elsewhere; mount it there in place of the link, or move the whole collection,"
        " whose own folder may be a link"
    ]
    told = CliRunner().invoke(main, ["verify", str(copied.folder)]).stdout
    assert "  All of it holds of 2 captures: captures/" in told


def test_what_is_altered_or_open_is_named_with_its_capture(copied):
    first, second = (one.folder for one in copied.captures())
    (second / "certificate.json").unlink()
    pages = first / "certificate-pages.jsonl"
    pages.write_text(pages.read_text().replace('"coherent"', '"changed"', 1))
    told = CliRunner().invoke(main, ["verify", str(copied.folder)])
    assert told.exit_code == 3
    assert f"{first.relative_to(copied.folder)}/" in told.stdout
    assert f"not verified: {second.relative_to(copied.folder)}" in told.stderr


def test_a_capture_that_runs_is_said_to_and_an_index_of_before_it(copied):
    CliRunner().invoke(main, ["collection", str(copied.folder)])
    (folder := copied.capture_folder(copied.names()[0], time.time())).mkdir(parents=True)
    store = begin_state(folder, USUAL)
    try:
        told = CliRunner().invoke(main, ["verify", str(copied.folder)])
    finally:
        store.close()
    assert told.exit_code == 0, told.output
    assert f"not verified: {folder.relative_to(copied.folder)}: it is being captured" in told.stderr
    assert told.stdout.startswith("All that has a certificate holds: ")
    index = copied.folder / "index.json"
    index.write_text(index.read_text().replace('"complete": true', '"complete": false'))
    told = CliRunner().invoke(main, ["verify", str(copied.folder)])
    assert f"The index is out of date, or altered: sharc collection {copied.folder} makes it again." in told.stdout


def test_of_a_capture_that_refers_to_former_ones_a_package_says_what_is_not_in_it(copied):
    first, second = (one.folder for one in copied.captures())
    told = CliRunner().invoke(main, ["package", str(second)])
    assert told.exit_code == 0, told.output
    assert "not in it, but in former captures of the site" in told.stderr
    assert f"sharc package {copied.folder} has all of them" in told.stderr
    assert "not in it" not in CliRunner().invoke(main, ["package", str(first)]).stderr


def test_of_a_folder_around_captures_each_is_packaged_and_what_cannot_be_is_named(copied, tmp_path):
    first, second = (one.folder for one in copied.captures())
    (around := tmp_path / "runs" / "NAME").mkdir(parents=True)
    for folder in (first, second):
        shutil.move(folder, around / folder.name)
    (around / second.name / "frontier.db").unlink()
    told = CliRunner().invoke(main, ["package", str(tmp_path / "runs")])
    assert (told.exit_code, [*around.glob("*/*.wacz")]) == (3, [*(around / first.name).glob("*.wacz")]), told.output
    assert f"not packaged: '{around / second.name}' holds no capture" in told.stderr
    assert f"1 capture of {tmp_path / 'runs'} could not be packaged" in told.stderr
    told = CliRunner().invoke(main, ["verify", str(tmp_path / "runs")])
    assert (told.exit_code, "Everything holds" in told.stdout) == (0, True), told.output


def test_a_damaged_record_is_named_in_the_capture_that_holds_it_with_those_that_refer_to_it(copied):
    first, second = (one.folder for one in copied.captures())
    warc = damage(first, "tides.html")
    told = [one for one in verify_collection(copied)[0].findings if warc.name in str(one.file)]
    place, later = (one.relative_to(copied.folder).as_posix() for one in (warc, second))
    assert {one.file for one in told} == {place}, "a file that is there"
    assert any(one.what.endswith(f"; {later} refers to it") for one in told)


@pytest.mark.parametrize(("damage", "code"), [(Path.unlink, 0), (lambda index: index.write_text("x y z\n"), 3)])
def test_an_index_that_is_missing_or_damaged_is_named_and_the_payloads_are_found_all_the_same(copied, damage, code):
    first, _ = (one.folder for one in copied.captures())
    (index, *_) = sorted(first.glob("*.cdxj"))
    damage(index)
    found = [str(one) for one in verify_collection(copied)[0].findings]
    assert any(f"{index.name}: the index is missing, or cannot be read" in one for one in found), found
    assert not any("in no capture of the collection" in one for one in found)
    done = CliRunner().invoke(main, ["package", str(copied.folder)])
    assert (done.exit_code, "not packaged: " in done.stderr) == (code, code > 0), done.output
    (first / "certificate.json").write_text("{")
    done = CliRunner().invoke(main, ["certify", str(copied.folder), "--at", "2026-11-25T12:00"])
    assert done.exit_code == 3
    assert "has a certificate that cannot be read" in done.output


def test_a_collection_without_a_certificate_does_not_hold_and_neither_does_its_package(copied, tmp_path):
    for one in copied.captures():
        for path in one.folder.glob("certificate*"):
            path.unlink()
    told = CliRunner().invoke(main, ["verify", str(copied.folder)])
    assert told.exit_code == 3
    assert "holds no certificate: none of its 2 captures has one" in told.stderr
    assert "Everything holds" not in told.output
    package_collection(copied, whole := tmp_path / "all.wacz")
    told = CliRunner().invoke(main, ["verify", str(whole)])
    assert told.exit_code == 3
    assert f"{str(whole)!r} holds no certificate: none of its 2 captures has one" in told.stderr


def test_a_capture_that_cannot_be_copied_leaves_nothing_and_what_a_killed_copy_left_is_no_finding(copied, tmp_path):
    first, second = (one.folder for one in copied.captures())
    source = shutil.copytree(first, tmp_path / "source")
    (source / "odd").symlink_to("nowhere")
    told = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "new"), str(source)])
    assert told.exit_code == 3, told.output
    assert f"capture={str(source)!r} cannot be copied to " in told.stderr and "No such file" in told.stderr
    assert [*(tmp_path / "new" / "captures").rglob("*.warc.gz")] == []
    shutil.copytree(second, first.with_name(".20260101T000000Z.adding"))
    found, _ = verify_collection(copied)
    assert [str(one) for one in found.findings] == []


@pytest.mark.slow
def test_bytes_that_are_said_to_be_packed_otherwise_by_now_are_there_all_the_same(tmp_path):
    codings = cycle(("utf-8", "none"))

    class Odd(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path in ("/", "/odd")
            more = {"Content_Encoding": next(codings)} if self.path == "/odd" else {}
            self.answer(
                b"<title>%s</title><a href=/odd>odd</a>" % self.path.encode(), status=200 if known else 404, **more
            )

    with serving(Odd) as url:
        for _ in range(3):
            words = warm.site_words(url=url, delay="0", sitemap="off", collection=str(tmp_path / "kept"))
            done = warm.finished(words, tmp_path, timeout=280)
            assert done.returncode == 0, done.stderr
    found, _ = verify_collection(Collection(tmp_path / "kept"))
    assert [str(one) for one in found.findings] == []
