"""Certificates for instants that no capture was made for."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.at_instant import Next, _Judged, name_at
from sharc_crawler.certificate.canonical import digest
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import seal
from sharc_crawler.cli import main
from sharc_crawler.collection.certifying import CERTIFICATES, _at, _Certified, _certified, certify_at
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.verifying import verify_collection
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso, unix
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Outcome, Result, Slot, Validators, Verdict
from tests.certificate.made import ASKED, SAME, SITE, START, Maker, said
from tests.certificate.provisional import AUDIT, sitemap
from tests.collection.damaged import damage


@pytest.fixture
def copied(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    return Collection(tmp_path / "kept")


def certificate(folder):
    return json.loads((folder / "certificate.json").read_text())


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def pages(path):
    lines = path.with_name(path.name.replace(".json", "-pages.jsonl")).read_text().splitlines()
    return {urlsplit(one["url"]).path: one for one in map(json.loads, lines)}


@pytest.mark.slow
def test_between_two_captures_what_both_show_is_certified(copied, monkeypatch):
    first, second = (certificate(one.folder)["capture"] for one in copied.captures())
    between = (unix(first["ended"]) + unix(second["started"])) / 2
    monkeypatch.setattr(busy.__wrapped__, "__defaults__", (True, None, 0.0))
    done = run("certify", copied.folder, "--at", between)
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("verifying the captures around it"), "what takes long says so"
    (path,) = (copied.folder / CERTIFICATES).glob("*.json")
    document, found = json.loads(path.read_text()), pages(path)
    assert document["digest"] == digest(document)
    assert document["digest"] in done.output
    assert {one: page.get("verdict", page["reason"]) for one, page in found.items()} == {
        "/": "changed",
        "/tides.html": "coherent",
        "/style.css": "coherent",
        "/gone.html": "changed",
        "/new.html": "late",
    }
    tides = found["/tides.html"]
    assert tides["before"]["date"] <= document["reference"]["instant"] <= tides["after"]["date"]
    assert [one["name"] for one in document["captures"]] == [tides["before"]["capture"], tides["after"]["capture"]]
    assert document["totals"] == {
        "known": 4, "captured": 3, "coherent": 1, "changed": 2, "unknown": 0, "not_captured": 1,
    }  # fmt: skip
    every, _ = verify_collection(copied)
    assert every.findings == []
    assert document["digest"] in every.digests
    assert "1 of 3 pages was in this state" in run("verify", copied.folder).output


def test_within_a_capture_its_own_verdicts_come_out(copied):
    first, _ = copied.captures()
    own = certificate(first.folder)["capture"]
    (path,) = certify_at(copied, unix(own["reference"]["instant"]))
    made = json.loads(path.read_text())
    later = made["totals"]["not_captured"]
    assert {**made["totals"], "known": made["totals"]["known"] - later, "not_captured": 0} == own["totals"]
    assert later == 1, "the page that the next capture found"
    assert made["reference"] == own["reference"]
    assert made["claim"]["grounds"] == own["claim"]["grounds"]
    dates = [one["after"]["date"] for one in pages(path).values() if one.get("after")]
    assert dates == sorted(set(dates)), "each was judged by what the revisits before it showed"


@pytest.mark.slow
def test_what_is_altered_or_not_there_any_more_is_found(copied):
    _, second = copied.captures()
    (path,) = certify_at(copied, unix(certificate(second.folder)["capture"]["reference"]["instant"]))
    assert verify_collection(copied)[0].findings == []
    lines, text = path.with_name(path.name.replace(".json", "-pages.jsonl")), path.read_text()
    kept = lines.read_text()
    lines.write_text(kept.replace('"coherent"', '"changed"', 1))
    assert any("are not what the captures show" in str(one) for one in verify_collection(copied)[0].findings)
    lines.write_text(kept)
    path.write_text(text.replace('"coherent": 3', '"coherent": 4'))
    assert [str(one) for one in verify_collection(copied)[0].findings] == [
        f"{CERTIFICATES}/{path.name}: it is not what the captures show; what later ones found counts, too"
        " (sharc certify makes it anew)"
    ]
    path.write_text(text)
    (second.folder / "certificate.json").unlink()
    (finding,) = verify_collection(copied)[0].findings
    assert "not there, or have no certificate" in str(finding)
    path.write_text("{")
    (finding,) = verify_collection(copied)[0].findings
    assert "cannot be read as a certificate" in str(finding)


def test_nothing_is_certified_of_damaged_captures_or_other_times(copied):
    first, _ = copied.captures()
    start, end = (unix(certificate(first.folder)["capture"][name]) for name in ("started", "ended"))
    asked = run("certify", copied.folder, "--at", "2001-01-01")
    assert asked.exit_code == 2
    assert "lies outside of the captures with certificates" in asked.output
    assert run("certify", copied.folder, "--at", "yesterday").exit_code == 2
    assert "nearest" not in run("certify", copied.folder, "--at", start, "--site", "x").output
    (copied.folder / CERTIFICATES).write_text("")
    assert "certificates cannot be written to: File exists" in run("certify", copied.folder, "--at", start + 0.1).output
    (copied.folder / CERTIFICATES).unlink()
    (warc, *_) = sorted(first.folder.glob("*.warc.gz"))
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 4
    warc.write_bytes(data)
    with pytest.raises(DataError, match="does not agree with its own certificate"):
        certify_at(copied, (start + end) / 2)
    assert not (Path(copied.folder) / CERTIFICATES).exists()


def test_damage_of_a_former_record_that_is_not_referred_to_stops_nothing(copied):
    first, second = copied.captures()
    damage(first.folder, "gone.html")
    found = [str(one) for one in verify_collection(copied)[0].findings]
    assert found and not any("refers to it" in one or second.folder.name in one for one in found)
    (first.folder / "certificate.json").unlink()
    assert certify_at(copied, unix(certificate(second.folder)["capture"]["reference"]["instant"]))


AWAY = {
    "gone": (Result.GONE, 404, Reason.GONE.of(404)),
    "moved": (Result.REDIRECTED, 302, Reason.REDIRECTED.of("http://example.org/")),
}


def dated(
    root: Path, name: str, begins: float, versions: dict[str, str], lastmods: dict[str, float], caught: int, slow=()
):
    """A capture of pages of these contents, and of a sitemap, with what its audit found; ``slow``: answers that the
    server made 25 seconds after the request.
    """
    folder = root / name
    folder.mkdir()
    maker = Maker(folder, run=name)
    maker.now = begins
    for page, text in versions.items():
        date = formatdate(maker.now + (25.0 if page in slow else 1.5), usegmt=True).encode()
        if text in AWAY:
            result, status, reason = AWAY[text]
            gone = b"HTTP/1.1 %d X\r\nDate: %s\r\nLocation: /\r\nContent-Length: 0\r\n\r\n" % (status, date)
            maker.add(page, visit=maker.visit(page, gone, Slot.ONLY, result), reason=reason)
            continue
        visit = maker.visit(page, said(text, b"Date: %s\r\n" % date), Slot.ONLY)
        maker.add(page, Verdict.UNKNOWN, Evidence.NONE, visit, reason=Reason.LASTMOD_OPEN)
    maker.visit("sitemap.xml", sitemap(lastmods), Slot.SECOND)
    classes = [{"label": "/*", "values": 3, "checks": 0, "lies": 0, "reason": None, "believed": True}]
    strata = [{"of": "lastmod", "label": "/*", "claimed": 0, "confirmed": 0, "caught": caught}]
    facts = maker.facts(maker.now, started=begins, strategy="sharc-attested")
    audit = {**AUDIT, "claimed": 0, "provisional": 0, "lag": 0, "classes": classes, "strata": strata}
    facts = replace(facts, audit=audit)
    seal(series_of(facts.warcs[0]), [(facts, folder / "certificate.json")], folder)
    assert verify(folder).findings == []
    return _Certified(name, folder, certificate(folder), [])


@pytest.mark.parametrize("caught", [0, 1])
def test_lastmods_show_a_page_that_bytes_do_not_unless_one_of_them_was_caught_lying(tmp_path, caught):
    """Three pages that were edited between two captures: before the instant, after it, and nobody says when."""
    instant, old = START + 5000, START - 5000
    told = {"before": instant - 99, "after": instant + 99, "silent": old}
    captures = [
        dated(tmp_path, "one", START, dict.fromkeys(told, "old"), dict.fromkeys(told, old), caught),
        dated(tmp_path, "two", START + 10_000, dict.fromkeys(told, "new"), {**told, "silent": instant + 9999}, 0),
    ]
    document, entries = _at("example.org", instant, captures, captures)
    found = {urlsplit(one["url"]).path: (one["verdict"], one["evidence"]) for one in entries}
    shown = ("changed", "bytes") if caught else ("coherent", "attested")
    assert found == {"/before": shown, "/after": ("changed", "bytes"), "/silent": ("changed", "bytes")}
    assert document["reference"] == dict.fromkeys(("from", "to", "instant"), document["reference"]["instant"])


def test_what_was_made_after_the_instant_shows_nothing_of_it_whenever_it_was_asked_for(tmp_path):
    names = dict.fromkeys(("1", "2", "3", "4"), "text")
    captures = [
        dated(tmp_path, "one", START, names, {}, 0, slow=("4",)),
        dated(tmp_path, "two", START + 10_000, names, {}, 0),
    ]
    for after, verdict in ((8.0, "unknown"), (30.0, "coherent")):
        _, entries = _at("example.org", START + after, captures, captures)
        found = {urlsplit(one["url"]).path: one["verdict"] for one in entries}
        assert found == {**dict.fromkeys(("/1", "/2", "/3"), "coherent"), "/4": verdict}


def test_a_lastmod_that_stands_still_between_two_states_speaks_against_all_of_its_kind(tmp_path):
    """Nobody caught it: the next capture's first visits brought other bytes than the capture before."""
    instant, old = START + 5000, START - 5000
    told = {"told": instant - 99, "hidden": old}
    captures = [
        dated(tmp_path, "one", START, dict.fromkeys(told, "old"), dict.fromkeys(told, old), 0),
        dated(tmp_path, "two", START + 10_000, dict.fromkeys(told, "new"), told, 0),
    ]
    _, entries = _at("example.org", instant, captures, captures)
    assert {one["verdict"] for one in entries} == {"changed"}


