from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from sharc_crawler.certificate.canonical import canonical, digest
from sharc_crawler.certificate.document import unit
from sharc_crawler.certificate.fixity import pages_name
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.claim import UNSEEN
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.schemas import schema
from sharc_crawler.model import Slot, Verdict
from sharc_crawler.report.claim import sentence
from tests.archive.readback import read, read_all
from tests.certificate.forging import whole
from tests.certificate.made import SITE, Maker, certified, incomplete, make, said

SCHEMA = schema("sharc_crawler.certificate", "certificate.schema.json")


@pytest.fixture
def made(tmp_path):
    certified(tmp_path, max_size=2_000)
    return tmp_path, json.loads((tmp_path / "certificate.json").read_text())


@pytest.mark.slow
def test_it_is_by_its_schema(made):
    folder, document = made
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA, format_checker=FormatChecker()).validate(document)
    for kind, lines in (("page", "pages"), ("missing", "not_captured")):
        line = {**SCHEMA["$defs"][kind], "$defs": SCHEMA["$defs"]}
        for entry in whole(folder)[lines]:
            Draft202012Validator(line, format_checker=FormatChecker()).validate(entry)


def test_every_field_of_the_schema_is_described():
    def check(part, where):
        assert "description" in part or set(part) <= {"type", "const", "enum", "format", "pattern"}, where
        for name, inner in part.get("properties", {}).items():
            check(inner, f"{where}/{name}")
        for inner in part.get("anyOf", []):
            check(inner, where)

    for part in (SCHEMA, SCHEMA["$defs"]["page"], SCHEMA["$defs"]["missing"]):
        check(part, "")


def test_what_it_claims_of_each_page(made):
    document = whole(made[0])
    claimed = {
        page["url"].removeprefix(SITE): (page["verdict"], page["evidence"], page["reason"])
        for page in document["pages"]
    }
    assert claimed == {
        "apex": ("coherent", "instant", "reference-download"),
        "equal": ("coherent", "bytes", "equal-bytes"),
        "modest": ("coherent", "validator", "not-modified"),
        "changed": ("changed", "bytes", "other-bytes"),
        "broken": ("unknown", "none", "second-failed"),
        "cut": ("unknown", "none", "second-failed"),
        "vanished": ("changed", "bytes", "other-answer"),
        "style.css": ("coherent", "bytes", "equal-bytes"),
        "packed": ("coherent", "bytes", "equal-unpacked"),
    }
    assert [page["url"].removeprefix(SITE) for page in document["not_captured"]] == ["moved", "gone", "dead", "private"]


def test_the_claim_and_its_instant(made):
    _, document = made
    capture = document["capture"]
    assert sentence(capture["claim"]) == (
        "3 of 7 pages were in this state together at 2026-11-18T11:08:20Z; "
        "for 1 of them that is the server's word, and no audit says how many of these may be wrong: "
        "1 shown by equal bytes before and after, "
        "1 by the server's word that nothing had changed (304), 1 downloaded at that very instant."
    )
    assert capture["totals"] == {
        "known": 11, "captured": 7, "coherent": 3, "changed": 2, "unknown": 2, "not_captured": 4,
    }  # fmt: skip
    assert capture["reference"] == dict.fromkeys(("instant", "from", "to"), "2026-11-18T11:08:20.250000Z")
    whole = {name: capture[name] for name in ("name", "reference", "totals", "claim")}
    assert document["subsites"] == [whole]


