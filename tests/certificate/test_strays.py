"""Nothing lies beside a certificate unnoticed: other files, records, pages, certificates, and what a package adds."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from base64 import b64decode, b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.records import member
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.certificate.writing import Certified, certify, lines
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.cli import main
from sharc_crawler.model import Slot, Verdict
from tests.certificate.forging import findings, forge, forge_warc, is_page, rewrite
from tests.certificate.made import SITE, Maker, attested, make, said

FORGED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged"


@pytest.fixture
def capture(packaged, tmp_path):
    folder = shutil.copytree(packaged[0], tmp_path / "capture")
    next(folder.glob("*.wacz")).unlink()
    return folder


def records_of(url: str, date: str, block: bytes = FORGED) -> bytes:
    """A response and its request, as a forger would write them."""
    own = [("WARC-Target-URI", url), ("WARC-Date", date), ("WARC-IP-Address", "127.0.0.1")]
    response = [
        ("WARC-Type", "response"), ("WARC-Record-ID", "<urn:uuid:1>"), *own,
        ("Content-Type", "application/http;msgtype=response"), ("WARC-Block-Digest", labelled_digest(block)),
    ]  # fmt: skip
    request = [
        ("WARC-Type", "request"), ("WARC-Record-ID", "<urn:uuid:2>"), ("WARC-Concurrent-To", "<urn:uuid:1>"), *own,
        ("Content-Type", "application/http;msgtype=request"),
    ]  # fmt: skip
    return member(response, block, 6) + member(request, b"GET / HTTP/1.1\r\n\r\n", 6)


def certificates_warc(folder: Path) -> Path:
    return folder / json.loads((folder / "certificate.json").read_text())[KEPT_IN]["file"]


def data_warc(folder: Path) -> Path:
    return next(path for path in folder.glob("*.warc.gz") if path != certificates_warc(folder))


def restated(folder: Path) -> None:
    """Make all digests of files and the certificate's anew."""
    forge(folder, lambda d: [one.update(fixity(folder / one["name"])) for one in d["files"]])


def appended(folder: Path, warc: Path, data: bytes) -> None:
    with warc.open("ab") as file:
        file.write(data)
    index_path(warc).unlink(missing_ok=True)


AT_T = "2026-11-18T11:08:20.250000Z"


def beside_the_certificate(folder: Path, data: bytes) -> None:
    warc = certificates_warc(folder)
    appended(folder, warc, data)
    path = folder / "certificate.json"
    document = json.loads(path.read_text())
    document[KEPT_IN].update(fixity(warc))
    path.write_text(to_text(document))


def in_the_data(folder: Path, data: bytes) -> None:
    appended(folder, data_warc(folder), data)
    restated(folder)


def metadata(block: bytes, target: str = "urn:sharc-certificate:example.org") -> bytes:
    fields = [
        ("WARC-Type", "metadata"), ("WARC-Record-ID", "<urn:uuid:3>"), ("WARC-Date", AT_T), ("WARC-Target-URI", target),
        ("Content-Type", "application/json"), ("WARC-Block-Digest", labelled_digest(block)),
    ]  # fmt: skip
    return member(fields, block, 6)


def resource(target: str) -> bytes:
    fields = [
        ("WARC-Type", "resource"), ("WARC-Record-ID", "<urn:uuid:4>"), ("WARC-Date", AT_T), ("WARC-Target-URI", target),
        ("Content-Type", "text/html"), ("WARC-Block-Digest", labelled_digest(b"forged")),
    ]  # fmt: skip
    return member(fields, b"forged", 6)


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def linked(file: Path) -> None:
    """The same bytes, elsewhere."""
    elsewhere = file.parent.with_name("elsewhere") / file.name
    elsewhere.parent.mkdir()
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def copied(folder: Path, name: str, to: str) -> None:
    put(folder, to, (folder / name).read_bytes())


