"""A certificate's provisional claims, confirmed by the sitemaps as they are later; cut off anywhere; forged."""

from __future__ import annotations

import gc
import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.canonical import DIGEST, digest, to_text
from sharc_crawler.certificate.confirming import confirm, confirmation_of, outlook, waits
from sharc_crawler.certificate.examining import Again
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED, CONFIRMING
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.withdrawal import withdraw
from sharc_crawler.certificate.witness import Finding, ingest
from sharc_crawler.certificate.writing import seal
from sharc_crawler.changes.http import http_date
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso
from sharc_crawler.model import Result, Slot, Verdict
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import package
from sharc_crawler.report.servers_word import confirmed as confirmed_words
from tests.certificate.made import SITE, START, Maker
from tests.certificate.provisional import AUDIT, LAG, MOVED, OLD, TOLD, dated, later, provisional, sitemap


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("provisional")
    provisional(folder)
    return folder


@pytest.fixture
def capture(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "capture"))


def test_what_stands_what_is_lost_and_what_is_left_open(capture):
    assert waits(capture).pages == 3
    done = confirm(capture, later(TOLD))
    assert done["confirmed"] == 1
    assert {one["url"].removeprefix(SITE): (one["verdict"], one["evidence"]) for one in done["pages"]} == {
        "late": ("changed", "attested"),
        "after": ("coherent", "provisional"),
    }
    claim = done["capture"]["claim"]
    assert {one["evidence"]: one["pages"] for one in claim["grounds"]} == {"attested": 1, "provisional": 1}
    found = verify(capture)
    assert found.findings == []
    assert found.confirmations == [done]
    assert found.provisional == []
    assert waits(capture) is None
    assert not (capture / CONFIRMING).exists()


def test_of_what_is_confirmed_nothing_is_held(capture, monkeypatch):
    """Each page that is claimed otherwise by now differs from its certificate: of a large capture, most do."""
    held, units = [], Again.units

    def counted(again: Again):
        held.append(sum(isinstance(one, Finding) for one in gc.get_objects()))
        return units(again)

    monkeypatch.setattr(Again, "units", counted)
    before = sum(isinstance(one, Finding) for one in gc.get_objects())
    assert confirm(capture, later(TOLD))["confirmed"] == 1
    assert held == [before]


def test_where_another_copy_shows_the_page_by_then_it_is_named(tmp_path):
    """Its sitemap called it still at T, and tells later that it changed between visit and T: its audit shows T then."""
    maker = Maker(tmp_path, run="run1")
    visit = dated(maker, "moved", "old", Slot.ONLY)
    maker.now = reference = START + 100
    maker.visit("sitemap.xml", sitemap({"moved": START - 5000}, date=maker.now + 1.5), Slot.SECOND)
    again = dated(maker, "moved", "new", Slot.SECOND)
    reason = Reason.LASTMOD_BEFORE_VISIT
    maker.add("moved", Verdict.COHERENT, Evidence.PROVISIONAL, visit, again, reason=reason)
    facts = replace(maker.facts(reference, strategy="sharc-attested"), audit=AUDIT)
    seal(series_of(facts.warcs[0]), [(facts, tmp_path / "certificate.json")], tmp_path)
    assert verify(tmp_path).findings == []
    done = confirm(tmp_path, later({"moved": START + 60}))
    assert done["confirmed"] == 1
    assert [(one["verdict"], one["evidence"], one["reason"]) for one in done["pages"]] == [
        ("coherent", "attested", "lastmod-before-T")
    ]
    assert [*confirmed_words(done)][1].startswith("so ")
    path = package(tmp_path, [facts], tmp_path / "it.wacz")
    with zipfile.ZipFile(path) as opened:
        lines = [json.loads(line) for line in opened.read("pages/pages.jsonl").splitlines()[1:]]
    assert [(one["download"], one["verdict"]) for one in lines] == [("visit", "unknown"), ("revisit", "coherent")]
    assert ([*map(str, verify(tmp_path).findings)], [*not_of_it(path)]) == ([], [])


def test_read_too_soon_or_not_at_all_nothing_is_confirmed_and_nothing_is_left_behind(capture):
    with pytest.raises(DataError, match="confirm nothing yet"):
        confirm(capture, later(OLD, after=LAG / 2))
    with pytest.raises(DataError, match="no sitemap"):
        confirm(capture, lambda _, folder: folder.mkdir())
    assert sorted(path.name for path in capture.iterdir() if "confirm" in path.name) == []
    assert verify(capture).provisional[0]["pages"] == 3


def test_a_copy_of_the_sitemap_of_then_confirms_nothing(capture):
    """Its Date tells: a cache need not say that it is one."""
    dates = [one.message.header(b"date") for one in ingest(open_source(capture).warcs) if "sitemap" in one.uri]
    read_then = http_date(dates[0].decode())
    with pytest.raises(DataError, match="copies of what was read before"):
        confirm(capture, later(OLD, made=read_then))
    assert confirm(capture, later(OLD, made=read_then + LAG + 300))["confirmed"] == 3


