"""Forgeries of places where readers differ: spellings, dates, lines, references, indexes, data, zip files."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.members import records
from sharc_crawler.archive.records import WITHHELD, member
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.cli import main
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Slot, Url, Verdict
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import package
from sharc_crawler.report.write import write
from tests.certificate.forging import entry, forge, forge_warc, is_page, repacked, rewrite, whole
from tests.certificate.made import SITE, Maker, looked_again, make, said
from tests.certificate.test_strays import AT_T, data_warc, in_the_data, restated

if TYPE_CHECKING:
    from pathlib import Path


def by_script(folder: Path) -> None:
    """Two pages made by script: the data of ``shell`` changed, that of ``still`` did not."""
    folder.mkdir()
    maker = Maker(folder)

    def answer(name: str, text: str, slot: Slot):
        return maker.visit(name, said(text).replace(b"text/html", b"application/json"), slot)

    names = ("shell", "api", "still", "fixed")
    before = {name: answer(name, f"[{name}]", Slot.FIRST) for name in names}
    reference = maker.now + 1.2
    after = {name: answer(name, "[other]" if name == "api" else f"[{name}]", Slot.SECOND) for name in names}
    for name, data in (("shell", "api"), ("still", "fixed")):
        changed = name == "shell"
        verdict = Verdict.CHANGED if changed else Verdict.COHERENT
        reason = Reason.DATA_CHANGED.of(SITE + data) if changed else ""
        maker.add(name, verdict, Evidence.BYTES, before[name], after[name], reason=reason)
        maker.pages[-1] = replace(maker.pages[-1], embeds=(Url(SITE + data),), data=(Url(SITE + data),))
        maker.add(data, verdict, Evidence.BYTES, before[data], after[data], Kind.DATA)
    assert not certify([maker.facts(reference)], folder)[0].findings


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    facts = make(folder / "plain")
    write([facts], folder / "plain")
    certify([facts], folder / "plain")
    looked_again(folder / "looked")
    by_script(folder / "script")
    package(folder / "plain", [facts], folder / "plain.wacz")
    return folder


def lines(change):
    """Other text in the lines of pages, and all digests made anew."""

    def alter(folder: Path) -> None:
        path, pages = folder / "certificate.json", folder / "certificate-pages.jsonl"
        document = json.loads(path.read_text())
        place, data = document[KEPT_IN], change(pages.read_bytes())
        assert data != pages.read_bytes()
        pages.write_bytes(data)
        document["pages"].update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), lines=data.count(b"\n"))
        document[DIGEST] = digest(document)

        def forged(record):
            is_pages = (record.get("WARC-Target-URI") or "").endswith(":pages")
            return (record.fields, data if is_pages else kept(document)) if record.kind == "metadata" else None

        rewrite(folder / place["file"], forged)
        with (folder / place["file"]).open("rb") as stream:
            offset = [record.offset for record in records(stream)][-1]
        document[KEPT_IN] = {**place, "offset": offset, **fixity(folder / place["file"])}
        path.write_text(to_text(document))

    return alter


def refers(name: str, to: str, **more: str):
    """The revisit record of a page refers to the visit of another."""

    def alter(folder: Path) -> None:
        warc, visit = data_warc(folder), entry(whole(folder), to)["visit"]
        new = {"WARC-Refers-To-Target-URI": visit["uri"], "WARC-Refers-To-Date": visit["date"]}
        new |= {"WARC-Payload-Digest": visit["digest"]} if more else {}

        def other(record):
            if not is_page(record, name, "revisit"):
                return None
            fields = [(field, new.get(field, value)) for field, value in record.fields if field != "WARC-Refers-To"]
            return fields, record.block

        rewrite(warc, other)
        index_path(warc).unlink()
        restated(folder)

    return alter


def indexed(change):
    def alter(folder: Path) -> None:
        path = index_path(data_warc(folder))
        path.write_bytes(change(path.read_bytes()))

    return alter


def also(name: str, **changes):
    """A second entry of what ``style.css`` is the first of."""
    return lambda folder: forge(
        folder, lambda d: d["pages"].append({**entry(d, "style.css"), "url": SITE + name, **changes})
    )


def edited(name: str, part: str = "", **changes):
    def change(document) -> None:
        page = entry(document, name)
        (page[part] if part else page).update(changes)

    return lambda folder: forge(folder, change)


def captured(**changes):
    return lambda folder: forge(folder, lambda d: d["capture"].update(changes))


def beside(part: str, old: bytes, new: bytes):
    """A package in the folder, one part of which is another."""

    def alter(folder: Path) -> None:
        def other(data: bytes) -> bytes:
            assert old in data
            return data.replace(old, new)

        repacked(folder.parent / "originals" / "plain.wacz", folder / "copy.wacz", {part: other})

    return alter


def second_info(folder: Path) -> None:
    fields = [("WARC-Type", "warcinfo"), ("WARC-Record-ID", "<urn:uuid:9>"), ("WARC-Date", AT_T)]
    in_the_data(folder, member(fields, b"deduplication: site\r\n\r\n", 6))


def without_request(folder: Path) -> None:
    def change(record):
        if is_page(record, "equal", "request"):
            return ()
        marked = record.get("WARC-Target-URI") == SITE + "equal"
        return ([*record.fields, ("Sharc-Normalised", "x")], record.block) if marked else None

    forge_warc(folder, change)


def normalised(folder: Path, said: str) -> None:
    """Records of a page say that they are not as on the wire."""
    forge_warc(folder, lambda r: ([*r.fields, ("Sharc-Normalised", said)], r.block) if is_page(r, "equal") else None)


def other_archive(folder: Path) -> None:
    name = f"archive/{data_warc(folder).name}"
    repacked(folder.parent / "originals" / "plain.wacz", folder / "copy.wacz", {name: lambda data: data + data[:400]})


ALTERATIONS = {
    "a page under another spelling": ("plain", edited("equal", url="http://EXAMPLE.org:80/other"), "its visit is of"),
    "a resource twice by its port": ("plain", also("x", url="http://example.org:80/style.css"), "several pages"),
    "a resource twice by a mark": ("plain", also("style.css#"), "several pages"),
    "a resource twice by a parameter": ("plain", also("style.css?utm_source=x"), "several pages"),
    "a start in another zone": ("plain", captured(started="2026-11-18T00:00:00.000000+09:00"), "not written as"),
    "an end in another zone": ("plain", captured(ended="2026-11-18T23:08:33.750000+12:00"), "not written as"),
    "an instant in another zone": (
        "plain", edited("changed", "visit", date="2026-11-18T11:06:44.750000+00:00"), "not written as sharc writes it",
    ),
    "an instant without its zeros": (
        "plain", edited("changed", "visit", date="2026-11-18T11:06:44.75Z"), "not written as sharc writes it",
    ),
    "an earlier start": ("plain", captured(started="2020-01-01T00:00:00.000000Z"), "times or strategy"),
    "another name of the site": ("plain", captured(site="gov.example"), "captures are not those"),
    "another strategy": ("plain", captured(strategy="sharc-optimal"), "times or strategy"),
    "no attempts": ("plain", edited("equal", "visit", attempts=0), "attempts at its downloads"),
    "attempts that are no number": ("plain", edited("equal", "visit", attempts=True), "attempts at its downloads"),
    "half an attempt": ("plain", edited("equal", "visit", attempts=1.5), "attempts at its downloads"),
    "the revisit is the visit": (
        "plain",
        lambda f: forge(f, lambda d: entry(d, "changed").update(revisit=entry(d, "changed")["visit"])), "changed: ",
    ),
    "a changed page said to be a resource": ("plain", edited("changed", kind="resource"), "totals of the capture"),
    "a name twice in a line": (
        "plain", lines(lambda d: d.replace(b'"verdict":"changed"', b'"verdict":"coherent","verdict":"changed"')),
        "2 of its lines are not written",
    ),
    "a blank in a line": ("plain", lines(lambda d: d.replace(b'"page"', b' "page"', 1)), "1 of its lines"),
    "a fraction in a line": ("plain", lines(lambda d: d.replace(b":200", b":200.0", 1)), "1 of its lines"),
    "an escape in a line": ("plain", lines(lambda d: d.replace(b'"page"', b'"\\u0070age"', 1)), "1 of its lines"),
    "other line ends": ("plain", lines(lambda d: d.replace(b"\n", b"\r\n")), "13 of its lines"),
    "an end without its line": ("plain", lines(lambda d: d[:-1]), "1 of its lines"),
    "names in another order": (
        "plain", lines(lambda d: d.replace(b'"former":[', b'"x":[').replace(b'{"evidence"', b'{ "evidence"', 1)),
        "1 of its lines",
    ),
    "lines in another order": (
        "plain", lines(lambda d: b"".join(reversed(d.splitlines(keepends=True)))), "report's pages are not those",
    ),
    "a 304 that refers to another page": ("plain", refers("modest", "changed"), "refers to another page"),
    "a 304 of another page, with its digest": (
        "plain", refers("modest", "changed", digest="too"), "refers to another page",
    ),
    "equal bytes of another page": ("plain", refers("equal", "changed"), "for a payload that is not there"),
    "a second warcinfo": ("plain", second_info, "a warcinfo record that is not the first"),
    "a request that is gone": ("plain", without_request, "the request that it answers is missing"),
    "answers that nobody saw": ("plain", lambda f: normalised(f, "x"), "rests on records that were rebuilt"),
    "a mark that it was cut": (
        "plain",
        lambda f: forge_warc(
            f, lambda r: ([*r.fields, ("WARC-Truncated", "length")], r.block) if is_page(r, "equal") else None
        ),
        "digest of its visit is None",
    ),
    "a field's name with a blank": (
        "plain",
        lambda f: forge_warc(
            f, lambda r: ([*r.fields, ("WARC-Target-URI ", SITE)], r.block) if is_page(r, "changed") else None
        ),
        "is given twice",
    ),
    "an index in another order": (
        "plain", indexed(lambda d: b"".join(reversed(d.splitlines(keepends=True)))), "the index is not in order",
    ),
    "an index with a line twice": ("plain", indexed(lambda d: d.splitlines(keepends=True)[0] + d), "the index is not"),
    "an index with other line ends": ("plain", indexed(lambda d: d.replace(b"\n", b"\r\n")), "the index is not that"),
    "an index without its last end": ("plain", indexed(lambda d: d[:-1]), "the index is not that"),
    "an index with an empty line": ("plain", indexed(lambda d: b"\n" + d), "the index is not that"),
    "a package beside, with other records": ("plain", other_archive, "a package of another capture"),
    "a package beside, with another report": (
        "plain", beside("report/report.html", b"3 of 7", b"7 of 7"), "copy.wacz/report/report.html: the report is not",
    ),
    "a package beside, with other pages": (
        "plain", beside("pages/pages.jsonl", b'"changed"', b'"coherent"'), "copy.wacz/pages/pages.jsonl: the list of",
    ),
    "a package beside, with another T": (
        "plain", beside("datapackage.json", b"11:08:20Z", b"12:08:20Z"), "copy.wacz/datapackage.json: its title",
    ),
    "data left out": (
        "script",
        lambda f: forge(f, lambda d: (entry(d, "shell").pop("data"), entry(d, "shell").update(verdict="coherent"))),
        "reason is 'equal-bytes'",
    ),
    "data of another page": ("script", edited("shell", data=[SITE + "fixed"]), "verdict is 'coherent' by the records"),
    "no data in a list": ("script", edited("still", data=[]), "not as a page's is listed"),
    "data twice in a list": ("script", edited("still", data=[SITE + "fixed"] * 2), "not as a page's is listed"),
    "data of data": ("script", edited("api", data=[SITE + "fixed"]), "not as a page's is listed"),
    "a page as data": ("script", edited("shell", data=[SITE + "still"]), "data of it is not listed"),
    "data said to be a resource": ("script", edited("api", kind="resource"), "data of it is not listed"),
    "data said to be coherent": ("script", edited("api", verdict="coherent"), "verdict is 'changed' by the records"),
    "data that is not listed": (
        "script", lambda f: forge(f, lambda d: d["pages"].remove(entry(d, "api"))), "api: it is in no certificate",
    ),
    "a former visit twice": (
        "looked",
        lambda f: forge(f, lambda d: entry(d, "anew").update(former=entry(d, "anew")["former"] * 2)), "several visits",
    ),
    "no former visit in a list": ("looked", edited("other", former=[]), "an empty list of former visits"),
    "a former visit after T": (
        "looked",
        lambda f: forge(f, lambda d: entry(d, "anew")["former"][0].update(slot="second")), "not made before T",
    ),
    "a page that was gone, without that visit": (
        "looked", lambda f: forge(f, lambda d: entry(d, "back").pop("former")), "back: it is in no certificate",
    ),
}  # fmt: skip


def found(path: Path) -> str:
    return "\n".join(map(str, [*verify(path).findings, *not_of_it(path)]))


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", ALTERATIONS)
def test_an_alteration_is_found_with_the_digest_and_without(originals, tmp_path, case):
    name, alter, expected = ALTERATIONS[case]
    folder = shutil.copytree(originals / name, tmp_path / "capture")
    (tmp_path / "originals").symlink_to(originals)
    noted = json.loads((folder / "certificate.json").read_text())[DIGEST]
    alter(folder)
    assert expected in found(folder)
    assert CliRunner().invoke(main, ["verify", str(folder), "--digest", noted]).exit_code == 3


@pytest.mark.parametrize("name", ["plain", "looked", "script", "plain.wacz"])
def test_as_they_were_made_they_hold(originals, name):
    assert found(originals / name) == ""


def test_a_package_in_its_folder_holds(originals, tmp_path):
    folder = shutil.copytree(originals / "plain", tmp_path / "capture")
    shutil.copy(originals / "plain.wacz", folder)
    assert found(folder) == ""


def zipped(path: Path, to: Path, change=lambda text: text, mode: int = 0o600 << 16, date=None) -> Path:
    """The same files in another zip file, with another description."""
    with zipfile.ZipFile(path) as old:
        parts = {info.filename: old.read(info) for info in old.infolist()}
        date = date or old.infolist()[0].date_time
    about = change(parts["datapackage.json"])
    seal = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(about).hexdigest()}"}
    parts |= {"datapackage.json": about, "datapackage-digest.json": json.dumps(seal, indent=2).encode()}
    with zipfile.ZipFile(to, "w") as new:
        for name, data in parts.items():
            info = zipfile.ZipInfo(name, date)
            info.external_attr = mode
            new.writestr(info, data)
    return to


def reversed_list(text: bytes) -> bytes:
    about = json.loads(text)
    about["resources"].reverse()
    return json.dumps(about, indent=2, ensure_ascii=False).encode()


@pytest.mark.slow
def test_records_that_withhold_the_credentials_for_a_proxy_are_as_on_the_wire(originals, tmp_path):
    shutil.copytree(originals / "plain", tmp_path / "plain")
    normalised(tmp_path / "plain", WITHHELD)
    assert found(tmp_path / "plain") == ""


DESCRIPTIONS = {
    "a title twice": lambda text: text.replace(b'"title": ', b'"title": "a court", "title": ', 1),
    "more of a file": lambda text: text.replace(b'"path": "archive', b'"description": "a court", "path": "archive', 1),
    "another name of a file": lambda text: text.replace(b'"name": "index.idx"', b'"name": "court.idx"', 1),
    "another layout": lambda text: json.dumps(json.loads(text)).encode(),
    "another profile": lambda text: text.replace(b'"data-package"', b'"wacz-package"', 1),
    "another version of the format": lambda text: text.replace(b'"1.1.1"', b'"9.9"', 1),
    "another program": lambda text: text.replace(b'"software": "sharc-crawler ', b'"software": "Court ', 1),
    "files in another order": reversed_list,
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_a_description_is_written_one_way(originals, tmp_path, case):
    path = zipped(originals / "plain.wacz", tmp_path / "other.wacz", DESCRIPTIONS[case])
    assert "datapackage.json: it is" in found(path)


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"mode": 0xA1ED0000}, {"mode": 0o777 << 16}, {"date": (1999, 1, 1, 0, 0, 0)}])
def test_files_in_a_package_are_of_one_kind(originals, tmp_path, change):
    assert found(zipped(originals / "plain.wacz", tmp_path / "same.wacz")) == ""
    assert "not written as sharc writes it" in found(
        zipped(originals / "plain.wacz", tmp_path / "other.wacz", **change)
    )