def zip_of(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(name, b"forged")


def another_certificate(folder: Path) -> None:
    document = json.loads((folder / "certificate.json").read_text())
    document["capture"]["notes"] = ["forged"]
    document[DIGEST] = digest(document)
    (folder / "certificate-other.json").write_text(to_text(document))


WARC = records_of(SITE + "equal", AT_T)
ALTERATIONS = {
    "a forged page beside the certificate": (lambda f: beside_the_certificate(f, WARC), "record in the file of a cert"),
    "a request beside it": (
        lambda f: beside_the_certificate(f, metadata(b"{}", "http://example.org/")), "a metadata record in the file",
    ),
    "another certificate beside it": (
        lambda f: beside_the_certificate(f, metadata(kept({"format": "sharc-certificate"}))), "a metadata record in",
    ),
    "two warcinfo records": (
        lambda f: beside_the_certificate(f, member([("WARC-Type", "warcinfo")], b"", 6)), "a warcinfo record in the",
    ),
    "a forged page in the data": (
        lambda f: in_the_data(f, records_of(SITE + "more", AT_T)), "more: it is in no certificate",
    ),
    "a forged copy of a page at T": (lambda f: in_the_data(f, WARC), "equal: it is in no certificate"),
    "a forged picture": (
        lambda f: in_the_data(f, records_of(SITE + "a.png", AT_T, FORGED.replace(b"text/html", b"image/png"))),
        "a.png: it is in no certificate",
    ),
    "a forged page without a type": (
        lambda f: in_the_data(f, records_of(SITE + "x", AT_T, b"HTTP/1.1 200 OK\r\n\r\nforged")),
        "it is in no certificate",
    ),
    "a forged page under another spelling": (
        lambda f: in_the_data(f, records_of("http://EXAMPLE.org:80/equal", AT_T)), "it is in no certificate",
    ),
    "a page as a resource record": (
        lambda f: in_the_data(f, resource(SITE + "equal")), "equal: a resource record, which would be shown in place",
    ),
    "a picture beside the certificate": (
        lambda f: beside_the_certificate(f, resource(f"urn:view:{SITE}")), "a resource record in the file of a cert",
    ),
    "a plain WARC file": (lambda f: put(f, "more.warc", b"WARC/1.1\r\n"), "more.warc: a WARC file beside those"),
    "an upper-case one": (lambda f: put(f, "MORE.WARC.GZ", b""), "MORE.WARC.GZ: a WARC file beside"),
    "an ARC file": (lambda f: put(f, "old.arc.gz", b""), "old.arc.gz: a WARC file beside"),
    "a zstd one": (lambda f: put(f, "more.warc.zst", b""), "more.warc.zst: a WARC file beside"),
    "one in a folder": (lambda f: put(f, "deep/more.warc.gz", WARC), "deep/more.warc.gz: a WARC file beside"),
    "one under another name": (lambda f: put(f, "notes.txt", b"WARC/1.1\r\n"), "notes.txt: a WARC file beside"),
    "a packed one under another name": (lambda f: put(f, "notes.bin", WARC), "notes.bin: a WARC file beside"),
    "an ARC file under another name": (lambda f: put(f, "n.dat", b"filedesc://x 0"), "n.dat: a WARC file beside"),
    "one that is being written": (
        lambda f: put(f, "example.org-20261118110641-00009-run1.warc.gz.open", WARC), "this file is in no certificate",
    ),
    "one of another site": (lambda f: put(f, "other-1.warc.gz", WARC), "other-1.warc.gz: this file is in no"),
    "a WARC file that is a link": (lambda f: linked(data_warc(f)), "a link where a file belongs"),
    "a certificate that is a link": (lambda f: linked(f / "certificate.json"), "a link where a file belongs"),
    "pages that are a link": (lambda f: linked(f / "certificate-pages.jsonl"), "a link where a file belongs"),
    "an index that is a link": (lambda f: linked(index_path(data_warc(f))), "a link where a file belongs"),
    "a report that is a link": (lambda f: linked(f / "report.json"), "a link where a file belongs"),
    "a copy of the report": (lambda f: copied(f, "report.json", "report (1).json"), "a document beside those"),
    "a report of another day": (lambda f: put(f, "Report-2025.HTML", b"<p>412 of 412"), "a document beside those"),
    "a report in a folder": (lambda f: copied(f, "report.html", "old/report.html"), "a document beside those"),
    "a report by its content": (lambda f: copied(f, "report.json", "claim.txt"), "a document beside those"),
    "a copy of the certificate": (
        lambda f: copied(f, "certificate.json", "Copy of certificate.json"), "a document beside those",
    ),
    "a certificate by its content": (lambda f: copied(f, "certificate.json", "claim"), "a document beside those"),
    "a confirmation beside it": (lambda f: put(f, "confirmation.json", b"{}"), "a document beside those"),
    "a signature of nobody": (lambda f: put(f, "signature (1).json", b"{}"), "a document beside those"),
    "an index as it was": (lambda f: put(f, "example.cdxj.bak", b""), "an index of no WARC file"),
    "a package that is none": (lambda f: put(f, "demo.wacz", b"gone"), "a package that is no zip file"),
    "a package that was cut": (lambda f: put(f, "demo.wacz.part", b"PK\3\4"), "a package that is no zip file"),
    "a package without an archive": (lambda f: zip_of(f / "demo.wacz", "pages/pages.jsonl"), "a package of another"),
    "a package of packages": (lambda f: zip_of(f / "all.zip", "a.wacz"), "a package of another"),
    "an index of it": (
        lambda f: put(f, index_path(data_warc(f)).name, b'org,example)/ 20261118110820 {"url": "x"}\n'),
        "the index is not that of its WARC file",
    ),
    "a body cut short": (
        lambda f: forge_warc(
            f, lambda r: (
                [(n, v) for n, v in r.fields if n != "WARC-Payload-Digest"],
                r.block.replace(b"Content-Length: ", b"Content-Length: 9"),
            ) if is_page(r, "changed") else None,
        ),
        "changed: ",
    ),
    "an Age in the second answer": (
        lambda f: forge_warc(
            f, lambda r: (r.fields, r.block.replace(b"Date: later", b"Age: 99999"))
            if is_page(r, "equal", "revisit") else None,
        ),
        "equal: verdict is 'unknown' by the records, stated is 'coherent'",
    ),
    "a time far from the server's": (
        lambda f: forge_warc(
            f, lambda r: (r.fields, r.block.replace(b"\r\n\r\n", b"\r\nDate: Wed, 18 Nov 2025 11:06:44 GMT\r\n\r\n", 1))
            if is_page(r, "changed") else None,
        ),
        " s from its WARC-Date, stated is nothing",
    ),
    "clocks that were not so": (
        lambda f: forge(f, lambda d: d["capture"].update(clocks={"example.org": {"least": -9, "greatest": 9}})),
        "the clocks of the servers are not as stated",
    ),
    "another type at the revisit": (
        lambda f: forge_warc(
            f, lambda r: (r.fields, r.block.replace(b"text/html", b"text/plain"))
            if is_page(r, "equal", "revisit") else None,
        ),
        "equal: verdict is 'changed' by the records",
    ),
    "another ETag at the 304": (
        lambda f: forge_warc(f, lambda r: None) or rewrite_304(f), "modest: verdict is 'unknown' by the records",
    ),
    "a code that is none": (
        lambda f: forge(f, lambda d: d["pages"][0].update(reason="because")), "reason is 'reference-download' by the",
    ),
    "a reason that was none": (
        lambda f: forge(f, lambda d: next(p for p in d["pages"] if p["verdict"] == "changed").update(reason="partial")),
        "reason is 'other-bytes' by the records",
    ),
    "a ground more": (
        lambda f: forge(f, lambda d: d["capture"]["claim"]["grounds"].append({"evidence": "bytes", "pages": 9})),
        "claim of the capture: grounds is",
    ),
    "a limit less": (
        lambda f: forge(f, lambda d: d["capture"]["claim"]["limits"].pop()), "claim of the capture: limits is",
    ),
    "another statement": (
        lambda f: forge(f, lambda d: d["capture"]["claim"].update(statement="once")), "claim of the capture: statement",
    ),
    "another reference in the claim": (
        lambda f: forge(f, lambda d: d["capture"]["claim"].update(reference="2020-01-01T00:00:00.000000Z")),
        "claim of the capture: reference is",
    ),
}  # fmt: skip


def rewrite_304(folder: Path) -> None:
    """The answer is kept as a note beside the revisit record."""

    def other(record):
        if record.kind == "revisit" and is_page(record, "modest", "revisit"):
            return record.fields, record.block.replace(b'ETag: "1"', b'ETag: "9"')
        mark = b"http-response-base64: "
        if is_page(record, "modest", "metadata") and mark in record.block:
            head, _, rest = record.block.partition(mark)
            text, end, tail = rest.partition(b"\r\n")
            changed = b64encode(b64decode(text).replace(b'ETag: "1"', b'ETag: "9"'))
            return record.fields, head + mark + changed + end + tail
        return None

    rewrite(data_warc(folder), other)
    restated(folder)


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", ALTERATIONS)
def test_what_lies_beside_is_found(capture, case):
    alter, expected = ALTERATIONS[case]
    assert findings(capture) == ""
    alter(capture)
    assert expected in findings(capture)


@pytest.mark.slow
@pytest.mark.matrix
def test_what_cannot_be_read_is_found_and_the_rest_is_verified(capture):
    """By another user: of a capture that everybody may read."""
    public = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(capture, public / "capture")
        (public / "capture" / "private.json").write_text("{}")
        for path in public, public / "capture":
            path.chmod(0o755)
        (public / "capture" / "private.json").chmod(0)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65_534)
        try:
            found = verify(public / "capture").findings
        finally:
            if root:
                os.seteuid(0)
    finally:
        shutil.rmtree(public)
    assert [(one.what, one.file) for one in found] == [
        ("a file that cannot be read (Permission denied)", "private.json")
    ]


