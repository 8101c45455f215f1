"""A certificate holds, and fails on any alteration, however well it is covered up."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.cdxj import index_path
from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.records import member
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.entries import write_entries
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.witness import _short, ingest
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import parse_response
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.store import Batch, CaptureRow
from sharc_crawler.model import Phase
from sharc_crawler.report.claim import sentence
from sharc_crawler.storage.folders import folders_text
from sharc_crawler.storage.scratch import Scratch
from sharc_crawler.storage.sqlite import SqliteStore
from tests.certificate.made import SITE, attested, certified, divided, twins, unchanged_twin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified")
    certified(folder)
    return folder


@pytest.fixture
def capture(original, tmp_path):
    """A copy that may be altered."""
    return shutil.copytree(original, tmp_path / "capture")


def findings(folder: Path) -> str:
    return "\n".join(map(str, verify(folder).findings))


def whole(folder: Path) -> dict:
    """A certificate with its pages and what was not captured."""
    document = json.loads((folder / "certificate.json").read_text())
    entries = [json.loads(line) for line in (folder / "certificate-pages.jsonl").read_text().splitlines()]
    captured = [entry for entry in entries if "verdict" in entry]
    return {**document, "pages": captured, "not_captured": [entry for entry in entries if "verdict" not in entry]}


def forge(folder: Path, change: Callable[[dict], object]) -> None:
    """Alter the certificate and cover it up everywhere: its digest, its record, the digest of the record's file."""
    path = folder / "certificate.json"
    document = whole(folder)
    change(document)
    place = document[KEPT_IN]
    pages = io.BytesIO()
    entries = [*document["pages"], *document.pop("not_captured")]
    document["pages"] = write_entries(pages, "certificate-pages.jsonl", entries)
    (folder / "certificate-pages.jsonl").write_bytes(pages.getvalue())
    document[DIGEST] = digest(document)

    def forged(record: Record) -> object:
        is_pages = (record.get("WARC-Target-URI") or "").endswith(":pages")
        return (record.fields, pages.getvalue() if is_pages else kept(document)) if record.kind == "metadata" else None

    rewrite(folder / place["file"], forged)
    with (folder / place["file"]).open("rb") as stream:
        offset = [record.offset for record in records(stream)][-1]
    document[KEPT_IN] = {**place, "offset": offset, **fixity(folder / place["file"])}
    path.write_text(to_text(document))


def rewrite(warc: Path, change: Callable[[Record], object]) -> None:
    """Write a WARC file anew; ``change`` gives other fields and block of a record, ``()`` drops it, None keeps it."""
    with warc.open("rb") as stream:
        old = [record for record in records(stream) if isinstance(record, Record)]
    parts = []
    for record in old:
        changed = change(record)
        fields, block = (record.fields, record.block) if changed is None else changed or (None, b"")
        if fields is not None:
            own = {"content-length", "warc-block-digest"}
            kept_fields = [(name, value) for name, value in fields if name.lower() not in own]
            parts.append(member([*kept_fields, ("WARC-Block-Digest", labelled_digest(block))], block, 6))
    warc.write_bytes(b"".join(parts))


def forge_warc(folder: Path, change: Callable[[Record], object]) -> None:
    """Alter records and cover it up in the certificate's digests of files."""
    (warc,) = folder.glob("*-00000-*.warc.gz")
    rewrite(warc, change)
    index_path(warc).unlink()
    forge(folder, lambda document: document["files"][0].update(fixity(warc)))


def entry(document: dict, name: str) -> dict:
    return next(page for page in (*document["pages"], *document["not_captured"]) if page["url"] == SITE + name)


def is_page(record: Record, name: str, kind: str = "response") -> bool:
    return record.kind == kind and record.get("WARC-Target-URI") == SITE + name


def test_a_capture_as_it_was_made_holds(original):
    verification = verify(original)
    assert verification.findings == []
    assert (verification.pages, verification.elsewhere) == (9, 0)
    assert sentence(verification.claims[0]).startswith("3 of 7 pages were in this state together")


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


@pytest.mark.parametrize("seed", range(8))
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


