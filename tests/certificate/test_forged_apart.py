"""Parts taken from another capture of the same site, parts of a site exchanged, and what a package lists, altered."""

from __future__ import annotations

import json
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate import sealing
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.writing import certify
from sharc_crawler.cli import main
from sharc_crawler.report.packaging import PackageSeal, package
from sharc_crawler.report.write import write
from tests.certificate.forging import entry, forge, repacked
from tests.certificate.made import divided, make
from tests.certificate.test_sealing import key_file
from tests.certificate.time_authority import TimeAuthority

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two captures of one site, signed by one key and stamped by one authority, with their packages."""
    top = tmp_path_factory.mktemp("two")
    key, authority = key_file(top / "key.pem"), TimeAuthority(top / "authority")
    made = []
    for run in ("run1", "run2"):
        folder = top / run
        folder.mkdir()
        facts = make(folder, run=run)
        write([facts], folder)
        certify([facts], folder)
        sealing.sign(folder, key)
        sealing.stamp(folder, authority.stamp)
        made.append((folder, package(folder, [facts], top / f"{run}.wacz", seal=PackageSeal(key))))
    return made


def code(path: Path, noted: str | None = None) -> int:
    done = CliRunner().invoke(main, ["verify", str(path), *(("--digest", noted) if noted else ())])
    assert done.exit_code in (0, 3), (done.output, done.exception)
    return done.exit_code


def digest(folder: Path) -> str:
    return str(json.loads((folder / "certificate.json").read_text())[DIGEST])


TAKEN = [
    ["signature.json"],
    ["timestamp.tsr"],
    ["signature.json", "timestamp.tsr"],
    ["certificate.json"],
    ["certificate.json", "certificate-pages.jsonl"],
    ["certificate.json", "certificate-pages.jsonl", "signature.json", "timestamp.tsr"],
    ["certificate-pages.jsonl"],
    ["report.json"],
    ["report.html"],
    ["report-pages.jsonl"],
]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("names", TAKEN, ids=", ".join)
def test_what_is_taken_from_another_capture_is_found(two, tmp_path, names):
    (own, _), (other, _) = two
    folder = shutil.copytree(own, tmp_path / "capture")
    assert code(folder, digest(own)) == 0
    for name in names:
        shutil.copy(other / name, folder)
    assert code(folder) == 3


@pytest.mark.parametrize("corrected", [False, True])
def test_the_signature_of_another_package_is_found(two, tmp_path, corrected):
    with zipfile.ZipFile(two[1][1]) as other:
        taken = json.loads(other.read("datapackage-digest.json"))["signedData"]
    path = tmp_path / "forged.wacz"
    with zipfile.ZipFile(two[0][1]) as own, zipfile.ZipFile(path, "w") as new:
        for info in own.infolist():
            data = own.read(info)
            if info.filename == "datapackage-digest.json":
                seal = json.loads(data)
                seal["signedData"] = taken | ({"hash": seal["hash"]} if corrected else {})
                data = json.dumps(seal, indent=2).encode()
            new.writestr(zipfile.ZipInfo(info.filename, info.date_time), data)
    assert code(path) == 3


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(change(data.splitlines(keepends=True)))


def described(change: Callable[[dict], dict]) -> dict[str, Callable[[bytes], bytes]]:
    return {"datapackage.json": lambda data: json.dumps(change(json.loads(data)), indent=2).encode()}


def listed(old: bytes, new: bytes) -> dict[str, Callable[[bytes], bytes]]:
    return {"pages/pages.jsonl": lambda data: data.replace(old, new)}


PARTS = {
    "titles": listed(b'"title": "http://example.org/equal"', b'"title": "Forged"'),
    "times": listed(b"2026-11-18T11:06", b"2026-11-18T11:05"),
    "pages in another order": {"pages/pages.jsonl": lines(lambda all_: [all_[0], *reversed(all_[1:])])},
    "a page twice": {"pages/pages.jsonl": lines(lambda all_: [*all_, all_[1]])},
    "a page less": {"pages/pages.jsonl": lines(lambda all_: all_[:-1])},
    "the head of the list": listed(b'"title": "Pages"', b'"title": "All pages"'),
    "the text of a page": listed(b'"download": "visit"', b'"download": "visit", "text": "forged"'),
    "a place in the index's blocks": {"indexes/index.idx": lambda data: data.replace(b"0", b"1", 1)},
    "fields in another order": described(lambda about: dict(sorted(about.items()))),
    "a field more": described(lambda about: about | {"keywords": ["verified"]}),
    "another version": described(lambda about: about | {"wacz_version": "1.0.0"}),
    "another page opened first": described(lambda about: about | {"mainPageUrl": "http://example.org/other"}),
    "another report": {"report/report.html": lambda data: data.replace(b"3 of 7", b"7 of 7")},
}
MORE = {
    "further pages": {"pages/extraPages.jsonl": b"{}"},
    "a package within": {"archive/more.wacz": b"PK"},
    "an archive in capitals": {"archive/MORE.WARC.GZ": b""},
    "a confirmation of nobody": {"confirmation/confirmation.json": b"{}"},
    "a signature more": {"certificate/signature-2.json": b"{}"},
}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("case", [*PARTS, *MORE])
def test_a_package_altered_with_all_its_digests_is_found_by_the_certificate_s_too(two, tmp_path, case):
    (folder, own), _ = two
    path = repacked(own, tmp_path / "forged.wacz", PARTS.get(case, {}), MORE.get(case))
    assert code(path) == 3
    assert code(path, digest(folder)) == 3


def test_packed_again_without_a_change_it_holds(two, tmp_path):
    assert code(repacked(two[0][1], tmp_path / "same.wacz", {}), digest(two[0][0])) == 0


@pytest.fixture(scope="module")
def parted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parted")
    divided(folder)
    return folder


def moved(name: str, to: str) -> Callable[[dict], object]:
    return lambda document: entry(document, name).update(subsite=to)


def of_the_other(field: str) -> Callable[[dict], object]:
    return lambda document: document["subsites"][0].update({field: document["subsites"][1][field]})


def renamed(document: dict) -> None:
    for part in document["subsites"]:
        part["name"] = {"docs": "news", "news": "docs"}[part["name"]]


def all_in_one(document: dict) -> None:
    for page in (*document["pages"], *document["not_captured"]):
        page["subsite"] = "docs"
    document["subsites"].pop()


SUBSITES = {
    "a changed page moved": moved("changed", "docs"),
    "a coherent page moved": moved("modest", "news"),
    "a page that is not captured moved": moved("private", "news"),
    "names exchanged": renamed,
    "a part more": lambda d: d["subsites"].append({**d["subsites"][0], "name": "all"}),
    "a part less": lambda d: d["subsites"].pop(),
    "T of the other part": of_the_other("reference"),
    "totals of the other part": of_the_other("totals"),
    "the claim of the other part": of_the_other("claim"),
    "one instant for all": lambda d: d["capture"].update(reference=d["subsites"][0]["reference"]),
    "a wider interval": lambda d: d["subsites"][0]["reference"].update(to="2026-11-18T12:00:00.000000Z"),
    "all in one part": all_in_one,
}


@pytest.mark.matrix
@pytest.mark.parametrize("case", SUBSITES)
def test_parts_of_a_site_cannot_be_exchanged(parted, tmp_path, case):
    folder = shutil.copytree(parted, tmp_path / "capture")
    forge(folder, SUBSITES[case])
    assert code(folder) == 3


@pytest.mark.slow
def test_the_order_of_parts_is_certified_by_the_digest(parted, tmp_path):
    folder = shutil.copytree(parted, tmp_path / "capture")
    noted = digest(folder)
    forge(folder, lambda document: document["subsites"].reverse())
    assert (code(folder), code(folder, noted)) == (0, 3)
