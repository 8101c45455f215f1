from __future__ import annotations

import gzip
import io
import json
import shutil
import signal
import tracemalloc
import zipfile
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.wacz import PACKAGE, SEAL, zip_date
from sharc_crawler.archive.wacz_check import altered
from sharc_crawler.certificate import material
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.collection.certifying import CERTIFICATES
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.packaging import package_collection
from sharc_crawler.collection.verifying_package import verify_package
from sharc_crawler.errors import UsageError
from tests.live.warm import finished


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


def test_the_whole_is_verified_and_its_title_told(packaged):
    whole, parts = packaged
    found = CliRunner().invoke(main, ["verify", str(whole)])
    assert found.exit_code == 0, found.output
    assert "not certified: title and description of the package" in found.output
    digests = [json.loads(zipfile.ZipFile(part).read("certificate/certificate.json"))["digest"] for part in parts]
    assert all(f"  digest {one}" in found.output for one in digests)


FORGED = {
    "a part is gone": lambda files, parts: files.pop(parts[0]),
    "a capture is there twice": lambda files, parts: _first(files, parts[0].replace("-20", "-19"), files[parts[0]]),
    "parts change places": lambda files, parts: files.update(
        dict(zip(parts, [files[one] for one in parts[::-1]], strict=True))
    ),
    "a part of another time": lambda files, parts: _first(files, parts[1].replace("-20", "-29"), files.pop(parts[1])),
    "something else": lambda files, parts: _first(files, "readme.txt", b"x"),
    "a part is no package": lambda files, parts: files.update({parts[0]: b"x"}),
    "a part is altered": lambda files, parts: files.update({parts[0]: _altered(files[parts[0]])}),
    "other numbers": lambda files, _: _about(files, description="9 captures of 2 sites."),
    "older than its captures": lambda files, _: _about(files, created="1999-01-01T00:00:00Z"),
    "made by others": lambda files, _: _about(files, software="another"),
    "opens elsewhere": lambda files, _: _about(files, mainPageUrl="http://b.example/"),
}


def _first(files, name, data):
    others = dict(files)
    files.clear()
    files.update({name: data, **others})


def _about(files, **fields):
    files[PACKAGE] = json.dumps(json.loads(files[PACKAGE]) | fields).encode()


def _altered(part):
    files = _files(io.BytesIO(part))
    name = "pages/pages.jsonl"
    out = io.BytesIO()
    _write(out, files | {name: files[name].replace(b'"title": "', b'"title": "Another ', 2)})
    return out.getvalue()


def _files(path):
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def _write(path, files):
    """As sharc writes it, digests and all."""
    about = json.loads(files[PACKAGE])
    data = {name: text for name, text in files.items() if name not in (PACKAGE, SEAL)}
    about["resources"] = [
        {
            "name": name.rpartition("/")[2],
            "path": name,
            "hash": f"sha256:{sha256(text).hexdigest()}",
            "bytes": len(text),
        }
        for name, text in data.items()
    ]
    text = json.dumps(about, indent=2, ensure_ascii=False).encode()
    seal = json.dumps({"path": PACKAGE, "hash": f"sha256:{sha256(text).hexdigest()}"}, indent=2).encode()
    when = zip_date(datetime.fromisoformat(about["created"]).timestamp())
    with zipfile.ZipFile(path, "w") as package:
        for name, content in {**data, PACKAGE: text, SEAL: seal}.items():
            info = zipfile.ZipInfo(name, when)
            info.external_attr = 0o600 << 16
            package.writestr(info, content)


@pytest.mark.matrix
@pytest.mark.parametrize("forged", [None, *FORGED])
def test_a_whole_that_was_altered_in_our_form_is_found(packaged, tmp_path, forged):
    files, path = _files(packaged[0]), tmp_path / "all.wacz"
    if forged:
        FORGED[forged](files, [one.name for one in packaged[1]])
    _write(path, files)
    found, _ = verify_package(path)
    assert bool(found.findings) is bool(forged)
    assert not forged or not any("as sharc writes it" in one.what for one in found.findings), "the form is not enough"


def test_a_line_without_end_is_read_up_to_a_bound(packaged, tmp_path, monkeypatch):
    monkeypatch.setattr(material, "LONGEST_LINE", 1 << 16)
    size, files, path = 32 << 20, _files(packaged[1][1]), tmp_path / "all.wacz"
    line = b"a" * size
    files["indexes/index.cdx.gz"] = gzip.compress(line)
    part, whole = tmp_path / packaged[1][1].name, _files(packaged[0])
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as package:
        for one, content in files.items():
            package.writestr(one, content)
    _write(path, whole | {part.name: part.read_bytes()})
    del line, files, whole
    tracemalloc.start()
    try:
        assert verify_package(path)[0].findings
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()
    entries = material.PageEntries(lambda: io.BytesIO(b"[" + b" " * (1 << 16) + b"]"))
    for work in (list, material.PageEntries.strange):
        with pytest.raises(ValueError, match="Expecting value"):
            work(entries)


def test_what_is_there_is_not_replaced(packaged, collected):
    with pytest.raises(UsageError, match="exists and is left as it is"):
        package_collection(collected.collection, packaged[0])
    assert [one.name for one in packaged[0].parent.iterdir() if one.name.startswith(".")] == []


def changed(warc):
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 4
    warc.write_bytes(data)


def written(warc):
    warc.rename(f"{warc}.open")


