"""Visits before T that a later one took the place of: an alteration of what is said of them is found."""

from __future__ import annotations

import shutil
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Slot, Verdict
from tests.certificate.forging import entry, findings, forge, forge_warc, is_page
from tests.certificate.made import SITE, Maker, looked_again, said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looked") / "capture"
    looked_again(folder)
    return folder


def swapped(document: dict) -> None:
    page = entry(document, "anew")
    page["visit"], page["former"] = {**page["former"][0]}, [page["visit"]]


def promoted(document: dict) -> None:
    """The old content is said to have been there until the revisit, and the new one was never seen."""
    swapped(document)
    entry(document, "anew").update(verdict="changed", reason="other-bytes")


def dropped(folder: Path, text: bytes) -> None:
    forge_warc(folder, lambda record: () if is_page(record, "anew") and text in record.block else None)


def after_t(document: dict) -> None:
    """The revisit is hidden among the former visits: the page was looked at once."""
    page = entry(document, "other")
    page["former"], page["revisit"] = [page["revisit"]], None
    page.update(verdict="unknown", evidence="none", reason="never-revisited")


def first_after_t(document: dict) -> None:
    after_t(document)
    entry(document, "other")["former"][0]["slot"] = "first"


def of_another(document: dict) -> None:
    entry(document, "other")["former"] = [{**entry(document, "anew")["former"][0]}]


def former(**changes):
    return lambda document: entry(document, "anew")["former"][0].update(changes)


ALTERED = {
    "another digest": (former(digest="sha1:" + "A" * 32), "digest of its former visit"),
    "another instant": (former(date="2026-11-18T11:06:42.000000Z"), "former visit"),
    "another address": (former(uri=SITE + "other"), "former visit"),
    "another status": (former(status=404), "status of its former visit"),
    "another result": (former(result="gone"), "result of its former visit"),
    "said to have failed": (former(result="failed", file=None, offset=None, digest=None, status=None), "is in no"),
    "more attempts": (former(attempts=4), "4 attempts"),
    "another field": (former(sha256="0"), "no field"),
    "the revisit said to have failed": (
        lambda d: entry(d, "other")["revisit"].update(result="failed", file=None, offset=None),
        "is in no",
    ),
    "left out": (lambda d: entry(d, "anew").pop("former"), "it is in no certificate"),
    "left out, and said to be an attempt": (
        lambda d: (entry(d, "anew").pop("former"), entry(d, "anew")["visit"].update(attempts=2)),
        "it is in no certificate",
    ),
    "swapped with the visit": (swapped, "after its visit"),
    "swapped, and judged so": (promoted, "after its visit"),
    "the revisit among them": (after_t, "not made before T"),
    "the revisit among them as a first one": (first_after_t, "not made before T"),
    "gone, and said to be coherent": (
        lambda d: entry(d, "back").update(verdict="coherent", reason="equal-bytes"),
        "verdict is 'changed'",
    ),
    "of another page": (of_another, "former visit is of"),
}


@pytest.mark.matrix
@pytest.mark.parametrize("case", ALTERED)
def test_an_alteration_is_found(original, tmp_path, case):
    change, expected = ALTERED[case]
    folder = shutil.copytree(original, tmp_path / "capture")
    assert verify(folder).findings == []
    forge(folder, change)
    assert expected in findings(folder)


def test_a_record_that_is_gone_is_found(original, tmp_path):
    folder = shutil.copytree(original, tmp_path / "capture")
    dropped(folder, b"old anew")
    assert "the record of its former visit is missing" in findings(folder)


@pytest.mark.parametrize("later", ["a page", "a page that changed"])
def test_what_a_crawl_calls_stale_stands_as_no_record_says_how_long_downloads_took(tmp_path, later):
    maker = Maker(tmp_path)
    first, reference = maker.visit("a", said("a page"), Slot.FIRST), maker.now + 1
    maker.add(
        "a", Verdict.UNKNOWN, Evidence.NONE, first, maker.visit("a", said(later), Slot.SECOND), reason=Reason.STALE
    )
    certify([maker.facts(reference)], tmp_path)
    assert findings(tmp_path) == ""


def test_former_visits_tell_of_the_servers_clock_too(tmp_path):
    """It was 1,000 s ahead, and put right before T: what it says of the revisits may be a copy's."""
    maker = Maker(tmp_path)

    def visit(name, ahead, slot=Slot.FIRST):
        return maker.visit(
            name, said(name, f"Date: {formatdate(maker.now + 2 + ahead, usegmt=True)}\r\n".encode()), slot
        )

    former = {name: visit(name, 1000) for name in ("a", "b", "c")}
    visits = {name: visit(name, 0) for name in ("a", "b")}
    reference = maker.now + 1
    for name, first in {"c": former.pop("c"), **visits}.items():
        revisit, before = visit(name, 0, Slot.SECOND), (former[name],) if name in former else ()
        maker.add(name, Verdict.UNKNOWN, Evidence.NONE, first, revisit, reason=Reason.STALE, former=before)
    certify([maker.facts(reference)], tmp_path)
    assert findings(tmp_path) == ""
