"""Records, statements and parts altered, all digests made anew: each is found."""

from __future__ import annotations

import json
import re

import pytest

from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import seal
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Result, Slot, Verdict
from sharc_crawler.report.claim import sentence
from tests.certificate.forging import entry, findings, forge, forge_warc, is_page
from tests.certificate.made import SITE, Maker, attested, divided, said

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


@pytest.mark.matrix(3)
@pytest.mark.parametrize("case", FORGED_RECORDS)
def test_altered_records_are_found_even_where_all_digests_are_made_anew(capture, case):
    change, expected = FORGED_RECORDS[case]
    forge_warc(capture, change)
    found = verify(capture)
    assert f"{SITE}{expected}" in "\n".join(map(str, found.findings))
    assert found.elsewhere == 0, "it has no former captures"


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
    "a file left out": (lambda d: d["files"].clear(), "this file is in no certificate"),
    "a lost page made a visit": (
        lambda d: entry(d, "gone")["visit"].update(result="ok", status=200),
        "gone: result of its visit is 'gone'",
    ),
    "another page's name": (
        lambda d: entry(d, "equal").update(url=SITE + "better"), "better: its visit is of http://example.org/equal",
    ),
    "another subsite": (lambda d: entry(d, "equal").update(subsite="x"), "its subsite is none of the subsites"),
}  # fmt: skip


@pytest.mark.matrix(3)
@pytest.mark.parametrize("case", FORGED_STATEMENTS)
def test_altered_statements_are_found_even_where_all_digests_are_made_anew(capture, case):
    change, expected = FORGED_STATEMENTS[case]
    forge(capture, change)
    assert expected in findings(capture)


@pytest.mark.slow
def test_parts_with_a_reference_instant_each_hold(tmp_path):
    divided(tmp_path)
    verification = verify(tmp_path)
    assert verification.findings == []
    assert sentence(verification.claims[0]).startswith(
        "3 of 7 pages were in one state together with their part of the site, in 2 parts, each at its own instant; "
        "for 1 of them that is the server's word, and no audit says how many of these may be wrong: "
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


@pytest.mark.matrix(3)
@pytest.mark.slow
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


LISTED = f"<urlset><url><loc>{SITE}told</loc><lastmod>2026-11-18T10:00:01Z</lastmod></url></urlset>"


@pytest.mark.parametrize(
    ("sitemap", "believed"),
    [(f"{SITE}map.xml", True), ("http://www.example.org/m", True), ("http://b.example/m", False)],
)
def test_a_sitemap_of_another_host_is_not_believed(tmp_path, sitemap, believed):
    maker = Maker(tmp_path)
    told = maker.visit("told", said("told", b"Date: Wed, 18 Nov 2026 11:06:41 GMT\r\n"), Slot.ONLY)
    maker.visit("", said(f"Sitemap: {sitemap}"), Slot.ONLY, url=f"{SITE}robots.txt")
    maker.visit("", said(LISTED), Slot.ONLY, url=sitemap)
    maker.add("told", Verdict.COHERENT, Evidence.ATTESTED, told, reason=Reason.LASTMOD_BEFORE_VISIT)
    facts = maker.facts(maker.now, strategy="sharc-attested")
    seal(series_of(facts.warcs[0]), [(facts, tmp_path / "certificate.json")], tmp_path)
    refuted = f"{SITE}told: verdict is 'unknown' by the records, stated is 'coherent'" in findings(tmp_path)
    assert refuted is not believed


AWAY = {
    Result.GONE: b"HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n",
    Result.REDIRECTED: b"HTTP/1.1 302 F\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("result", AWAY)
def test_a_sitemap_that_hides_that_a_page_is_gone_is_not_believed(tmp_path, result, again):
    """Where it is not read again, the page may have gone after T."""
    maker = Maker(tmp_path)
    told = maker.visit("told", said("told", b"Date: Wed, 18 Nov 2026 11:06:41 GMT\r\n"), Slot.ONLY)
    maker.visit("sitemap.xml", said(LISTED), Slot.FIRST)
    reference = maker.now
    gone = maker.visit("told", AWAY[result], Slot.SECOND, result)
    maker.visit("sitemap.xml", said(LISTED), Slot.SECOND) if again else None
    maker.add("told", Verdict.COHERENT, Evidence.ATTESTED, told, gone, reason=Reason.LASTMOD_BEFORE_VISIT)
    facts = maker.facts(reference, strategy="sharc-attested")
    seal(series_of(facts.warcs[0]), [(facts, tmp_path / "certificate.json")], tmp_path)
    refuted = f"{SITE}told: verdict is 'changed' by the records, stated is 'coherent'" in findings(tmp_path)
    assert refuted is again


def _units(document):
    return document["capture"], *document["subsites"]


OTHER_TYPES = {
    "totals": lambda document: [one["totals"].update(known=float(one["totals"]["known"])) for one in _units(document)],
    "claims": lambda document: [one["claim"].update(parts=False) for one in _units(document)],
    "limits": lambda document: [
        limit.update(attested=0) for one in _units(document) for limit in one["claim"]["limits"] if "attested" in limit
    ],
    "sizes": lambda document: [one.update(bytes=float(one["bytes"])) for one in document["files"]],
    "settings": lambda document: document["capture"]["settings"].update(delay=0.5),
    "offsets": lambda document: next(iter(document["pages"]))["visit"].update(offset=False),
    "version": lambda document: document.update(version=True),
}


@pytest.mark.parametrize("change", OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_a_number_of_another_type_is_none(capture, change):
    """1, 1.0 and true are equal to Python, and not to others who read the certificate."""
    assert findings(capture) == ""
    forge(capture, change)
    try:
        assert findings(capture)
    except DataError as error:
        assert "version True" in str(error)


def test_a_record_without_a_date_is_named(capture):

    def undated(record):
        return [one for one in record.fields if one[0] != "WARC-Date"], record.block

    forge_warc(capture, lambda record: undated(record) if is_page(record, "equal") else None)
    assert f"{SITE}equal: it has no WARC-Date" in findings(capture)