def test_what_a_later_capture_found_speaks_against_lastmods_too(tmp_path):
    """And a certificate that was made before it no longer holds."""
    instant, old = START + 5000, START - 5000
    captures = [
        dated(tmp_path, "one", START, {"told": "old"}, {"told": old}, 0),
        dated(tmp_path, "two", START + 10_000, {"told": "new"}, {"told": instant - 99}, 0),
        dated(tmp_path, "three", START + 20_000, {"told": "new"}, {"told": instant - 99}, 1),
    ]
    verdicts = [
        [one["verdict"] for one in _at("example.org", instant, captures[:2], known)[1]]
        for known in (captures[:2], captures)
    ]
    assert verdicts == [["coherent"], ["changed"]]


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("listed", [True, False])
def test_no_lastmod_shows_a_page_that_is_gone_at_the_next_download(tmp_path, away, listed):
    """The sitemap may go on listing it: then it speaks against its kind."""
    instant, old = START + 5000, START - 5000
    told = {"told": instant - 99, away: old}
    captures = [
        dated(tmp_path, "one", START, dict.fromkeys(told, "old"), dict.fromkeys(told, old), 0),
        dated(
            tmp_path, "two", START + 10_000, {"told": "new", away: away}, told if listed else {"told": instant - 99}, 0
        ),
    ]
    _, entries = _at("example.org", instant, captures, captures)
    found = {urlsplit(one["url"]).path: one["verdict"] for one in entries}
    assert found == {"/told": "changed" if listed else "coherent", f"/{away}": "changed"}


