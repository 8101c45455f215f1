"""A confirmation in a package, signed and stamped: found, verified, named by its digest; and none of it altered."""

from __future__ import annotations

import json
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate import sealing
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.confirming import confirm
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED
from sharc_crawler.certificate.signatures import read_signer
from sharc_crawler.certificate.verify import Trust, verify
from sharc_crawler.cli import main
from sharc_crawler.collection.verifying_package import verify_package
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import PackageSeal, package
from tests.certificate.forging import repacked
from tests.certificate.made import SITE, certified
from tests.certificate.provisional import OLD, TOLD, later, provisional
from tests.certificate.test_sealing import key_file
from tests.certificate.time_authority import TimeAuthority

if TYPE_CHECKING:
    from pathlib import Path

STATED = f"{CONFIRMATION}/{CONFIRMED}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A capture confirmed, signed and stamped after it was packaged, and packaged again."""
    top = tmp_path_factory.mktemp("made")
    authority, key = TimeAuthority(top / "authority"), key_file(top / "key.pem")
    folder = top / "capture"
    facts = provisional(folder)
    sealing.sign(folder, key)
    sealing.stamp(folder, authority.stamp)
    before = package(folder, [facts], top / "before.wacz")
    confirm(folder, later(TOLD))
    unsigned = shutil.copytree(folder, top / "unsigned")
    written = [*sealing.sign(folder, key), *sealing.stamp(folder, authority.stamp)]
    assert [path.parent.name for path in written] == [CONFIRMATION] * 2
    after = package(folder, [facts], top / "after.wacz", seal=PackageSeal(key))
    return folder, before, after, unsigned, key, authority


def verified(path, *words):
    return CliRunner().invoke(main, ["verify", str(path), *map(str, words)])


def digests(folder: Path) -> list[str]:
    return [json.loads((folder / name).read_text())[DIGEST] for name in ("certificate.json", STATED)]


@pytest.mark.slow
def test_what_is_provisional_in_a_package_of_several_is_named_as_it_lies_there(made, tmp_path):
    _, before, *_ = made
    name, path = "example.org-20261118110000.wacz", tmp_path / "several.wacz"
    with zipfile.ZipFile(path, "w") as several:
        several.write(before, name)
    found, _ = verify_package(path)
    assert [one["folder"] for one in found.provisional] == [name]


@pytest.mark.slow
def test_folder_and_package_hold_and_say_what_stands(made):
    folder, before, after, _, key, authority = made
    trust = Trust(read_signer(str(key), key), authority.root)
    certificate, confirmation = digests(folder)
    for path in (folder, after):
        found = verify(path, trust=trust)
        assert ([*map(str, found.findings)], [*not_of_it(path)]) == ([], [])
        assert [one[DIGEST] for one in found.confirmations] == [confirmation]
        assert (found.seals.signed[f"{CONFIRMATION}/signature.json"], found.provisional) == (trust.signer, [])
        assert f"{CONFIRMATION}/timestamp.tsr" in found.seals.stamped
        assert verified(path, "--digest", certificate, "--digest", confirmation).exit_code == 0
        assert "a confirmation's digest is" in verified(path, "--digest", certificate).output
    assert verify(before).provisional[0]["pages"] == 3
    assert "confirm the folder that it was made of" in verified(before).output
    assert "nothing here has the digest" in verified(before, "--digest", certificate, "--digest", confirmation).output


def test_its_list_of_pages_and_its_description_claim_what_stands(made):
    with zipfile.ZipFile(made[2]) as opened:
        lines = [json.loads(line) for line in opened.read("pages/pages.jsonl").splitlines()[1:]]
        about = json.loads(opened.read("datapackage.json"))
    assert {one["url"].removeprefix(SITE): (one["verdict"], one["evidence"]) for one in lines} == {
        "still": ("coherent", "attested"),
        "late": ("changed", "attested"),
        "after": ("coherent", "provisional"),
    }
    assert "No longer claimed: 1 page" in about["description"]


def test_a_package_of_before_in_its_folder_waits_for_another_one(made, tmp_path):
    folder = shutil.copytree(made[0], tmp_path / "capture")
    shutil.copy(made[1], folder)
    found = verify(folder)
    assert found.findings == []
    assert [one["folder"] for one in found.provisional] == [str(folder / "before.wacz")]
    shutil.copy(made[2], folder)
    assert len(verify(folder).provisional) == 1


