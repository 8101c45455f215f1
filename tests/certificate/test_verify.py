"""A certificate holds, and fails on any alteration, however well it is covered up."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.members import records
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, to_text
from sharc_crawler.certificate.exchanges_on_disk import Many
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import total_size, verify
from sharc_crawler.certificate.witness import _short, ingest
from sharc_crawler.certificate.writing import certify
from sharc_crawler.changes.http import parse_response
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.judgement import PAIRS
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Phase, Slot, Verdict
from sharc_crawler.report.claim import sentence
from sharc_crawler.state.rows import Batch, CaptureRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.gathered import folders_text
from sharc_crawler.storage.sqlite import SqliteStore
from tests.certificate.forging import entry, findings, forge, forge_warc, is_page, rewrite, whole
from tests.certificate.made import SITE, Maker, certified, said, twins, unchanged_twin


def test_a_capture_as_it_was_made_holds(original):
    verification = verify(original)
    assert verification.findings == []
    assert (verification.pages, verification.resources, verification.elsewhere) == (7, 2, 0)
    assert sentence(verification.claims[0]).startswith("3 of 7 pages were in this state together")


def test_what_is_told_of_the_way_comes_to_what_was_said_to_be_ahead(original):
    told = []
    verify(original, progress=told.append)
    assert 0.95 * total_size(original) < sum(told) <= total_size(original)


def test_files_in_several_pieces_hold_too(tmp_path):
    certified(tmp_path / "pieces", max_size=1_500)
    assert verify(tmp_path / "pieces").findings == []


@pytest.mark.parametrize("stated", [False, True])
def test_a_304_may_not_refer_to_a_payload_that_no_download_of_its_page_had(tmp_path, stated):
    folder = tmp_path / "twins"
    twins(folder)
    one = entry(whole(folder), "one")["visit"]
    new = {"WARC-Refers-To-Target-URI": one["uri"], "WARC-Refers-To-Date": one["date"]}
    own = [("WARC-Payload-Digest", one["digest"])] if stated else []

    def other(record):
        if not is_page(record, "third", "revisit"):
            return None
        return [*((n, new.get(n, value)) for n, value in record.fields if n != "WARC-Refers-To"), *own], record.block

    forge_warc(folder, other)
    assert "third: it says that it did not change, and refers to another page" in findings(folder)


def test_a_page_that_a_304_says_is_as_formerly_may_have_its_payload_with_another(tmp_path):
    folder, former = tmp_path / "capture", tmp_path / "former"
    unchanged_twin(folder, former)
    alone, together = verify(folder), verify(folder, [former])
    assert (alone.findings, alone.elsewhere, together.findings, together.elsewhere) == ([], 1, [], 0)


def test_an_answer_of_no_capture_is_found_where_former_ones_are_at_hand(tmp_path):
    folder, former = tmp_path / "capture", tmp_path / "former"
    unchanged_twin(folder, former)

    def older(record):
        refers = dict(record.fields).get("WARC-Refers-To-Target-URI") == f"{SITE}two"
        if not (refers and is_page(record, "two", "revisit")):
            return None
        old = {"WARC-Refers-To-Date": "2025-01-01T00:00:00.000000Z"}
        return [(n, old.get(n, value)) for n, value in record.fields if n != "WARC-Refers-To"], record.block

    forge_warc(folder, older)
    assert verify(folder).elsewhere == 1, "it may be so"
    what = "two: it refers to 2025-01-01T00:00:00.000000Z of http://example.org/two, which is in no capture at hand"
    assert what in "\n".join(map(str, verify(folder, [former]).findings))


def test_a_length_of_too_many_digits_is_longer_than_any_body():
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\nbody"
    assert _short(parse_response(raw))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 8))])
def test_one_flipped_bit_anywhere_is_found(capture, seed):
    files = [*sorted(capture.glob("*.warc.gz")), *capture.glob("certificate*.json*")]
    chosen = random.Random(seed)
    for _ in range(12):
        path = chosen.choice(files)
        data = bytearray(whole := path.read_bytes())
        at = chosen.randrange(len(data))
        data[at] ^= 1 << chosen.randrange(8)
        path.write_bytes(data)
        try:
            found = findings(capture)  # where the certificate says where it is kept, the other file is named
            assert path.name in found or (found and path.suffix != ".gz"), (path.name, at)
        except DataError as error:  # a certificate that cannot even be read
            assert path.name in str(error)
        path.write_bytes(whole)


def test_a_damaged_record_is_named_with_its_place_and_the_rest_is_still_read(capture):
    (warc,) = capture.glob("*-00000-*.warc.gz")
    with warc.open("rb") as stream:
        hit = next(record for record in records(stream) if is_page(record, "changed"))
    data = bytearray(warc.read_bytes())
    data[hit.offset + hit.length // 2] ^= 0x10
    warc.write_bytes(data)
    said = findings(capture)
    assert f"{warc.name}:{hit.offset}: no whole record here: damaged" in said
    assert f"{SITE}changed: the record of its visit is missing" in said
    assert said.count("the record of its") == 1, "what comes after it is read"


def test_an_alteration_that_is_not_covered_up_is_found_three_times(capture):
    path = capture / "certificate.json"
    path.write_text(path.read_text().replace('"delay": "0.05"', '"delay": "0.01"'))
    said = findings(capture)
    assert "certificate.json: its digest is sha256:" in said
    assert "the certificate in the WARC file is another one" in said


def test_white_space_is_an_alteration(capture):
    path = capture / "certificate.json"
    path.write_text(path.read_text() + " ")
    assert findings(capture) == "certificate.json: it is not written as sharc writes it"


def test_an_altered_index_is_found_and_a_missing_one_is_no_alteration(capture):
    (index,) = capture.glob("*-00000-*.cdxj")
    index.write_text(index.read_text().replace('"status": "200"', '"status": "404"', 1))
    assert findings(capture) == f"{index.name}: the index is not that of its WARC file"
    index.unlink()
    assert findings(capture) == ""


def test_missing_and_added_files_are_found(capture):
    (warc,) = capture.glob("*-00000-*.warc.gz")
    shutil.copy(warc, capture / "more-20261118110640-00000-x.warc.gz")
    warc.unlink()
    said = findings(capture)
    assert f"{warc.name}: this file is missing" in said
    assert "more-20261118110640-00000-x.warc.gz: this file is in no certificate" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as a certificate"),
        ("[]", "cannot be read as a certificate"),
        pytest.param("[" * 200_000, "cannot be read as a certificate", id="lists in lists"),
        ('{"format": "sharc-certificate", "version": 2}', "version 2; known is"),
        ('{"format": "sharc-certificate", "version": 1}', "is not by the schema"),
    ],
)
def test_what_is_no_certificate_is_said_to_be_none(capture, text, message):
    (capture / "certificate.json").write_text(text)
    with pytest.raises(DataError, match=message):
        verify(capture)


def test_a_folder_without_a_certificate(tmp_path):
    with pytest.raises(DataError, match="holds no certificate"):
        verify(tmp_path)


@pytest.mark.parametrize(
    ("mode", "ended", "warcs", "why"),
    [
        ("instant", 9.0, True, "an instant crawl claims no coherence"),
        ("capture", None, True, "the same command resumes it"),
        ("capture", 9.0, False, "there are no WARC files"),
        ("capture", 9.0, True, "make it with: sharc report"),
    ],
)
def test_why_a_capture_has_no_certificate(tmp_path, mode, ended, warcs, why):
    store = SqliteStore(tmp_path)
    spec = CaptureSpec("a", ("http://a/",), mode=mode)
    store.commit(Batch(captures={0: CaptureRow(0, spec, Phase.DONE, 1.0, None, ended, ())}))
    store.close()
    if warcs:
        (tmp_path / "a-00000-x.warc.gz").touch()
    with pytest.raises(DataError, match=why):
        verify(tmp_path)


def test_the_guide_has_every_field_of_the_json(original):
    found = json.loads(CliRunner().invoke(main, ["verify", str(original), "--json"]).stdout)
    guide = (Path(__file__).parents[2] / "docs" / "certificate.md").read_text()
    table = guide.partition("field of `sharc verify --json`")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall("`([a-z]+)`", row.split("|")[1])}
    assert named == found.keys()


@pytest.mark.slow
def test_captures_of_spiders_and_runs_are_verified_together(original, tmp_path):
    names = ["kept", "spider/first", "spider/second"]
    for name in names:
        shutil.copytree(original, tmp_path / name)
    (tmp_path / "spider" / "latest").symlink_to("second")
    found = verify(tmp_path)
    assert (found.findings, found.captures) == ([], names), "a link to one of them is another name"
    (tmp_path / "elsewhere").symlink_to(original)
    assert [finding.what for finding in verify(tmp_path).findings] == ["a folder that lies elsewhere"]


def test_the_command_says_what_holds_and_ends_with_0(original):
    answer = CliRunner().invoke(main, ["verify", str(original)])
    assert answer.exit_code == 0, answer.output
    assert "Everything holds: judgements of 7 pages and 2 resources" in answer.output
    assert answer.stderr.splitlines()[-1] == f"Next: sharc package {original}"
    assert "3 of 7 pages were in this state together" in answer.output


def test_the_command_names_what_was_altered_and_ends_with_3(capture):
    forge(capture, lambda d: entry(d, "changed").update(verdict="coherent", reason="equal-bytes"))
    answer = CliRunner().invoke(main, ["verify", str(capture)])
    assert answer.exit_code == 3
    assert "changed: verdict is 'changed' by the records" in answer.output
    answer = CliRunner().invoke(main, ["verify", str(capture), "--json"])
    assert answer.exit_code == 3
    told = json.loads(answer.stdout)
    assert not told["holds"]
    assert {finding["url"] for finding in told["findings"]} >= {SITE + "changed"}


def test_a_digest_noted_elsewhere_reveals_another_certificate(original):
    noted = json.loads((original / "certificate.json").read_text())[DIGEST]
    assert CliRunner().invoke(main, ["verify", str(original), "--digest", noted]).exit_code == 0
    answer = CliRunner().invoke(main, ["verify", str(original), "--digest", f"sha256:{0:064}"])
    assert answer.exit_code == 3
    assert f"a certificate's digest is {noted}, not sha256:0" in answer.output


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda path: path.unlink(), "certificate.json: its pages are missing"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b'"changed"', b'"unknown"')), "not as they were"),
        (lambda path: path.write_bytes(b"{"), "certificate-pages.jsonl: its pages are not as they were: sha256 "),
    ],
)
def test_pages_are_those_that_the_certificate_states(capture, change, what):
    change(capture / "certificate-pages.jsonl")
    found = findings(capture)
    assert what in found
    assert "Error" not in found, "in our words"


def test_a_certificate_that_cannot_be_read_is_told_before_it_is_packed(capture):
    (capture / "certificate.json").write_text("{")
    answer = CliRunner().invoke(main, ["package", str(capture)])
    assert answer.exit_code == 3
    assert f"{capture / 'certificate.json'} cannot be read as a certificate" in answer.output
    assert list(capture.glob("*.wacz")) == []


def test_pages_in_the_warc_file_are_those_beside_it(capture):
    document = json.loads((capture / "certificate.json").read_text())
    warc = capture / document[KEPT_IN]["file"]
    rewrite(warc, lambda r: (r.fields, r.block.replace(b"equal", b"other")) if ":pages" in str(r.fields) else None)
    with warc.open("rb") as stream:
        document[KEPT_IN]["offset"] = [record.offset for record in records(stream)][-1]
    document[KEPT_IN] |= fixity(warc)
    (capture / "certificate.json").write_text(to_text(document))
    assert "its pages in the WARC file are others" in findings(capture)


def test_records_are_looked_up_on_disk_where_there_are_many(original, monkeypatch):
    monkeypatch.setattr("sharc_crawler.certificate.witness.FEW", 1)
    witness = ingest(open_source(original).warcs)
    (exchanges,) = (value for value in vars(witness).values() if isinstance(value, Many))
    assert 1 + len(list(exchanges)) == len(list(witness)) > 15
    held = [value for value in vars(witness).values() if isinstance(value, dict | list)]
    assert sum(map(len, held)) <= 8, "certificates, files and the last one alone"


def test_a_site_that_was_moved_elsewhere_is_said_not_to_be_verified(capture, tmp_path):
    sites = tmp_path / "sites.json"
    sites.write_text(folders_text({SITE: capture.name, "gone.example": "gone"}))
    done = CliRunner().invoke(main, ["verify", str(tmp_path)])
    assert (done.exit_code, "not verified: gone.example, whose folder was moved" in done.output) == (0, True)
    sites.write_text(folders_text({"gone.example": "gone"}))
    with pytest.raises(DataError, match="moved elsewhere; name one"):
        verify(tmp_path)


def test_a_digest_is_taken_with_and_without_its_name_and_nothing_else_is_one(original):
    noted = json.loads((original / "certificate.json").read_text())["digest"]
    bare = CliRunner().invoke(main, ["verify", str(original), "--digest", noted.removeprefix("sha256:")])
    assert bare.exit_code == 0, bare.output
    cut = CliRunner().invoke(main, ["verify", str(original), "--digest", noted[:20]])
    assert (cut.exit_code, "is no digest; it is sha256: and 64 hexadecimal digits" in cut.stderr) == (2, True)


def test_audits_tell_of_a_class_whose_etags_differ_at_equal_bytes_as_they_did_in_the_crawl(tmp_path):
    """From the sixth on, nothing is left open; so no page is called refuted that the crawl claimed rightly."""
    maker = Maker(tmp_path)
    names = [f"s/p{n}.html" for n in range(8)]
    visits = {name: maker.visit(name, said(name, b'ETag: "1"\r\n'), Slot.ONLY) for name in names}
    reference = maker.now + 1.25
    for name in reversed(names):  # the last one within three seconds
        again = maker.visit(name, said(name, b'ETag: "other"\r\n'), Slot.SECOND)
        known = len(maker.pages) >= PAIRS
        found = (Verdict.COHERENT, Evidence.BYTES) if known else (Verdict.UNKNOWN, Evidence.NONE)
        maker.add(name, *found, visits[name], again, reason=Reason.EQUAL_BYTES if known else Reason.OTHER_ETAG)
    certify([maker.facts(reference, strategy="sharc-attested")], tmp_path)
    assert verify(tmp_path).findings == []
