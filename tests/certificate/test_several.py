"""Folders that hold several captures: a crawl's of several sites, a fleet's."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError
from sharc_crawler.report import sites
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import package
from sharc_crawler.report.write import DATA, PAGES, write
from sharc_crawler.storage.gathered import folders_text
from tests.certificate.made import certified, make
from tests.report import by_hand


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    write([certified(folder)], folder)
    return folder


@pytest.fixture
def several(original, tmp_path):
    """Two captures, as a fleet leaves them."""
    for name in ("a", "b"):
        shutil.copytree(original, tmp_path / "captures" / name)
    return tmp_path / "captures"


def of_one_crawl(folder):
    folder.joinpath("sites.json").write_text(folders_text({"a.example": "a", "b.example": "b"}))
    sites.write_index(folder)


def found(folder):
    return "\n".join(map(str, [*verify(folder).findings, *not_of_it(folder)]))


def said(folder, *more):
    done = CliRunner().invoke(main, ["verify", str(folder), *more])
    return done.exit_code, done.output


@pytest.mark.slow
def test_all_captures_of_a_folder_are_verified(several):
    code, text = said(several)
    assert (code, text.count("3 of 7 pages were in this state together"), text.count("  digest ")) == (0, 2, 2)
    assert verify(several).pages == 14


def test_a_capture_that_is_not_done_is_said_not_to_be_verified(several):
    for path in several.glob("b/certificate*"):
        path.unlink()
    code, text = said(several)
    assert (code, "not verified: b: none was made for a capture that is not complete" in text) == (0, True)
    assert text.startswith("All that has a certificate holds: ")
    for path in several.glob("a/certificate*"):
        path.unlink()
    with pytest.raises(DataError, match="none of its 2 captures has one"):
        verify(several)


ALTERED = {
    "a report": (lambda f: edited(f / "b/report.html", "3 of 7", "7 of 7"), "b/report.html: the report is not that"),
    "a WARC file beside": (lambda f: (f / "more.warc.gz").write_bytes(b""), "more.warc.gz: a WARC file beside"),
    "an index beside": (lambda f: (f / "more.cdxj").write_bytes(b""), "more.cdxj: an index of no WARC file"),
    "a certificate beside": (
        lambda f: shutil.copy(f / "a/certificate.json", f / "certificate-a.json"), "certificate-a.json",
    ),
    "an index within": (
        lambda f: next(map(index_path, (f / "a").glob("*-00000-*.warc.gz"))).write_bytes(b""), "a/example.org",
    ),
}  # fmt: skip


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", ALTERED)
def test_what_is_altered_in_one_of_them_or_lies_beside_them_is_found(several, case):
    assert found(several) == ""
    of_one_crawl(several)
    assert found(several) == ""
    ALTERED[case][0](several)
    assert ALTERED[case][1] in found(several)


INDEXES = {
    "another claim": (lambda f: edited(f / "index.json", "3 of 7", "7 of 7"), "not what the report of a.example says"),
    "another claim for people": (lambda f: edited(f / "index.html", "3 of 7", "7 of 7"), "not that of its data"),
    "a site less": (lambda f: without(f, "b.example"), "its sites are not those of the crawl"),
    "more that are complete": (lambda f: edited(f / "index.json", '"complete": 2', '"complete": 9'), "its sites are"),
    "no index": (lambda f: (f / "index.json").write_text("[]"), "the index of sites cannot be read"),
}


def without(folder, site):
    data = json.loads((folder / "index.json").read_text())
    data["sites"] = [one for one in data["sites"] if one["site"] != site]
    (folder / "index.json").write_text(json.dumps(data))


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", INDEXES)
def test_the_index_of_sites_is_that_of_their_reports(several, case):
    of_one_crawl(several)
    INDEXES[case][0](several)
    assert INDEXES[case][1] in found(several)
    assert said(several)[0] == 3


@pytest.mark.slow
def test_an_index_that_knows_a_site_that_was_moved_since_holds(several, tmp_path):
    of_one_crawl(several)
    (several / "b").rename(tmp_path / "b")
    assert found(several) == ""
    code, text = said(several)
    assert (code, "not verified: b.example, whose folder was moved" in text) == (0, True)


@pytest.fixture(scope="module")
def beside_nothing(tmp_path_factory):
    """A project's capture of two hosts, one of which was refused: nothing of it was asked for."""
    folder = tmp_path_factory.mktemp("refused")
    refused = by_hand.facts(by_hand.page("http://10.1.2.3/", reason="a private address"))
    captures = [make(folder), replace(refused, site="10.1.2.3", seeds=("http://10.1.2.3/",))]
    write(captures, folder)
    certify(captures, folder)
    return folder, package(folder, captures, folder.with_suffix(".wacz"))