@pytest.mark.parametrize(("between", "verdict"), [("the page", "coherent"), ("another state", "changed")])
def test_a_304_counts_for_the_content_that_it_was_asked_for(tmp_path, between, verdict):
    """Another capture's download came between the visit and the revisit that was told so."""
    folder = tmp_path / "one"
    folder.mkdir()
    maker = Maker(folder, run="one")
    visit = maker.visit("x", said("the page", b'ETag: "1"\r\n'), Slot.FIRST)
    maker.now = START + 1000
    original = Original(SITE + "x", visit.started, visit.digest)
    again = maker.visit("x", SAME, Slot.SECOND, Result.NOT_MODIFIED, original, request=ASKED)
    maker.add("x", Verdict.COHERENT, Evidence.VALIDATOR, visit, again, reason=Reason.NOT_MODIFIED)
    facts = maker.facts(START + 500)
    seal(series_of(facts.warcs[0]), [(facts, folder / "certificate.json")], folder)
    captures = [
        _Certified("one", folder, certificate(folder), []),
        dated(tmp_path, "two", START + 100, {"x": between}, {}, 0),
        dated(tmp_path, "three", START + 2000, {"y": "another page"}, {"x": START - 5000}, 0),
    ]
    _, entries = _at("example.org", START + 600, captures, captures)
    entries = [one for one in entries if one["url"] == f"{SITE}x"]
    assert [one["verdict"] for one in entries] == [verdict]