def test_who_names_a_signer_expects_the_confirmation_signed_too(made):
    _, _, _, unsigned, key, authority = made
    assert verify(unsigned).findings == []
    found = verify(unsigned, trust=Trust(read_signer(str(key), key), authority.root)).findings
    assert [*map(str, found)] == [f"{STATED}: it is not signed", f"{STATED}: it has no time stamp"]


def other_reading(made, folder: Path) -> None:
    """Another reading, in which nothing was lost, with the signature of the true one."""
    shutil.move(folder / CONFIRMATION, folder.parent / "old")
    confirm(folder, later(OLD))
    for name in ("signature.json", "timestamp.tsr"):
        shutil.copy(folder.parent / "old" / name, folder / CONFIRMATION)


FOLDERS = {
    "the signature of the certificate": (
        lambda made, f: shutil.copy(f / "signature.json", f / CONFIRMATION), "not of its digest by",
    ),
    "the time stamp of the certificate": (
        lambda made, f: shutil.copy(f / "timestamp.tsr", f / CONFIRMATION), "no time stamp of the certificate",
    ),
    "its signature on the certificate": (
        lambda made, f: shutil.copy(f / CONFIRMATION / "signature.json", f), "not of its digest by",
    ),
    "another reading under the same signature": (other_reading, "not of its digest by"),
    "a signature more": (
        lambda made, f: shutil.copy(f / "signature.json", f / CONFIRMATION / "signature-x.json"), "belongs to no",
    ),
    "a certificate within": (
        lambda made, f: shutil.copy(f / "certificate.json", f / CONFIRMATION), "a certificate in a place of none",
    ),
    "a package with another confirmation": (
        lambda made, f: repacked(made[2], f / "copy.wacz", {STATED: lambda data: data + b" "}), "a package of another",
    ),
    "a package of it where it is gone": (
        lambda made, f: (shutil.copy(made[2], f), shutil.rmtree(f / CONFIRMATION)), "a package of another",
    ),
    "without what it confirms": (
        lambda made, f: ([one.unlink() for one in f.glob("certificate*")], certified(f)), "",
    ),
}  # fmt: skip


@pytest.mark.matrix(3)
@pytest.mark.parametrize("case", FOLDERS)
def test_an_altered_folder_is_found(made, tmp_path, case):
    folder = shutil.copytree(made[0], tmp_path / "capture")
    alter, expected = FOLDERS[case]
    alter(made, folder)
    done = verified(folder)
    assert done.exit_code == 3, done.output
    assert expected in done.output


PARTS = {
    "a byte of the confirmation": {STATED: lambda data: data.replace(b'"confirmed": 1', b'"confirmed": 2')},
    "a lost page claimed in the list": {"pages/pages.jsonl": lambda data: data.replace(b'"changed"', b'"coherent"')},
    "confirmed in the list of pages": {
        "pages/pages.jsonl": lambda data: data.replace(b'"provisional"', b'"attested"'),
    },
    "a description that loses nothing": {
        "datapackage.json": lambda data: data.replace(b"No longer claimed: 1 page", b"No longer claimed: 0 pages"),
    },
    "a file more": {f"{CONFIRMATION}/notes.txt": lambda _: b"forged"},
    "a certificate in its place": {f"{CONFIRMATION}/certificate.json": lambda _: b"{}"},
}  # fmt: skip


def test_as_it_was_made_it_holds(made, tmp_path):
    assert verified(repacked(made[2], tmp_path / "same.wacz", {})).exit_code == 0


@pytest.mark.matrix(3)
@pytest.mark.parametrize("case", PARTS)
def test_an_altered_package_is_found(made, tmp_path, case):
    """All digests of the package are made anew."""
    change = {**PARTS[case]}
    more = {name: change.pop(name)(b"") for name in [*change] if name not in zipfile.ZipFile(made[2]).namelist()}
    repacked(made[2], tmp_path / "forged.wacz", change, more)
    assert verified(tmp_path / "forged.wacz").exit_code == 3