@pytest.mark.parametrize(
    ("damage", "why"),
    [(Path.unlink, ""), (changed, ""), (written, "it is being captured, or was cut off")],
)
def test_a_damaged_or_unfinished_capture_is_left_out_and_named(collected, tmp_path, monkeypatch, damage, why):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    monkeypatch.chdir(tmp_path)  # the folder is typed as seen from there
    first, second = (one.folder for one in Collection(Path("kept")).captures())
    damage(next(first.glob("*.warc.gz")))
    (tmp_path / "kept" / CERTIFICATES).mkdir()
    (tmp_path / "kept" / CERTIFICATES / "127.0.0.1-20261120120000.json").touch()
    done = CliRunner().invoke(main, ["package", "kept"])
    assert done.exit_code == 3, "some of it is not packaged"
    assert f"not packaged: {first}{f': {why}' if why else '/'}" in done.stderr
    assert "1 capture of kept could not be packaged" in done.stderr
    assert "1 certificate is not in it, of other instants, in kept/certificates: sharc verify kept" in done.stderr
    with zipfile.ZipFile(tmp_path / "kept" / "kept.wacz") as package:
        (part,) = (name for name in package.namelist() if name.endswith(".wacz"))
    assert part.endswith(f"{second.name[:8]}{second.name[9:15]}.wacz")


def test_a_capture_whose_payloads_are_gone_is_named_and_packaged_all_the_same(collected, tmp_path, monkeypatch):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    monkeypatch.chdir(tmp_path)
    first, second = (one.folder for one in Collection(Path("kept")).captures())
    shutil.rmtree(first)
    done = CliRunner().invoke(main, ["package", "kept"])
    assert done.exit_code == 3
    assert f"  not whole: {second}: " in done.stderr
    assert "in no capture of the package" in done.stderr
    assert "1 capture needs payloads that none of them holds" in done.stderr
    assert (tmp_path / "kept" / "kept.wacz").exists()


#: as soon as the first part is there
KILLED = """
import os, signal
from pathlib import Path
from sharc_crawler.cli import main
replace = Path.replace
def killed(self, target):
    replace(self, target)
    os.kill(os.getpid(), signal.SIGKILL)
Path.replace = killed
main()
"""


@pytest.mark.slow
def test_what_a_killed_packaging_leaves_is_no_package_and_goes_with_the_next(collected, tmp_path):
    folder = shutil.copytree(collected.collection.folder, tmp_path / "kept")
    (tmp_path / "killed.py").write_text(KILLED)
    killed = finished(["package", str(folder)], tmp_path, program="killed.py")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = [path.name for path in folder.rglob("*") if ".wacz" in path.name]
    assert len(left) == 2, "a part, and the whole as far as it was written"
    assert all(name.startswith(".") and not name.endswith(".wacz") for name in left)
    told = CliRunner().invoke(main, ["verify", str(folder)])
    assert told.exit_code == 0, told.output
    assert CliRunner().invoke(main, ["package", str(folder)]).exit_code == 0
    assert [path.name for path in folder.rglob("*") if ".wacz" in path.name] == ["kept.wacz"]


def test_a_collection_whose_folder_is_renamed_holds_with_its_package(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    made = CliRunner().invoke(main, ["package", str(tmp_path / "kept")])
    assert made.exit_code == 0, made.output
    (tmp_path / "kept").rename(moved := tmp_path / "moved")
    told = CliRunner().invoke(main, ["verify", str(moved)])
    assert told.exit_code == 0, told.output
    assert f"not verified: kept.wacz: sharc verify {moved / 'kept.wacz'}" in told.stderr
    shutil.copy(moved / "kept.wacz", moved / "another.wacz")
    told = CliRunner().invoke(main, ["verify", str(moved)])
    assert told.exit_code == 3
    assert told.stdout.count("a package of another capture") == 2, "nobody knows which is its own"
    assert told.stdout.count("keep it in another folder") == 2


def test_a_collection_of_damaged_captures_is_not_packaged(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    for one in Collection(tmp_path / "kept").captures():
        for warc in one.folder.glob("*.warc.gz*"):
            warc.unlink()
    done = CliRunner().invoke(main, ["package", str(tmp_path / "kept")])
    assert (done.exit_code, done.stderr.count("not packaged: ")) == (3, 2), done.output


def words(name, old, new):
    """Some words of a file are others."""

    def alter(folder):
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return alter


def cut(folder):
    path = sorted(folder.glob("*.warc.gz"))[-1]
    path.write_bytes(path.read_bytes()[:-100])


def uncertified(folder):
    """Nothing states how large its WARC files were."""
    for path in folder.glob("certificate*"):
        path.unlink()
    cut(folder)


def added(folder):
    for end in (".warc.gz", ".cdxj"):
        shutil.copy(next(folder.glob(f"*{end}")), folder / f"added{end}")


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda folder: changed(next(folder.glob("*.warc.gz"))), ".warc.gz is not as it was certified"),
        (cut, "when the certificate was sealed"),
        (uncertified, "cut short"),
        (added, "added.warc.gz: this file is in no certificate"),
        (lambda folder: next(folder.glob("*.warc.gz")).unlink(), ".warc.gz is missing"),
        (words("certificate.json", '"strategy": "', '"strategy": "x'), "certificate.json: its digest is "),
        (words("certificate-pages.jsonl", '"evidence"', '"grounds"'), "certificate-pages.jsonl: its pages are not"),
        (words("report.json", '"coherent": ', '"coherent": 1'), "report.json: "),
    ],
)
def test_a_capture_that_was_altered_is_not_packaged_but_what_was_is_named(collected, tmp_path, damage, what):
    folder = tmp_path / "capture"
    shutil.copytree(next(iter(collected.collection.captures())).folder, folder)
    damage(folder)
    done = CliRunner().invoke(main, ["package", str(folder), "-o", str(tmp_path / "out.wacz")])
    assert done.exit_code == 3, done.output
    assert what in done.stderr
    assert f"sharc: error: {folder}/" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["capture"], "nothing is written, nor left half"