@pytest.mark.parametrize("case", ALTERATIONS)
def test_none_of_them_passes_beside_the_digest(capture, case):
    noted = json.loads((capture / "certificate.json").read_text())[DIGEST]
    ALTERATIONS[case][0](capture)
    assert CliRunner().invoke(main, ["verify", str(capture), "--digest", noted]).exit_code == 3


@pytest.mark.slow
def test_the_digest_names_the_one_certificate(capture):
    noted = json.loads((capture / "certificate.json").read_text())[DIGEST]
    another_certificate(capture)
    answer = CliRunner().invoke(main, ["verify", str(capture), "--digest", noted])
    assert answer.exit_code == 3
    assert "a certificate's digest is sha256:" in answer.output


def test_what_does_not_verify_is_not_sealed(tmp_path):
    """A strategy that revisited before all visits were finished: a change between T and a page's visit is not seen."""
    facts = make(tmp_path)
    pages = tuple(
        page if page.verdict is not Verdict.CHANGED else replace(page, verdict=Verdict.COHERENT) for page in facts.pages
    )
    made = certify([replace(facts, pages=pages)], tmp_path)
    assert not (tmp_path / "certificate.json").exists()
    assert len(list(tmp_path.glob("*.warc.gz"))) == 1, "nothing was added"
    said_ = list(lines(made))
    assert said_[0][1].startswith("none: the records do not support it (")
    assert any("changed: verdict is 'changed' by the records, stated is 'coherent'" in text for _, text in said_)