def test_its_files_are_stated_with_their_digests_and_it_lies_in_one_of_its_own(made):
    folder, document = made
    place = document["kept_in"]
    stated = {file["name"]: file for file in [*document["files"], {"name": place["file"], **place}]}
    assert len(document["files"]) > 1, "a rotated capture has several"
    assert set(stated) == {path.name for path in folder.glob("*.warc.gz")}
    for name, file in stated.items():
        data = (folder / name).read_bytes()
        assert (file["bytes"], file["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    pages, record = [record for record in read(folder / place["file"]) if record.kind == "metadata"]
    assert pages["WARC-Target-URI"] == "urn:sharc-certificate:example.org:pages"
    assert pages.block == (folder / "certificate-pages.jsonl").read_bytes()
    assert document["pages"] == {
        "name": "certificate-pages.jsonl",
        "lines": 13,
        "bytes": len(pages.block),
        "sha256": hashlib.sha256(pages.block).hexdigest(),
    }
    assert record.offset == place["offset"]
    assert record["WARC-Target-URI"] == "urn:sharc-certificate:example.org"
    del document["kept_in"]
    assert json.loads(record.block) == document
    assert record.block == canonical(document)
    read_all(folder)


def test_the_digest_can_be_made_by_anybody(made):
    _, document = made
    rest = {name: value for name, value in document.items() if name not in ("digest", "kept_in")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert document["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" == digest(document)
    assert document["capture"]["settings"]["delay"] == "0.05", "no fractional numbers: they differ by language"


def test_a_capture_is_certified_once_and_only_when_it_is_complete(tmp_path):
    facts = make(tmp_path)
    assert certify([incomplete(facts)], tmp_path) == []
    (written,) = certify([facts], tmp_path)
    text, names = written.path.read_text(), {path.name for path in tmp_path.iterdir()}
    assert certify([facts], tmp_path) == []
    assert written.path.read_text() == text
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_capture_without_warc_files_is_not_certified(tmp_path):
    assert certify([replace(make(tmp_path), warcs=())], tmp_path) == []


def test_a_subsite_has_a_claim_of_its_own(tmp_path):
    facts = make(tmp_path)
    news = [page for page in facts.pages if page.url in {SITE + "equal", SITE + "changed"}]
    own = replace(facts, pages=tuple(news), reference=facts.reference + 0.25)
    part = unit("news", own, own.figures.whole)
    assert sentence(part["claim"]).startswith("1 of 2 pages was in this state at")
    assert part["totals"]["captured"] == 2
    assert part["reference"]["from"] < part["reference"]["instant"] < part["reference"]["to"]


@pytest.mark.slow
def test_a_crash_between_record_and_file_is_made_good(tmp_path):
    facts = make(tmp_path)
    certify([facts], tmp_path)
    (tmp_path / "certificate.json").unlink()
    certify([facts], tmp_path)
    document = json.loads((tmp_path / "certificate.json").read_text())
    assert len(document["files"]) == 2, "the file with the former record is one of them"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    facts = make(tmp_path)
    (tmp_path / "certificate.json.d").mkdir()
    for path in tmp_path.glob("*.warc.gz"):
        path.write_bytes(b"")
    with pytest.raises(UsageError, match="starts with a warcinfo record"):
        certify([facts], tmp_path)


def test_a_person_is_told_how_far_the_examination_of_the_pages_is(tmp_path):
    told = []
    (written,) = certify([make(tmp_path)], tmp_path, lambda done, total: told.append(done / total))
    pages = len((tmp_path / pages_name(written.path.name)).read_text().splitlines())
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert sum(share > 2 / 3 + 1e-9 for share in told) == pages, "the WARC files are read by two thirds"


def test_what_nobody_saw_on_the_wire_is_sealed_with_that_limit_alone(tmp_path):
    maker = Maker(tmp_path)
    visit = maker.visit("apex", said("the apex"), Slot.ONLY, normalised="headers rebuilt")
    maker.add("apex", Verdict.COHERENT, Evidence.INSTANT, visit, reason=Reason.REFERENCE_DOWNLOAD)
    facts = maker.facts(visit.started)
    (made,) = certify([facts], tmp_path)
    assert [one.what for one in made.findings] == ["its claim rests on records that were rebuilt, and does not say so"]
    assert not made.path.exists()
    assert not certify([replace(facts, notes=(f"{UNSEEN}: told",))], tmp_path)[0].findings
    assert verify(tmp_path).findings == []