def test_a_reading_is_of_when_its_server_says_not_of_when_the_reading_machine_believes_to_be(capture):
    """One whose clock is ahead would confirm at once."""
    dates = [http_date(one.message.header(b"date").decode()) for one in ingest(open_source(capture).warcs)]
    with pytest.raises(DataError, match="confirm nothing yet"):
        confirm(capture, later(OLD, after=LAG + 86_400, made=max(dates) + 60))
    assert confirm(capture, later(OLD, after=LAG + 86_400))["confirmed"] == 3


def test_a_sitemap_that_a_redirect_leads_to_was_read(tmp_path):
    provisional(tmp_path, led="wp-sitemap.xml")
    assert confirm(tmp_path, later(OLD, led="wp-sitemap.xml"))["confirmed"] == 3


ALL = ("still", "late", "after")


@pytest.mark.parametrize(
    ("then", "told", "other", "confirmed"),
    [
        (ALL, {"still": OLD["still"]}, ALL, 1),  # it dates two pages no more, and the other one may be left behind
        (("still",), {"still": OLD["still"]}, ALL, 3),  # two pages are named in the other one now
        ((), {"still": OLD["still"]}, ALL, 1),  # nobody knows what the other one is
        (ALL, OLD, ALL, 3),
        (ALL, OLD, ("still",), 1),
    ],
)
def test_a_page_is_confirmed_by_the_sitemaps_that_dated_it_or_one_that_names_it_anew(
    tmp_path, then, told, other, confirmed
):
    provisional(tmp_path, others={"wp-sitemap.xml": then} if then else {})
    assert confirm(tmp_path, later(told, others={"wp-sitemap.xml": other}))["confirmed"] == confirmed
    assert verify(tmp_path).findings == []


def test_a_sitemap_that_lies_elsewhere_by_then_confirms_nothing(capture):
    with pytest.raises(DataError, match="are other sitemaps than then"):
        confirm(capture, later(OLD, led="old/sitemap.xml"))


def test_a_sitemap_that_leads_nowhere_was_not(capture):
    def read(_, folder):
        folder.mkdir()
        maker = Maker(folder, run="later")
        maker.visit("sitemap.xml", MOVED % b"other.xml", Slot.FIRST, Result.REDIRECTED)
        maker.out.close()

    with pytest.raises(DataError, match="xml could not be read"):
        confirm(capture, read)


def test_a_sitemap_that_turns_out_later_than_its_lag_is_waited_for_longer(capture):
    """At T it did not tell of a change twenty minutes before: so all that it may hide is due later."""
    told = {"still": OLD["still"], "late": START + 40 - 1200, "after": OLD["after"]}
    with pytest.raises(DataError, match="confirm nothing yet"):
        confirm(capture, later(told))
    confirm(capture, later(told, after=4 * LAG))
    assert confirmation_of(capture)["lag"] > 2 * 1200 - 200
    assert verify(capture).findings == []


class _CutError(BaseException):
    """The process ends here."""


@pytest.mark.slow
def test_cut_off_anywhere_the_capture_is_provisional_or_confirmed_and_verifies(made, tmp_path, monkeypatch):
    """Each step on the disk is the last one of some run; the next run brings it to its end."""
    steps = ("rename", "replace", "fsync", "mkdir")
    states = set()
    for last in range(1, 200):
        folder = Path(shutil.copytree(made, tmp_path / str(last)))
        left = last

        def counted(real):
            def step(*given, **named):
                nonlocal left
                left -= 1
                if left <= 0:
                    raise _CutError
                return real(*given, **named)

            return step

        with monkeypatch.context() as patch:
            for name in steps:
                patch.setattr(os, name, counted(getattr(os, name)))
            patch.setattr(shutil, "rmtree", counted(shutil.rmtree))
            try:
                confirm(folder, later(TOLD))
                break
            except _CutError:
                pass
        found = verify(folder)
        assert found.findings == [], f"cut at step {last}"
        states.add(bool(found.confirmations))
        assert bool(found.confirmations) != bool(found.provisional)
        if not found.confirmations:
            confirm(folder, later(TOLD))
            assert verify(folder).confirmations
    else:
        raise AssertionError("it never came to its end")
    assert last > 10
    assert states == {False, True}


def test_a_lag_of_thousands_of_years_waits_until_the_last_day_that_can_be_written():
    claim = {"grounds": [{"evidence": "provisional", "pages": 1}]}
    left = outlook({"capture": {"claim": claim, "ended": "2026-01-01T00:00:00Z", "audit": {"lag": 10**20}}})
    assert iso(left.due).startswith("9999-12-31")