@pytest.mark.slow
def test_a_host_of_which_nothing_was_downloaded_needs_no_certificate(beside_nothing):
    for path in beside_nothing:
        assert (found(path), said(path)[0]) == ("", 0)
        assert "not certified" not in said(path)[1]


OWED = {
    "a page": lambda one: one["coherence"].update(captured=1, coherent=1),
    "a resource": lambda one: one["resources"].update(captured=1),
    "a file": lambda one: one["warcs"].append("a.warc.gz"),
    "an exchange": lambda one: one.update(exchanges=1),
    "a claim": lambda one: one["claim"].update(sentence="All 9 pages were in this state together."),
    "a statement": lambda one: one["claim"].update(statement="All 9 pages were in this state together"),
    "a page that is listed": None,
}


@pytest.mark.parametrize("case", OWED)
def test_a_host_of_which_the_report_shows_something_is_found_without_a_certificate(beside_nothing, tmp_path, case):
    folder = shutil.copytree(beside_nothing[0], tmp_path / "altered")
    if change := OWED[case]:
        report = json.loads((folder / DATA).read_text())
        change(report["captures"][1])
        (folder / DATA).write_text(json.dumps(report))
    else:
        *lines, last = (folder / PAGES).read_text().splitlines()
        listed = json.dumps({**json.loads(last), "verdict": "coherent"})
        (folder / PAGES).write_text("\n".join([*lines, listed, ""]))
    assert "the report's captures are not those of the certificates" in found(folder)


def test_a_host_whose_certificate_is_gone_is_found_whatever_the_report_says(beside_nothing, tmp_path):
    folder = shutil.copytree(beside_nothing[0], tmp_path / "altered")
    next(folder.glob("certificate-example.org.json")).rename(folder / "certificate-10.1.2.3.json")
    assert found(folder) != ""


@pytest.fixture
def runs(several):
    """A capture beside a project's runs (``captures/NAME/TIME``), one of them of two sites."""
    for name, place in {"books": "20261126T190000Z", "sites": "20261126T200000Z/a", "none": "1/2/3"}.items():
        shutil.copytree(several / "b", several / name / place)
    shutil.copytree(several / "b", several / "sites/20261126T200000Z/b")
    of_one_crawl(several / "sites/20261126T200000Z")
    shutil.rmtree(several / "b")
    return several


@pytest.mark.slow
def test_captures_are_found_several_folders_down_whatever_lies_beside_them(runs):
    code, text = said(runs)
    assert (code, text.count("3 of 7 pages were in this state together")) == (0, 5), text
    shutil.rmtree(runs / "a")
    assert said(runs)[0] == 0, "with none directly in it"


@pytest.mark.slow
def test_what_lies_deeper_is_no_capture_and_does_not_go_unseen(runs):
    (runs / "none/1/2/3").rename(runs / "none/1/2/x")
    (runs / "none/1/2/3/4").mkdir(parents=True)
    (runs / "none/1/2/x").rename(runs / "none/1/2/3/4/5")
    assert "none/1/2/3/4/5/certificate.json: a certificate in a place of none" in found(runs)


BESIDE = {
    "within a capture": ("books/20261126T190000Z/sub/more.warc.gz", "a WARC file beside those that a certificate"),
    "a certificate within a capture": ("books/20261126T190000Z/x/certificate.json", "a certificate in a place of none"),
    "between captures": ("books/report.json", "a document beside those of the capture"),
    "in a folder of none": ("notes/old.cdxj", "an index of no WARC file"),
}


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", BESIDE)
def test_what_is_added_among_gathered_captures_is_found(runs, case):
    name, what = BESIDE[case]
    (runs / name).parent.mkdir(exist_ok=True)
    (runs / name).write_bytes(b"{}")
    assert f"{name}: {what}" in found(runs)


@pytest.mark.slow
def test_the_index_of_gathered_sites_is_that_of_their_reports(runs):
    edited(runs / "sites/20261126T200000Z/index.json", "3 of 7", "7 of 7")
    assert "sites/20261126T200000Z/index.json: it is not what the report of a.example says" in found(runs)


@pytest.mark.slow
def test_a_collection_among_captures_is_a_unit_and_named(runs):
    shutil.move(runs / "a", runs / "kept/captures/site/20261126T180000Z")
    (runs / "kept/collection.yaml").write_text("sites: [http://a.example/]\n")
    code, text = said(runs)
    assert (code, f"not verified: kept: it is a collection: sharc verify {runs / 'kept'}" in text) == (0, True), text


def test_of_a_folder_without_captures_it_is_said(tmp_path):
    (tmp_path / "some").mkdir()
    with pytest.raises(DataError, match="holds no certificate: there is no capture in it, nor in folders up to 4"):
        verify(tmp_path)
