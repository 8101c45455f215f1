"""Words for people: the report as it was sealed, and what a package says of itself, are those of a digest."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.canonical import DIGEST, to_text
from sharc_crawler.certificate.writing import certify
from sharc_crawler.cli import main
from sharc_crawler.report.html import render
from sharc_crawler.report.package_check import package_digest
from sharc_crawler.report.packaging import package
from sharc_crawler.report.unsealed import unsealed
from sharc_crawler.report.write import DATA, PAGES, Lines, to_json, write
from tests.certificate.forging import repacked, swap
from tests.certificate.made import make


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """As a crawl leaves it: the report is there when its certificate is sealed."""
    folder = tmp_path_factory.mktemp("words")
    facts = make(folder / "capture")
    write([facts], folder / "capture")
    certify([facts], folder / "capture")
    return folder / "capture", package(folder / "capture", [facts], folder / "capture.wacz"), facts


@pytest.fixture
def capture(original, tmp_path):
    return shutil.copytree(original[0], tmp_path / "capture")


def noted(folder):
    return json.loads((folder / "certificate.json").read_text())[DIGEST]


def said(path, *more):
    done = CliRunner().invoke(main, ["verify", str(path), *more])
    return done.exit_code, done.output


def reworded(folder, change):
    """Another report for programs, and the pages for people that are made of it."""
    report = json.loads((folder / DATA).read_text())
    change(report)
    (folder / DATA).write_text(to_json(report))
    for name, pieces in render(report, Lines(folder / PAGES)).items():
        (folder / name).write_bytes("".join(pieces).encode("utf-8", "replace"))


def test_a_setting_that_is_no_unicode_is_stated_as_it_was_given(tmp_path):
    """A folder's name, or an expression, of a terminal in Latin-1; both documents are of the same setting."""
    facts = replace(make(tmp_path), settings={"exclude": "/\udce4\ud800"})
    write([facts], tmp_path)
    certify([facts], tmp_path)
    assert json.loads((tmp_path / "certificate.json").read_text())["capture"]["settings"]["exclude"] == r"/\udce4\ud800"
    assert said(tmp_path)[0] == 0
    assert said(package(tmp_path, [facts], tmp_path / "capture.wacz"))[0] == 0


@pytest.mark.parametrize("stated", [5, [1.5], [None, {"name": []}], {"name": 1}, ["report.json"]], ids=str)
def test_what_a_certificate_should_state_of_the_report_and_does_not_is_found(capture, stated):
    path = capture / "certificate.json"
    document = json.loads(path.read_text())
    path.write_text(to_text({**document, "report": stated}))
    code, text = said(capture)
    assert (code, "digest" in text) == (3, True), text


WORDS = {
    "a note": lambda report: report["captures"][0]["notes"].append("A court has confirmed this."),
    "an expectation": lambda report: report["captures"][0]["coherence"]["expected"].update(coherent=7.0),
    "a plan": lambda report: report["captures"][0]["plans"]["hopeful"].update(coherent=9),
    "an author": lambda report: report["generator"].update(version="0.0.9"),
    "a count of exchanges": lambda report: report["captures"][0].update(exchanges=9_999),
}


@pytest.mark.slow
def test_what_is_as_it_was_sealed_is_not_mentioned(original):
    for path in original[:2]:
        code, text = said(path, "--digest", noted(original[0]))
        assert (code, "not certified" in text, unsealed(path)) == (0, False, [])


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", WORDS)
def test_other_words_of_a_report_are_told_and_with_the_digest_found(capture, original, case, tmp_path):
    reworded(capture, WORDS[case])
    code, text = said(capture)
    assert (code, "not certified: report" in text) == (0, True), "everything that is certified holds"
    code, text = said(capture, "--digest", noted(capture))
    assert (code, "report.json: it is not as it was when the certificate was sealed" in text) == (3, True)
    wacz = package(capture, [original[2]], tmp_path / "other.wacz")
    assert said(wacz, "--digest", noted(capture))[0] == 3


def test_a_report_that_is_gone_is_told_too(capture):
    (capture / PAGES).unlink()
    (capture / DATA).unlink()
    (capture / "report.html").unlink()
    assert unsealed(capture) == [PAGES, "report.html", DATA]
    told = f"not certified: {PAGES} (missing), report.html (missing), {DATA} (missing)."
    assert told in " ".join(said(capture)[1].split())


def test_a_report_of_old_is_told_for_what_it_is(capture, original):
    """Written anew by the same facts it is the same; with more of them it is not."""
    write([original[2]], capture)
    assert unsealed(capture) == []


