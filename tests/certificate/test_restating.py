"""Pages of which the records show something else than was judged: they are unknown, and the others as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Result, Slot, Verdict
from sharc_crawler.report.opened import as_sealed
from sharc_crawler.report.refuted import as_restated, settle
from tests.certificate.made import SITE, make
from tests.certificate.provisional import provisional


def with_page(facts, name, **fields):
    pages = tuple(replace(page, **fields) if page.url == SITE + name else page for page in facts.pages)
    return replace(facts, pages=pages)


def page_of(facts, name):
    (page,) = [page for page in facts.pages if page.url == SITE + name]
    return page


def settled(facts, folder):
    (after,), (certified,) = settle([facts], folder, certify([facts], folder))
    return after, certified


def sealed_pages(folder):
    lines = (folder / "certificate-pages.jsonl").read_text().splitlines()
    return {entry["url"].removeprefix(SITE): entry for entry in map(json.loads, lines)}


COHERENT = {"verdict": Verdict.COHERENT, "evidence": Evidence.BYTES, "reason": Reason.EQUAL_BYTES}


def test_a_claim_that_the_records_do_not_show_is_none_and_the_others_stand(tmp_path):
    whole = make(tmp_path / "whole")
    certify([whole], tmp_path / "whole")
    facts = make(tmp_path / "apart")
    after, certified = settled(with_page(facts, "changed", **COHERENT), tmp_path / "apart")
    assert certified.findings == ()
    assert verify(tmp_path / "apart").findings == []
    expected, found = sealed_pages(tmp_path / "whole"), sealed_pages(tmp_path / "apart")
    changed = found.pop("changed")
    assert (changed["verdict"], changed["evidence"], changed["reason"]) == ("unknown", "none", "refuted")
    assert changed["revisit"]["digest"] == expected.pop("changed")["revisit"]["digest"]
    judged = [{name: one.get("verdict") for name, one in pages.items()} for pages in (found, expected)]
    assert judged[0] == judged[1]
    assert "do not support the crawl's verdicts on 1 page" in after.notes[0]


@pytest.mark.parametrize("place", ["none.warc.gz:7", None])
@pytest.mark.parametrize("part", ["visit", "revisit"])
def test_a_download_without_a_record_is_not_stated(part, place, tmp_path):
    facts = make(tmp_path)
    lost = replace(getattr(page_of(facts, "equal"), part), started=facts.started + 33.0, warc=place)
    after, certified = settled(with_page(facts, "equal", **{part: lost}), tmp_path)
    assert certified.findings == ()
    assert verify(tmp_path).findings == []
    entry = sealed_pages(tmp_path)["equal"]
    assert (entry[part], entry["reason"]) == (None, "refuted") if part == "revisit" else "verdict" not in entry
    assert page_of(after, "equal").verdict is (Verdict.UNKNOWN if part == "revisit" else None)


@pytest.mark.parametrize(("result", "kept"), [(Result.REFUSED, True), (Result.OK, False)])
def test_a_revisit_that_no_request_was_made_for_is_stated_without_a_record(result, kept, tmp_path):
    facts = make(tmp_path)
    apex = page_of(facts, "apex")
    refused = replace(
        apex.visit, slot=Slot.SECOND, result=result, started=apex.visit.started + 9, status=None, warc=None
    )
    _, certified = settled(with_page(facts, "apex", revisit=replace(refused, digest=None), **COHERENT), tmp_path)
    assert certified.findings == ()
    assert verify(tmp_path).findings == []
    entry = sealed_pages(tmp_path)["apex"]
    assert (entry["revisit"] is not None, entry["verdict"]) == (kept, "unknown")


def test_a_download_at_a_time_at_which_the_capture_did_not_run_is_not_stated(tmp_path):
    facts = make(tmp_path)
    revisits = sorted(page.revisit.started for page in facts.pages if page.revisit)
    _, certified = settled(replace(facts, ended=(revisits[-1] + revisits[-2]) / 2), tmp_path)
    assert certified.findings == ()
    assert verify(tmp_path).findings == []
    (late,) = [page for page in facts.pages if page.revisit and page.revisit.started == revisits[-1]]
    assert sealed_pages(tmp_path)[late.url.removeprefix(SITE)]["visit"] is None


def test_an_answer_that_no_page_speaks_of_is_one_that_was_not_captured(tmp_path):
    facts = make(tmp_path)
    after, certified = settled(replace(facts, pages=[p for p in facts.pages if p.url != SITE + "equal"]), tmp_path)
    assert certified.findings == ()
    assert verify(tmp_path).findings == []
    assert sealed_pages(tmp_path)["equal"] == {
        "url": f"{SITE}equal", "kind": "page", "subsite": facts.site, "reason": "refuted", "visit": None,
    }  # fmt: skip
    assert page_of(after, "equal").verdict is None


def test_a_page_that_was_not_as_before_when_it_was_asked_for_in_between_is_no_fault(tmp_path):
    """To see which of its links stay, or whether its host throttles; later reports say so, too."""
    looked = {"revisit": None, "verdict": Verdict.UNKNOWN, "evidence": Evidence.NONE, "reason": Reason.NEVER_REVISITED}
    facts = make(tmp_path)
    after, certified = settled(with_page(facts, "changed", **looked), tmp_path)
    assert certified.findings == ()
    assert verify(tmp_path).findings == []
    entry = sealed_pages(tmp_path)["changed"]
    assert (entry["verdict"], entry["reason"]) == ("unknown", Reason.ASKED_AGAIN)
    assert after.notes[0].endswith(
        f"Requested once more in between, it had changed: it differs each time, or was gone ({SITE}changed)"
    )
    assert after.notes[0].startswith("Nothing is claimed of 1 page. ")
    assert "WARC" not in after.notes[0], "nobody is at fault"
    assert as_sealed([facts], tmp_path)[0].notes[0] == after.notes[0]
    assert page_of(as_sealed([facts], tmp_path)[0], "changed").reason == Reason.ASKED_AGAIN


def test_where_most_pages_are_apart_nothing_is_sealed(tmp_path):
    facts = make(tmp_path)
    pages = [replace(page, visit=page.visit and replace(page.visit, digest="")) for page in facts.pages]
    after, certified = settled(replace(facts, pages=pages), tmp_path)
    assert certified.findings
    assert after.refuted
    assert not (tmp_path / "certificate.json").exists()


def test_what_is_refuted_is_no_ground_of_a_claim(tmp_path):
    facts = make(tmp_path)
    told = certify([with_page(facts, "changed", **{**COHERENT, "reason": Reason.REFUTED})], tmp_path)
    assert any("verdict is 'changed' by the records" in str(one) for one in told[0].findings)


def test_an_audit_speaks_of_the_claims_that_are_left(tmp_path):
    facts = provisional(tmp_path)
    page = next(iter(facts.pages))
    restated = {page.url: {"verdict": "unknown", "reason": "asked-again", "visit": None}, f"{SITE}other": {}}
    restated[f"{SITE}other"] = {**restated[page.url], "url": f"{SITE}other", "kind": "page", "subsite": ""}
    left = as_restated(facts, restated)
    assert left.audit == {**facts.audit, "claimed": 2, "provisional": 2, "unaudited": 2, "bound": 2}
    assert sum(ground["pages"] for ground in claim(left)["grounds"]) == 2
    assert as_restated(replace(facts, audit=None), restated).audit is None


def test_a_page_is_named_as_it_was_asked_for(tmp_path):
    facts = make(tmp_path)
    asked = {"verdict": "unknown", "reason": "refuted", "visit": {"uri": f"{SITE}?/category/1"}}
    assert f"({SITE}?/category/1)" in as_restated(facts, {f"{SITE}?%2Fcategory%2F1=": asked}).notes[0]
    assert f"({SITE}never)" in as_restated(facts, {f"{SITE}never": {**asked, "visit": None}}).notes[0]
