"""What a package adds to certificates is made anew and compared: index, lists of pages, report, title, other files."""

from __future__ import annotations

import gzip
import json
import zipfile

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.canonical import KEPT_IN
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.report.package_check import not_of_it
from tests.certificate.forging import repacked, swap
from tests.certificate.test_strays import WARC


@pytest.mark.parametrize(
    "text",
    [b"[", b"[1]", b"{}", b'{"a": 1}', b"[" * 200_000],
    ids=["cut", "no object", "empty", "other", "lists in lists"],
)
@pytest.mark.parametrize("name", ["confirmation/confirmation.json", "datapackage-digest.json"])
def test_what_of_a_package_cannot_be_read_is_a_finding(packaged, tmp_path, name, text):
    with zipfile.ZipFile(packaged[1]) as old, zipfile.ZipFile(tmp_path / "demo.wacz", "w") as new:
        parts = {info.filename: old.read(info) for info in old.infolist()} | {name: text}
        for part, data in parts.items():
            new.writestr(zipfile.ZipInfo(part, old.infolist()[0].date_time), data)
    done = CliRunner().invoke(main, ["verify", str(tmp_path / "demo.wacz")])
    assert done.exit_code == 3, done.exception
    assert name in done.output or "cannot be read" in done.output


def reported(change):
    def altered(data: bytes) -> bytes:
        report = json.loads(data)
        change(report["captures"][0])
        return json.dumps(report).encode()

    return altered


divided = reported(
    lambda capture: capture["subsites"].append(
        {"name": "news", "reference": capture["times"]["reference"], "coherence": capture["coherence"]}
    )
)


def resources_with(**figures):
    return reported(lambda capture: capture["resources"].update(figures))


def index_with(change):
    return lambda data: gzip.compress(change(gzip.decompress(data)), mtime=0)


PACKAGES = {
    "another page in the index": ({"indexes/index.cdx.gz": index_with(swap(b"/equal", b"/other"))}, "the index is not"),
    "a line less": (
        {"indexes/index.cdx.gz": index_with(lambda d: b"".join(d.splitlines(keepends=True)[1:]))}, "the index is not",
    ),
    "other blocks": ({"indexes/index.idx": swap(b'"offset": 0', b'"offset": 1')}, "not in blocks"),
    "another verdict in the list": ({"pages/pages.jsonl": swap(b'"changed", ', b'"coherent", ')}, "the list of pages"),
    "another title of a page": ({"pages/pages.jsonl": swap(b"example.org/apex", b"example.org/news")}, "the list of p"),
    "another time of a page": ({"pages/pages.jsonl": swap(b"11:08:20", b"11:09:20")}, "the list of pages"),
    "another claim in the report": (
        {"report/data.json": swap(b"3 of 7 pages were", b"7 of 7 pages were")}, "claims something else",
    ),
    "other figures": ({"report/data.json": swap(b'"coherent": 3', b'"coherent": 7')}, "figures are not those"),
    "another page in the report": (
        {"report/data-pages.jsonl": swap(b'"verdict": "changed"', b'"verdict": "coherent"')}, "pages are not those",
    ),
    "other grounds of the claim": (
        {"report/data.json": swap(b'"evidence": "validator"', b'"evidence": "bytes"')}, "grounds or limits",
    ),
    "another limit of the claim": ({"report/data.json": swap(b"Equal bytes show", b"All bytes show")}, "or limits"),
    "other seeds": ({"report/data.json": swap(b'"seeds": [\n    "http', b'"seeds": [\n    "xttp')}, "of its seeds"),
    "another setting": ({"report/data.json": swap(b'"delay": 0.05', b'"delay": 2.0')}, "says of its settings"),
    "a part of the site": ({"report/data.json": divided}, "says of its subsites"),
    "more resources": ({"report/data.json": resources_with(captured=99)}, "figures of resources"),
    "another instant of a download": (
        {"report/data-pages.jsonl": swap(b'"started": "2026-11-18T11:06:4', b'"started": "2026-11-18T11:06:3')},
        "pages are not those",
    ),
    "another report for people": ({"report/report.html": swap(b"3 of 7", b"7 of 7")}, "is not that of its data"),
    "another T in the title": ({"datapackage.json": swap(b"11:08:20Z", b"12:08:20Z")}, "its title"),
    "another claim in its description": ({"datapackage.json": swap(b"3 of 7", b"7 of 7")}, "its description"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("case", PACKAGES)
def test_what_a_package_adds_is_made_anew_and_compared(packaged, tmp_path, case):
    changes, expected = PACKAGES[case]
    path = repacked(packaged[1], tmp_path / "altered.wacz", changes)
    assert expected in "\n".join(map(str, not_of_it(path)))
    assert CliRunner().invoke(main, ["verify", str(path)]).exit_code == 3


def test_a_package_as_it_was_written_has_nothing_else(packaged, tmp_path):
    assert list(not_of_it(packaged[1])) == []
    assert list(not_of_it(repacked(packaged[1], tmp_path / "same.wacz", {}))) == []


@pytest.mark.parametrize("name", ["archive/x.warc", "more/report.html", "archive/deep/x.warc.gz", "index.html"])
def test_other_files_in_a_package_are_found(packaged, tmp_path, name):
    path = repacked(packaged[1], tmp_path / "more.wacz", {}, {name: b"more"})
    assert f"{name}: no file of a package" in map(str, verify(path).findings)


def test_a_page_in_the_warc_file_of_a_certificate_in_a_package(packaged, tmp_path):
    kept_in = json.loads((packaged[0] / "certificate.json").read_text())[KEPT_IN]["file"]
    path = repacked(packaged[1], tmp_path / "more.wacz", {f"archive/{kept_in}": lambda data: data + WARC})
    assert "record in the file of a certificate" in "\n".join(map(str, verify(path).findings))
