"""Of two copies that differ, the one that is not the page's state at T is called coherent nowhere."""

from __future__ import annotations

import json
import zipfile

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso
from sharc_crawler.model import Slot, Verdict
from sharc_crawler.report.banner import VERDICTS, dress, shelf
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import package
from tests.certificate.made import SITE, START, Maker
from tests.certificate.provisional import dated, sitemap

CHANGED = {"before": START + 20, "after": START + 150}  #: T is between these
SHOWN, OTHER = ("coherent", "attested"), ("unknown", "none")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One page changed between its visit and T, another between T and its audit, a third stayed."""
    folder = tmp_path_factory.mktemp("capture")
    maker = Maker(folder)
    names = ("before", "after", "still")
    visits = {name: dated(maker, name, f"old {name}", Slot.ONLY) for name in names}
    maker.now = reference = START + 100
    lastmods = {"before": CHANGED["before"], "after": START - 5000, "still": START - 5000}
    maker.visit("sitemap.xml", sitemap(lastmods, date=maker.now + 1.5), Slot.SECOND)
    maker.now = START + 200
    texts = {"before": "new before", "after": "new after", "still": "old still"}
    again = {name: dated(maker, name, text, Slot.SECOND) for name, text in texts.items()}
    maker.now = START + 5000
    maker.visit("sitemap.xml", sitemap(lastmods | {"after": CHANGED["after"]}, date=maker.now + 1.5), Slot.SECOND)
    for name in names:
        reason = Reason.LASTMOD_BEFORE_T if name == "before" else Reason.LASTMOD_BEFORE_VISIT
        maker.add(name, Verdict.COHERENT, Evidence.ATTESTED, visits[name], again[name], reason=reason)
    facts = maker.facts(reference, strategy="sharc-attested")
    certify([facts], folder)
    assert verify(folder).findings == []
    return folder, facts


EXPECTED = {
    ("before", "visit"): OTHER,
    ("before", "revisit"): SHOWN,
    ("after", "visit"): SHOWN,
    ("after", "revisit"): OTHER,
    ("still", "visit"): SHOWN,
    ("still", "revisit"): SHOWN,
}


def test_in_a_package_the_verdict_is_that_of_the_copy_and_so_is_the_title(made, tmp_path):
    folder, facts = made
    path = package(folder, [facts], tmp_path / "it.wacz")
    with zipfile.ZipFile(path) as opened:
        lines = [json.loads(line) for line in opened.read("pages/pages.jsonl").splitlines()[1:]]
    told = {(one["url"].removeprefix(SITE), one["download"]): one for one in lines}
    assert {key: (one["verdict"], one["evidence"]) for key, one in told.items()} == EXPECTED
    assert {key: one["title"] for key, one in told.items() if "r" in key[0]} == {
        ("before", "visit"): "old before",
        ("before", "revisit"): "new before",
        ("after", "visit"): "old after",
        ("after", "revisit"): "new after",
    }
    assert ([*map(str, verify(path).findings)], [*not_of_it(path)]) == ([], [])


def test_in_replay_too(made, tmp_path):
    dress([made[0]], pytest.fail, tmp_path)
    for (name, part), (verdict, _) in EXPECTED.items():
        rows = (tmp_path / "static" / VERDICTS / f"{shelf(SITE + name)}.jsonl").read_text().splitlines()
        (row,) = [row for row in map(json.loads, rows) if row[0] == SITE + name and row[2] == part]
        assert row[3] == verdict
        assert (row[4] == "but its other copy is") is (verdict == "unknown")


def test_the_reason_in_the_certificate_names_the_copy(made):
    lines = [json.loads(line) for line in (made[0] / "certificate-pages.jsonl").read_text().splitlines()]
    shown = {one["url"].removeprefix(SITE): one for one in lines}
    assert shown["before"]["reason"] == "lastmod-before-T"
    assert shown["before"]["revisit"]["date"] > iso(START + 100)