@pytest.mark.parametrize(("after", "verdict"), [(90, "coherent"), (600, "unknown")])
def test_a_304_from_a_cache_says_nothing_of_the_time_since_it_was_made(tmp_path, after, verdict):
    """It came 900 seconds after T, of a copy 800 seconds old."""
    maker = Maker(tmp_path, run="one")
    visit = maker.visit("x", said("the page", b'ETag: "1"\r\n'), Slot.FIRST)
    maker.now = START + 1000
    original = Original(SITE + "x", visit.started, visit.digest)
    aged = SAME.replace(b"ETag", b"Age: 800\r\nETag")
    again = maker.visit("x", aged, Slot.SECOND, Result.NOT_MODIFIED, original, request=ASKED)
    maker.add("x", Verdict.COHERENT, Evidence.VALIDATOR, visit, replace(again, age=800.0), reason=Reason.NOT_MODIFIED)
    facts = maker.facts(START + 100)
    seal(series_of(facts.warcs[0]), [(facts, tmp_path / "certificate.json")], tmp_path)
    assert verify(tmp_path).findings == []
    own = certificate(tmp_path)
    assert own["capture"]["reference"]["to"] == iso(again.started - 801)
    captures = [_Certified("one", tmp_path, own, [])]
    (entry,) = _at("example.org", START + 100 + after, captures, captures)[1]
    assert entry["verdict"] == verdict


@pytest.mark.parametrize("caught", [0, 1])
def test_no_304_of_a_later_capture_counts_where_any_capture_caught_the_server_lying_so(monkeypatch, copied, caught):
    captures = _certified(copied, copied.names()[0])
    first, second = (one.document["capture"] for one in captures)
    strata = [{"of": "304", "label": "/*", "claimed": 0, "confirmed": 0, "caught": caught}]
    later = captures[0]._replace(name="later", document={"capture": {"audit": {"of": "304", "strata": strata}}})
    between = (unix(first["ended"]) + unix(second["started"])) / 2
    monkeypatch.setattr("sharc_crawler.certificate.at_instant._NOT_MODIFIED", 200)  # as if it had been told so of all
    _, entries = _at(copied.names()[0], between, captures, [*captures, later])
    (tides,) = (one for one in entries if one["url"].endswith("tides.html"))
    assert tides["evidence"] in ({"none"} if caught else {"validator", "weak-validator"})


@pytest.mark.parametrize("called", ["weak-validator", "validator"])
def test_a_304_to_a_validator_that_a_capture_called_weak_is_a_weak_one(called):
    """By its text it is a strong one, of several contents."""
    shown = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=Validators('"build"'))
    before, after = (Next(None, {"evidence": one}, {}, shown) for one in ("bytes", called))
    assert _Judged(5.0, {}, None, lied=False)._not_modified(before, after).evidence == called


def test_of_many_pages_nothing_but_where_they_are_named_is_held(tmp_path):
    names = dict.fromkeys(map(str, range(20)), "text")
    captures = [dated(tmp_path, name, START + after, names, {}, 0) for name, after in (("one", 0), ("two", 10_000))]
    held = []

    def write(entries):
        for _ in entries:
            held.append(sum(isinstance(one, Next) for one in gc.get_objects()))
        return len(held)

    _, written = _at("example.org", START + 5000, captures, captures, write)
    assert written == 20
    assert max(held) <= 4, "those of one page"


@pytest.mark.slow
def test_an_interruption_between_its_two_files_leaves_none_of_them(copied, monkeypatch):
    start = unix(certificate(next(iter(copied.captures())).folder)["capture"]["started"])
    replace = Path.replace

    def without_room(path, target):
        if target.suffix == ".json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", without_room)
    failed = run("certify", copied.folder, "--at", start + 0.1)
    assert failed.exit_code == 2
    assert "certificates cannot be written to: No space left on device" in failed.output
    monkeypatch.undo()
    assert not list((copied.folder / CERTIFICATES).iterdir())
    half = copied.folder / CERTIFICATES / f".{name_at('x', start)}.4711"  # of one that was killed
    half.write_text("{")
    assert not verify_collection(copied)[0].findings
    assert run("certify", copied.folder, "--at", start + 0.1).exit_code == 0