def test_two_at_once_are_refused(capture):
    def meanwhile(told, folder):
        with pytest.raises(UsageError, match="by another process"):
            confirm(capture, later(TOLD))
        later(TOLD)(told, folder)

    confirm(capture, meanwhile)
    assert verify(capture).findings == []


def test_who_comes_when_another_has_just_confirmed_leaves_it_as_it_is(capture):
    before = confirm(capture, later(TOLD))
    with pytest.raises(UsageError, match="meanwhile"):
        confirm(capture, later(TOLD))
    assert confirmation_of(capture) == before
    assert verify(capture).findings == []


def rewritten(capture: Path, /, **changes: object) -> None:
    path = capture / CONFIRMATION / CONFIRMED
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(to_text({**document, DIGEST: digest(document)}))


def stated(capture: Path) -> dict:
    return json.loads((capture / CONFIRMATION / CONFIRMED).read_text())


def reading(capture: Path) -> Path:
    return min((capture / CONFIRMATION).glob("*.warc.gz"))


def index(capture: Path) -> Path:
    return min((capture / CONFIRMATION).glob("*.cdxj"))


def claim_more(capture: Path) -> None:
    unit = stated(capture)["capture"]
    rewritten(capture, capture={**unit, "claim": {**unit["claim"], "coherent": 3}})


def flip(capture: Path) -> None:
    data = bytearray(reading(capture).read_bytes())
    data[len(data) // 2] ^= 1
    reading(capture).write_bytes(data)


def write(capture: Path, text: str) -> None:
    (capture / CONFIRMATION / CONFIRMED).write_text(text)


FORGERIES = {
    "a lost page is left out": lambda capture: rewritten(capture, pages=stated(capture)["pages"][1:]),
    "another claim": claim_more,
    "a shorter lag": lambda capture: rewritten(capture, lag=1),
    "of another certificate": lambda capture: rewritten(capture, certificate="sha256:00"),
    "no confirmation": lambda capture: (capture / CONFIRMATION / CONFIRMED).unlink(),
    "a field too many": lambda capture: rewritten(capture, court="of law"),
    "not written so": lambda capture: write(capture, to_text(stated(capture)) + " "),
    "the reading is missing": lambda capture: reading(capture).unlink(),
    "a byte of the reading": flip,
    "a file beside": lambda capture: shutil.copy(reading(capture), f"{reading(capture)}.gz"),
    "an index of another": lambda capture: index(capture).write_text(index(capture).read_text().replace("map", "mpa")),
    "an index cut short": lambda capture: index(capture).write_text(""),
    "no JSON": lambda capture: write(capture, "{"),
    "lists in lists": lambda capture: write(capture, "[" * 200_000),
    "no object": lambda capture: write(capture, "[]"),
}


@pytest.fixture(scope="module")
def confirmed(made, tmp_path_factory) -> Path:
    folder = Path(shutil.copytree(made, tmp_path_factory.mktemp("confirmed") / "capture"))
    confirm(folder, later(TOLD))
    return folder


@pytest.mark.parametrize("what", FORGERIES)
def test_an_altered_confirmation_is_found(confirmed, tmp_path, what):
    folder = Path(shutil.copytree(confirmed, tmp_path / "capture"))
    FORGERIES[what](folder)
    found = verify(folder).findings
    assert found
    assert all((one.file or "").startswith(CONFIRMATION) for one in found), found


@pytest.mark.slow
def test_a_confirmation_is_one_whose_digest_was_noted_too(confirmed, tmp_path):
    """Who can forge the later reading can confirm what it likes: the certificate's digest says nothing of that."""
    folder = Path(shutil.copytree(confirmed, tmp_path / "capture"))
    certificate = json.loads((folder / "certificate.json").read_text())[DIGEST]
    noted = ["--digest", certificate, "--digest", stated(folder)[DIGEST]]

    def verified(*words):
        return CliRunner().invoke(main, ["verify", str(folder), *words])

    assert verified(*noted).exit_code == 0
    assert "a confirmation's digest is" in verified(*noted[:2]).output
    shutil.rmtree(folder / CONFIRMATION)
    confirm(folder, later(OLD))  # another reading, in which nothing was lost
    assert verified().exit_code == 0
    assert "a confirmation's digest is" in verified(*noted).output
    shutil.rmtree(folder / CONFIRMATION)
    assert "nothing here has the digest" in verified(*noted).output


def test_a_confirmation_goes_aside_with_its_certificate_and_the_next_one_is_confirmed_anew(made, capture):
    confirm(capture, later(TOLD))
    assert withdraw(capture, "example.org") == ".withdrawn/confirmation-1"
    for name in ("certificate.json", "certificate-pages.jsonl"):
        shutil.copy(made / name, capture)
    assert verify(capture).findings == []
    assert waits(capture).pages == 3
    confirm(capture, later(TOLD))
    assert withdraw(capture, "example.org") == ".withdrawn/confirmation-2"
    assert withdraw(capture, "example.org") == ""
