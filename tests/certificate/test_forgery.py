"""As a forger would: alterations that make all digests anew, each found without a noted digest, and with one."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.members import records
from sharc_crawler.archive.records import member
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.cli import main
from sharc_crawler.report.html import render
from sharc_crawler.report.packaging import package
from sharc_crawler.report.write import write
from tests.certificate.forging import entry, forge, forge_warc, is_page, repacked, rewrite
from tests.certificate.made import SITE, certified
from tests.certificate.test_strays import (
    AT_T,
    FORGED,
    certificates_warc,
    data_warc,
    in_the_data,
    metadata,
    put,
    records_of,
    restated,
)

if TYPE_CHECKING:
    from pathlib import Path

WARC = records_of(SITE + "equal", AT_T)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified")
    facts = certified(folder)
    write([facts], folder)
    return folder, package(folder, [facts], tmp_path_factory.mktemp("package") / "capture.wacz")


def refused(path: Path, *more: str) -> bool:
    """Is it found, by the command, and no accident?"""
    answer = CliRunner().invoke(main, ["verify", str(path), *more])
    assert answer.exit_code in (0, 3), (answer.output, answer.exception)
    return answer.exit_code == 3


def response(url: str, block: bytes, kind: str = "response", **more: str) -> bytes:
    fields = [
        ("WARC-Type", kind), ("WARC-Record-ID", "<urn:uuid:7>"), ("WARC-Target-URI", url), ("WARC-Date", AT_T),
        ("Content-Type", "application/http;msgtype=response" if kind == "response" else "text/html"),
        *more.items(), ("WARC-Block-Digest", labelled_digest(block)),
    ]  # fmt: skip
    return member(fields, block, 6)


def answered(status: bytes, kind: bytes = b"text/html", more: bytes = b"") -> bytes:
    return b"HTTP/1.1 %b X\r\nContent-Type: %b\r\n%bContent-Length: 6\r\n\r\nforged" % (status, kind, more)


def page_of_another_site(folder: Path) -> None:
    """No page for people shows it: behind the last one of the capture."""
    path = folder / "report-pages.jsonl"
    changed = next(page for page in map(json.loads, path.read_text().splitlines()) if page["verdict"] == "changed")
    told = json.dumps({**changed, "site": "other.example", "verdict": "coherent"})
    path.write_text(f"{path.read_text()}{told}\n")


def twice(path: Path, text: bytes) -> None:
    """A name stands there twice: readers that take the first one read this."""
    path.write_bytes(path.read_bytes().replace(b"{", b"{" + text, 1))


def also(folder: Path, url: str, block: bytes) -> None:
    in_the_data(folder, records_of(url, AT_T, block))


def every(folder: Path, change) -> None:
    """Each response of the page ``equal``, with other fields."""
    forge_warc(folder, lambda r: (change([*r.fields]), r.block) if is_page(r, "equal") else None)


def with_attempts(folder: Path) -> None:
    also(folder, SITE + "equal", FORGED)
    forge(folder, lambda d: entry(d, "equal")["revisit"].update(attempts=3))


def resealed(folder: Path, change) -> None:
    """Alter what a certificate says of its file of pages, and cover it up."""
    path = folder / "certificate.json"
    document = json.loads(path.read_text())
    change(document)
    document[DIGEST] = digest(document)
    warc = certificates_warc(folder)
    rewrite(
        warc,
        lambda r: (
            (r.fields, kept(document))
            if r.kind == "metadata" and not (r.get("WARC-Target-URI") or "").endswith(":pages")
            else None
        ),
    )
    with warc.open("rb") as stream:
        offset = [record.offset for record in records(stream)][-1]
    document[KEPT_IN] = {**document[KEPT_IN], "offset": offset, **fixity(warc)}
    path.write_text(to_text(document))


def linked_folder(folder: Path) -> None:
    put(folder.parent, "elsewhere/more.warc.gz", WARC)
    (folder / "warcs").symlink_to(folder.parent / "elsewhere")


def linked_file(folder: Path) -> None:
    put(folder.parent, "elsewhere/more.warc.gz", WARC)
    (folder / "notes").symlink_to(folder.parent / "elsewhere" / "more.warc.gz")


def other_report(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    report["captures"][0]["coherence"]["coherent"] = 7
    (folder / "report.json").write_text(json.dumps(report))


def reordered(folder: Path) -> None:
    warc = data_warc(folder)
    warc.write_bytes(warc.read_bytes() + gzip.compress(b""))
    restated(folder)


def named_members(folder: Path) -> None:
    """Text in the head of the first gzip member, where nobody looks."""
    warc = data_warc(folder)
    data = warc.read_bytes()
    warc.write_bytes(data[:3] + bytes([data[3] | 16]) + data[4:10] + b"a comment\0" + data[10:])
    index_path(warc).unlink()
    restated(folder)


FOLDERS = {
    # records that viewers show, and no certificate speaks of
    "a resource record": lambda f: in_the_data(f, response(SITE + "equal", b"forged", "resource")),
    "a conversion record": lambda f: in_the_data(f, response(SITE + "equal", b"forged", "conversion")),
    "a continuation record": lambda f: in_the_data(f, response(SITE + "equal", b"forged", "continuation")),
    "a kind of record in capitals": lambda f: in_the_data(f, response(SITE + "equal", FORGED, "Response")),
    "a second certificate in the data": lambda f: in_the_data(f, metadata(b'{"format":"sharc-certificate"}')),
    "a redirect of a page at T": lambda f: also(f, SITE + "equal", answered(b"302", more=b"Location: /changed\r\n")),
    "a 404 of a page at T": lambda f: also(f, SITE + "equal", answered(b"404")),
    "a 500 of a page at T": lambda f: also(f, SITE + "equal", answered(b"500")),
    "a page named like a sitemap": lambda f: also(f, SITE + "sitemap-of-ours.html", answered(b"200")),
    "a page named robots.txt": lambda f: also(f, SITE + "a/robots.txt", answered(b"200")),
    "a page in plain text": lambda f: also(f, SITE + "statement", answered(b"200", b"text/plain")),
    "a page of unknown type": lambda f: also(f, SITE + "statement", answered(b"200", b"x/y")),
    "a page with status 203": lambda f: also(f, SITE + "statement", answered(b"203")),
    "attempts that were none": with_attempts,
    "a page in a strange frame": lambda f: also(f, SITE + "equal?", FORGED),
    "a page with a fragment": lambda f: also(f, SITE + "equal#top", FORGED),
    "a page by https": lambda f: also(f, "https://example.org/equal", FORGED),
    # fields that are read in two ways
    "a second URL": lambda f: every(f, lambda fields: [*fields, ("WARC-Target-URI", SITE + "other")]),
    "a second date": lambda f: every(f, lambda fields: [*fields, ("warc-date", AT_T)]),
    "a second type": lambda f: every(f, lambda fields: [*fields, ("WARC-Type", "resource")]),
    "one record id twice": lambda f: forge_warc(
        f, lambda r: ([(n, "<urn:uuid:9>" if n == "WARC-Record-ID" else v) for n, v in r.fields], r.block)
        if r.kind == "response" else None,
    ),
    "URL in angle brackets": lambda f: every(
        f, lambda fields: [(n, f"<{v}>" if n == "WARC-Target-URI" else v) for n, v in fields]
    ),
    # files
    "a linked folder": linked_folder,
    "a linked file": linked_file,
    "an empty member first": lambda f: put(f, "notes.bin", gzip.compress(b"") + WARC),
    "a blank line first": lambda f: put(f, "notes.txt", b"\r\nWARC/1.1\r\n"),
    "kept aside": lambda f: put(f, "evil.warc.gz.damaged", WARC),
    "kept aside in a folder": lambda f: put(f, f"deep/{data_warc(f).name}.damaged.warc.gz", WARC),
    "a hidden file": lambda f: put(f, ".more.warc.gz", WARC),
    "a package beside": lambda f: put(f, "other.wacz", zip_of({"archive/more.warc.gz": WARC})),
    "a package under another name": lambda f: put(f, "notes.zip", zip_of({"archive/more.warc.gz": WARC})),
    "an index of no WARC file": lambda f: put(f, "all.cdxj", index_path(data_warc(f)).read_bytes()),
    "an index in a folder": lambda f: put(f, "indexes/index.cdxj", b"org,example)/ 20261118110820 {}\n"),
    "an index of the old kind": lambda f: put(f, "index.cdx", b" CDX N b a m s k r M S V g\n"),
    "a packed index": lambda f: put(f, "index.cdx.gz", gzip.compress(b"org,example)/ 20261118110820 {}\n")),
    "an empty index": lambda f: index_path(data_warc(f)).write_bytes(b""),
    "an index of the certificate's file": lambda f: index_path(certificates_warc(f)).write_bytes(
        index_path(data_warc(f)).read_bytes()
    ),
    "a certificate in capitals": lambda f: shutil.copy(f / "certificate.json", f / "CERTIFICATE.JSON"),
    "a certificate in a folder": lambda f: put(f, "deep/certificate.json", (f / "certificate.json").read_bytes()),
    "a copy of the certificate": lambda f: shutil.copy(f / "certificate.json", f / "certificate-2.json"),
    "a signature of nothing": lambda f: put(f, "signature.json", b"{}"),
    "an empty time stamp": lambda f: put(f, "timestamp.tsr", b""),
    "garbage behind the last record": lambda f: in_the_data(f, b"garbage"),
    "an empty member behind it": reordered,
    "text in a member's head": named_members,
    "another report": other_report,
    "another report for people": lambda f: (f / "report.html").write_text(
        (f / "report.html").read_text().replace("3 of 7", "7 of 7")
    ),
    # statements
    "more in the certificate": lambda f: forge(f, lambda d: d.update(confirmed_by="a court")),
    "more of the capture": lambda f: forge(f, lambda d: d["capture"].update(confirmed_by="a court")),
    "more of a page": lambda f: forge(f, lambda d: d["pages"][0].update(content="unchanged")),
    "more of a visit": lambda f: forge(f, lambda d: d["pages"][0]["visit"].update(sha256="0" * 64)),
    "more of a file": lambda f: forge(f, lambda d: d["files"][0].update(verified=True)),
    "an end before the last visit": lambda f: forge(f, lambda d: d["capture"].update(ended=AT_T)),
    "a start after the first visit": lambda f: forge(f, lambda d: d["capture"].update(started=AT_T)),
    "an interruption outside": lambda f: forge(
        f, lambda d: d["capture"]["interruptions"].append(
            {"from": "2020-01-01T00:00:00.000000Z", "to": "2020-01-02T00:00:00.000000Z"}
        ),
    ),
    "another number of lines": lambda f: resealed(f, lambda d: d["pages"].update(lines=999)),
    "pages of no certificate": lambda f: shutil.copy(f / "certificate-pages.jsonl", f / "certificate-2-pages.jsonl"),
    "a name twice in the report": lambda f: twice(f / "report.json", b'"captures": [], '),
    "a page of another site in the report": page_of_another_site,
    "a verdict twice in the report": lambda f: twice(f / "report-pages.jsonl", b'"verdict": "coherent", '),
    "a figure that the report's page shows is gone": lambda f: altered(
        f / "report.json", lambda d: d["captures"][0]["not_captured"].pop("redirecting_pages")
    ),
    "its own place is no place": lambda f: altered(f / "certificate.json", lambda d: d.update(kept_in="x")),
    "a claim without grounds": lambda f: altered(
        f / "certificate.json", lambda d: d["capture"]["claim"].pop("grounds")
    ),
    "a page not captured that was": lambda f: forge(
        f, lambda d: d["not_captured"].append({**entry(d, "gone"), "url": SITE + "apex"})
    ),
}  # fmt: skip


def altered(path: Path, change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def zip_of(parts: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return data.getvalue()


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_that_was_altered(original, tmp_path, case):
    folder = shutil.copytree(original[0], tmp_path / "capture")
    noted = json.loads((folder / "certificate.json").read_text())[DIGEST]
    FOLDERS[case](folder)
    assert refused(folder)
    assert refused(folder, "--digest", noted)


def about(**changes):
    def change(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), **changes}, indent=2, ensure_ascii=False).encode()

    return {"datapackage.json": change}


def reported(change):
    """Another report for programs, and that for people made of it."""

    def parts(wacz: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(wacz) as file:
            data = json.loads(file.read("report/data.json"))
            lines = file.read("report/data-pages.jsonl").decode().splitlines(keepends=True)
        change(data)
        made = {
            f"report/{name}": "".join(pieces).encode("utf-8", "replace")
            for name, pieces in render(data, lines * max(1, len(data["captures"]))).items()
        }
        return {**made, "report/data.json": json.dumps(data).encode()}

    return parts


def capture_of(data: dict) -> dict:
    return data["captures"][0]


PACKAGES = {
    "another page first": (about(mainPageUrl=SITE + "changed"), {}),
    "a foreign page first": (about(mainPageUrl="http://evil.example/"), {}),
    "another time first": (about(mainPageDate="2026-11-18T11:08:20.000Z"), {}),
    "made another day": (about(created="2020-01-01T00:00:00Z"), {}),
    "more in its description": (about(verifiedBy="a court"), {}),
    "another report page": ({}, {"report/report-2.html": b"<h1>7 of 7 pages</h1>"}),
    "a second certificate": ({}, {"certificate/certificate-2.json": b"{}"}),
    "a signature of nothing": ({}, {"certificate/signature.json": b"{}"}),
    "a stamp of nothing": ({}, {"certificate/timestamp-2.tsr": b""}),
    "a WARC file in capitals": ({}, {"archive/MORE.WARC.GZ": WARC}),
    "a WARC file in a folder": ({}, {"archive/deep/more.warc.gz": WARC}),
    "a WARC file unpacked": ({}, {"archive/more.warc": b"WARC/1.1"}),
    "another list of pages": ({}, {"pages/extraPages.jsonl": b"{}"}),
    "an index beside": ({}, {"indexes/more.cdxj": b""}),
    "a fuzzy rule": ({}, {"fuzzy.json": b"{}"}),
    "pages in another order, one twice": ({"pages/pages.jsonl": lambda d: d + d.splitlines(keepends=True)[-1]}, {}),
    "a page more in the list": (
        {"pages/pages.jsonl": lambda d: d + b'{"id": "x", "url": "http://x.example/", "ts": "2026-11-18T11:08:20Z"}\n'},
        {},
    ),
}  # fmt: skip
REPORTS = {
    "a report of another site": lambda d: capture_of(d).update(site="example.com"),
    "a report of nothing": lambda d: d["captures"].clear(),
    "another T": lambda d: capture_of(d)["times"].update(reference="2026-11-18T11:08:19.000000Z"),
    "another start": lambda d: capture_of(d)["times"].update(started=AT_T),
    "another end": lambda d: capture_of(d)["times"].update(ended=AT_T),
    "another strategy": lambda d: capture_of(d).update(strategy="sharc-optimal"),
    "another capture more": lambda d: d["captures"].append({**capture_of(d), "site": "example.com"}),
    "the same capture twice": lambda d: d["captures"].append(dict(capture_of(d))),
}


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("case", [*PACKAGES, *REPORTS])
def test_a_package_that_was_altered(original, tmp_path, case):
    noted = json.loads((original[0] / "certificate.json").read_text())[DIGEST]
    if case in PACKAGES:
        changes, more = PACKAGES[case]
    else:
        changes, more = {}, reported(REPORTS[case])(original[1])
    path = repacked(original[1], tmp_path / "altered.wacz", changes, more)
    assert refused(path)
    assert refused(path, "--digest", noted)


@pytest.mark.slow
def test_a_report_for_people_without_its_data(original, tmp_path):
    path = without(repacked(original[1], tmp_path / "a.wacz", {}), tmp_path / "b.wacz", "report/data.json")
    assert refused(path)


def without(wacz: Path, to: Path, name: str) -> Path:
    """The package without a file; the digests are made anew."""
    with zipfile.ZipFile(wacz) as old, zipfile.ZipFile(to, "w") as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info, old.read(info))
    return repacked(to, to.with_name("c.wacz"), {})


@pytest.mark.slow
def test_what_was_not_altered_holds(original, tmp_path):
    assert not refused(original[0])
    assert not refused(original[1])
    assert not refused(repacked(original[1], tmp_path / "same.wacz", {}))


def test_wording_of_another_version_is_not_compared_and_this_is_said(original, tmp_path):
    folder = shutil.copytree(original[0], tmp_path / "older")
    report = json.loads((folder / "report.json").read_text())
    report["generator"]["version"] = "0.0.9"
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "report.html").write_text("as it was put then")
    answer = CliRunner().invoke(main, ["verify", str(folder)])
    assert (answer.exit_code, "not compared: the wording of the report, by sharc-crawler 0.0.9" in answer.output) == (
        0,
        True,
    )
    report["captures"][0]["coherence"]["coherent"] += 1
    (folder / "report.json").write_text(json.dumps(report))
    assert refused(folder)


def test_a_package_with_a_damaged_warc_file_is_a_finding_and_no_accident(original, tmp_path):
    damaged = tmp_path / "damaged.wacz"
    with zipfile.ZipFile(original[1]) as package, zipfile.ZipFile(damaged, "w") as into:
        for part in package.infolist():
            data = bytearray(package.read(part))
            if part.filename.endswith("00000-run1.warc.gz"):
                with io.BytesIO(data) as stream:
                    second = [record.offset for record in records(stream)][1]
                data[second + 20 : second + 400] = bytes(380)
            into.writestr(part, bytes(data))
    assert refused(damaged)