ABOUT = {
    "title": swap(b'"title": "example.org ', b'"title": "Confirmed by a court: example.org '),
    "description": swap(b'"description": "', b'"description": "Confirmed by a court. '),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ABOUT)
def test_another_title_is_told_and_with_the_digest_of_the_package_found(original, tmp_path, case):
    wacz = original[1]
    other = repacked(wacz, tmp_path / "other.wacz", {"datapackage.json": ABOUT[case]})
    code, text = said(other, "--digest", noted(original[0]))
    assert (code, "not certified: title and description of the package" in text) == (0, True)
    digest = package_digest(wacz)
    assert said(wacz, "--digest", digest)[0] == 0
    code, text = said(other, "--digest", digest)
    assert (code, f"not {digest}" in text) == (3, True)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("text", [None, b"{", b"[]", b"{}"])
def test_a_package_whose_description_is_gone_or_cannot_be_read_is_a_finding_and_no_accident(original, tmp_path, text):
    path = tmp_path / "other.wacz"
    with zipfile.ZipFile(original[1]) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if (data := text if name == "datapackage.json" else old.read(name)) is not None:
                new.writestr(name, data)
    for more in ((), ("--digest", noted(original[0])), ("--json",)):
        assert said(path, *more)[0] == 3


@pytest.mark.slow
def test_a_file_that_is_called_otherwise_where_it_lies_is_a_finding_and_no_accident(original, tmp_path):
    """Its name stands in a zip file's directory, and before the file itself."""
    whole, path = original[1].read_bytes(), tmp_path / "other.wacz"
    with zipfile.ZipFile(original[1]) as package:
        names = package.namelist()
    for name in names:
        path.write_bytes(whole.replace(name.encode(), f"{name[:-1]}X".encode(), 1))
        code, text = said(path)
        assert (code, "Not as certified" in text or "differ" in text) == (3, True), name


@pytest.mark.slow
def test_a_title_of_ones_own_is_certified_by_the_digest_of_the_package(original, tmp_path):
    wacz = package(original[0], [original[2]], tmp_path / "own.wacz", title="Town council", description="Weekly.")
    assert "not certified: title" in said(wacz)[1]
    code, text = said(wacz, "--digest", package_digest(wacz))
    assert (code, "not certified" in text) == (0, False)


def put(name, text="Confirmed by a court."):
    def change(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return change


def without_an_index(folder):
    next(folder.glob("*.cdxj")).unlink()


#: nobody reads it as evidence; people may
ADDED = {
    "notes": put("notes.txt"),
    "a page": put("news.html"),
    "masks that were learned": put("learned-masks.json"),
    "a withdrawn confirmation": put(".withdrawn/confirmation-1/confirmation.json"),
    "what was cut off": put(".confirming/confirmation.json"),
    "a text in a confirmation": put("confirmation/notes.txt"),
    "a mended file as it was": lambda folder: put(f"{next(folder.glob('*.warc.gz')).name}.damaged")(folder),
    "an index that is gone": without_an_index,
}


@pytest.mark.matrix(3)
@pytest.mark.parametrize("case", ADDED)
def test_what_lies_in_the_folder_besides_is_told_and_with_the_digest_found(capture, case):
    ADDED[case](capture)
    code, text = said(capture)
    assert (code, "not certified: " in text) == (0, True) or "confirmation" in case
    code, text = said(capture, "--digest", noted(capture))
    assert (code, "it is not as it was when the certificate was sealed" in text) == (3, True)


@pytest.mark.slow
def test_what_a_crawl_set_aside_is_sealed_and_what_it_works_with_is_nobodys(tmp_path):
    folder = tmp_path / "capture"
    facts = make(folder)
    for name in ("learned-masks.json", ".withdrawn/confirmation-1/notes.txt", "a.warc.gz.damaged-2"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("as it was")
    write([facts], folder)
    certify([facts], folder)
    for name in ("frontier.db-wal", "crawl.jsonl", "crawl-00001.jsonl", "control.json", ".running", ".checksums"):
        (folder / name).write_text("of the crawl")
    assert (unsealed(folder), said(folder, "--digest", noted(folder))[0]) == ([], 0)
    for name in ("learned-masks.json", ".withdrawn/confirmation-1/notes.txt", "a.warc.gz.damaged-2"):
        (folder / name).write_text("as it was not")
        assert unsealed(folder) == [name]
        (folder / name).unlink()
        assert unsealed(folder) == [], "less is said"