OTHER = b"http-response-base64: SFRUUC8xLjEgMjAwIE9LDQoNCg==\r"
FORGED_RECORDS = {
    "a dropped visit": (lambda r: () if is_page(r, "changed") else None, "changed: the record of its visit is missing"),
    "a dropped original": (lambda r: () if is_page(r, "equal") else None, "equal: the record of its visit is missing"),
    "a dropped 304": (
        lambda r: () if is_page(r, "modest", "revisit") else None,
        "modest: the record of its revisit is missing",
    ),
    "another time": (
        lambda r: (
            [(n, v.replace("T11:06:4", "T11:05:4") if n == "WARC-Date" else v) for n, v in r.fields],
            r.block,
        ) if is_page(r, "changed") else None,
        "changed: ",
    ),
    "another body, with its digests": (
        lambda r: (
            [(n, v) for n, v in r.fields if n != "WARC-Payload-Digest"], r.block.replace(b"the page", b"our  page")
        ) if is_page(r, "equal") else None,
        "equal: digest of its visit is",
    ),
    "a request without its condition": (
        lambda r: (
            (r.fields, r.block.replace(b'If-None-Match: "1"\r\n', b"")) if is_page(r, "modest", "request") else None
        ),
        "modest: verdict is 'unknown' by the records, stated is 'coherent'",
    ),
    "a 304 that was none": (
        lambda r: (r.fields, re.sub(rb"http-response-base64: .*", OTHER, r.block))
        if is_page(r, "modest", "metadata") else None,
        "modest: result of its revisit is 'ok' by its record, stated is 'not-modified'",
    ),
    "a revisit of nothing": (
        lambda r: (
            [(n, v.replace("equal", "other") if n == "WARC-Refers-To-Target-URI" else v) for n, v in r.fields], r.block
        )
        if is_page(r, "equal", "revisit") else None,
        "equal: it refers to 2026-11-18T11:06:41.750000Z of http://example.org/other, which is in no capture at hand",
    ),
    "a revisit of another record": (
        lambda r: (
            [(n, v.replace("urn:uuid:", "urn:uuid:f") if n == "WARC-Refers-To" else v) for n, v in r.fields], r.block
        )
        if is_page(r, "equal", "revisit") else None,
        "equal: it refers to the record <urn:uuid:f",
    ),
    "a 304 as equal bytes": (
        lambda r: (
            [(n, v.replace("server-not-modified", "identical-payload-digest")) for n, v in r.fields], r.block
        )
        if is_page(r, "modest", "revisit") else None,
        "modest: it is a revisit of kind 'identical-payload-digest', the server's answer had status 304",
    ),
    "another payload digest": (
        lambda r: ([(n, "sha1:A" if n == "WARC-Payload-Digest" else v) for n, v in r.fields], r.block)
        if is_page(r, "gone") else None,
        "gone: its payload is not what its digest says",
    ),
    "another address": (
        lambda r: ([(n, "10.0.0.1" if n == "WARC-IP-Address" else v) for n, v in r.fields], r.block)
        if is_page(r, "gone") else None,
        "gone: its WARC-IP-Address is 127.0.0.1, that of the record it belongs to is 10.0.0.1",
    ),
    "a dropped request": (
        lambda r: () if is_page(r, "gone", "request") else None, "gone: the request that it answers is missing",
    ),
    "another time of a request": (
        lambda r: ([(n, v.replace("T11:06", "T11:05") if n == "WARC-Date" else v) for n, v in r.fields], r.block)
        if is_page(r, "gone", "request") else None,
        "gone: its WARC-Date is 2026-11-18T11:05",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED_RECORDS)
def test_altered_records_are_found_even_where_all_digests_are_made_anew(capture, case):
    change, expected = FORGED_RECORDS[case]
    forge_warc(capture, change)
    assert f"{SITE}{expected}" in findings(capture)


def test_records_written_anew_without_a_change_hold(capture):
    forge_warc(capture, lambda record: None)
    assert findings(capture) == ""


EARLY, LATE = "2026-11-18T11:06:42.000000Z", "2026-11-19T11:06:42.000000Z"
FORGED_STATEMENTS = {
    "a moved judgement": (
        lambda d: entry(d, "changed").update(verdict="coherent", reason="equal-bytes"),
        "changed: verdict is 'changed' by the records, stated is 'coherent'",
    ),
    "better evidence": (lambda d: entry(d, "modest").update(evidence="bytes"), "modest: evidence is 'validator'"),
    "another digest": (
        lambda d: entry(d, "changed")["revisit"].update(digest=entry(d, "changed")["visit"]["digest"]),
        "changed: digest of its revisit is",
    ),
    "another time": (
        lambda d: entry(d, "equal")["visit"].update(date="2026-11-18T11:06:41.850000Z"),
        "equal: date of its visit is '2026-11-18T11:06:41.750000Z' by its record",
    ),
    "a failure made good": (
        lambda d: entry(d, "cut").update(verdict="coherent", evidence="bytes", reason="equal-bytes"),
        "cut: verdict is 'unknown'",
    ),
    "a page that was never revisited": (
        lambda d: entry(d, "equal").update(revisit=None),
        "equal: verdict is 'unknown'",
    ),
    "totals": (lambda d: d["capture"]["totals"].update(coherent=4), "totals of the capture: coherent is 3, stated"),
    "the sentence": (
        lambda d: d["capture"]["claim"].update(coherent=7),
        "claim of the capture: coherent is 3, stated is 7",
    ),
    "the subsite's claim": (lambda d: d["subsites"][0]["claim"].update(limits=[]), "claim of the subsite example.org"),
    "T": (
        lambda d: [part["reference"].update(instant=EARLY) for part in (d["capture"], *d["subsites"])],
        "verdict is 'unknown'",
    ),
    "T's interval": (lambda d: d["capture"]["reference"].update(to=LATE), "reference of the capture"),
    "no T": (lambda d: [part.update(reference=None) for part in (d["capture"], *d["subsites"])], "T is not stated"),
    "the limits": (lambda d: d.update(limits=[]), "its limits are not those of this version"),
    "a page that counts twice": (lambda d: d["pages"].append(entry(d, "equal")), "equal: it is listed twice"),
    "a changed page left out": (lambda d: d["pages"].remove(entry(d, "changed")), "totals of the capture: "),
    "a file left out": (lambda d: d["files"].clear(), "no certificate speaks of this file"),
    "a lost page made a visit": (
        lambda d: entry(d, "gone")["visit"].update(result="ok", status=200),
        "gone: result of its visit is 'gone'",
    ),
    "another page's name": (
        lambda d: entry(d, "equal").update(url=SITE + "better"), "better: its visit is of http://example.org/equal",
    ),
    "another subsite": (lambda d: entry(d, "equal").update(subsite="x"), "its subsite is none of the subsites"),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED_STATEMENTS)
def test_altered_statements_are_found_even_where_all_digests_are_made_anew(capture, case):
    change, expected = FORGED_STATEMENTS[case]
    forge(capture, change)
    assert expected in findings(capture)


def test_parts_with_a_reference_instant_each_hold(tmp_path):
    divided(tmp_path)
    verification = verify(tmp_path)
    assert verification.findings == []
    assert sentence(verification.claims[0]).startswith(
        "3 of 7 pages were in one state together with their part of the site, in 2 parts, each at its own instant: "
    )
    document = json.loads((tmp_path / "certificate.json").read_text())
    assert document["capture"]["reference"] is None
    docs, news = document["subsites"]
    assert sentence(docs["claim"]).startswith("2 of 5 pages were in this state together at 2026-11-18T11:08:20Z")
    assert news["totals"] == {
        "known": 3, "captured": 2, "coherent": 1, "changed": 1, "unknown": 0, "not_captured": 1,
    }  # fmt: skip
    assert news["reference"]["from"] < news["reference"]["instant"] < news["reference"]["to"]


FORGED_PARTS = {
    "a coherent page moved": (lambda d: entry(d, "equal").update(subsite="docs"), "totals of the subsite docs"),
    "a changed page moved": (lambda d: entry(d, "changed").update(subsite="docs"), "totals of the subsite news"),
    "a part's T": (
        lambda d: d["subsites"][1]["reference"].update(instant=EARLY, **{"from": EARLY}),
        "reference of the subsite news",
    ),
    "a part's claim": (
        lambda d: d["subsites"][1]["claim"].update(coherent=2),
        "claim of the subsite news: coherent is 1",
    ),
    "a part left out": (lambda d: d["subsites"].pop(), "its subsite is none of the subsites"),
    "one part twice": (lambda d: d["subsites"].append(d["subsites"][1]), "two subsites have one name"),
    "one T for all": (
        lambda d: d["capture"].update(reference=d["subsites"][0]["reference"]),
        "T of the capture is None by its subsites",
    ),
    "a part without T": (lambda d: d["subsites"][1].update(reference=None), "T is not stated"),
}


@pytest.mark.parametrize("case", FORGED_PARTS)
def test_altered_parts_are_found(tmp_path, case):
    divided(tmp_path)
    change, expected = FORGED_PARTS[case]
    forge(tmp_path, change)
    assert expected in findings(tmp_path)


def test_the_servers_word_is_read_from_the_sitemap_in_the_warc(tmp_path):
    attested(tmp_path / "true")
    verification = verify(tmp_path / "true")
    assert verification.findings == []
    assert "1 by the server's word on when they last changed (lastmod)" in sentence(verification.claims[0])


@pytest.mark.parametrize("lastmod", ["2026-11-18T11:06:43Z", "2026-11-18", "2026-11-19"])
def test_a_sitemap_that_does_not_say_so_is_found(tmp_path, lastmod):
    attested(tmp_path / "false", lastmod)
    assert f"{SITE}told: verdict is 'unknown' by the records, stated is 'coherent'" in findings(tmp_path / "false")


def test_a_sitemap_that_was_dropped_is_found(tmp_path):
    attested(tmp_path / "capture")
    forge_warc(tmp_path / "capture", lambda record: () if is_page(record, "sitemap.xml") else None)
    assert f"{SITE}told: verdict is 'unknown' by the records" in findings(tmp_path / "capture")


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
    assert "more-20261118110640-00000-x.warc.gz: no certificate speaks of this file" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as a certificate"),
        ("[]", "cannot be read as a certificate"),
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
        ("capture", None, True, "the same command goes on"),
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


def test_the_command_says_what_holds_and_ends_with_0(original):
    answer = CliRunner().invoke(main, ["verify", str(original)])
    assert answer.exit_code == 0, answer.output
    assert "Everything holds: 9 judgements" in answer.output
    assert answer.stderr.splitlines()[-1] == f"Next: sharc package {original}"
    assert "3 of 7 pages were in this state together" in answer.output


def test_the_command_names_what_was_altered_and_ends_with_3(capture):
    forge(capture, FORGED_STATEMENTS["a moved judgement"][0])
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
    answer = CliRunner().invoke(main, ["verify", str(original), "--digest", "sha256:0"])
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
    assert what in findings(capture)


def test_pages_in_the_warc_file_are_those_beside_it(capture):
    document = json.loads((capture / "certificate.json").read_text())
    warc = capture / document[KEPT_IN]["file"]
    rewrite(warc, lambda r: (r.fields, r.block.replace(b"equal", b"other")) if ":pages" in str(r.fields) else None)
    with warc.open("rb") as stream:
        document[KEPT_IN]["offset"] = [record.offset for record in records(stream)][-1]
    document[KEPT_IN] |= fixity(warc)
    (capture / "certificate.json").write_text(to_text(document))
    assert "its pages in the WARC file are others" in findings(capture)


def test_records_are_looked_up_on_disk(original):
    witness = ingest(open_source(original).warcs)
    (exchanges,) = (value for value in vars(witness).values() if isinstance(value, Scratch))
    assert len(list(exchanges)) == len(list(witness)) > 15
    held = [value for value in vars(witness).values() if isinstance(value, dict | list)]
    assert sum(map(len, held)) <= 6, "certificates and files alone"


def test_a_site_that_was_moved_elsewhere_is_said_not_to_be_verified(capture, tmp_path):
    sites = tmp_path / "sites.json"
    sites.write_text(folders_text({SITE: capture.name, "gone.example": "gone"}))
    done = CliRunner().invoke(main, ["verify", str(tmp_path)])
    assert (done.exit_code, "not verified: gone.example, whose folder was moved" in done.output) == (0, True)
    sites.write_text(folders_text({"gone.example": "gone"}))
    with pytest.raises(DataError, match="moved elsewhere; name one"):
        verify(tmp_path)