def test_the_summary_of_a_crawl_lists_three_findings(tmp_path):
    found = [Finding(f"wrong {number}") for number in range(5)]
    said_ = list(lines([Certified(tmp_path / "certificate.json", "", "", found)]))
    assert said_[0] == ("certificate", "none: the records do not support it (5 findings)")
    assert said_[1:] == [("", str(one)) for one in found[:3]]


def test_a_false_word_is_not_sealed_either(tmp_path):
    facts = attested(tmp_path / "a", "2026-11-19")
    for path in (tmp_path / "a").glob("certificate*"):
        path.unlink()
    certificates = [p for p in (tmp_path / "a").glob("*.warc.gz") if p.name not in facts.warcs]
    for path in certificates:
        path.unlink()
    assert certify([facts], tmp_path / "a")[0].findings


def test_a_media_type_that_is_not_ascii_is_read_one_way(tmp_path):
    maker = Maker(tmp_path)
    odd = said("x").replace(b"text/html", b"image/png\xc3\xa9")
    maker.visit("odd", odd, Slot.ONLY)
    maker.visit("odder", odd.replace(b"\xc3\xa9", b"\xe9"), Slot.ONLY)
    maker.out.close()
    (warc,) = tmp_path.glob("*.warc.gz")
    assert set(index_path(warc).read_text().splitlines()) == {entry.line() for entry in entries(warc)}
