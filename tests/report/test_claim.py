"""The claim: true to the counts, and readable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Slot, Verdict
from sharc_crawler.report.document import capture_entry
from tests.report.by_hand import facts, judged, page, visit
from tests.report.made_up import capture

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts

BYTES = judged("/", Verdict.COHERENT)


def claim_of(capture_facts: CaptureFacts) -> dict:
    return capture_entry(capture_facts)["claim"]


def pages_of(number: int, like: PageFacts) -> list[PageFacts]:
    return [replace(like, url=f"{like.url}{like.evidence}{place}") for place in range(number)]


def test_the_claim_names_instant_counts_and_grounds() -> None:
    apex = page("/apex", verdict=Verdict.COHERENT, evidence=Evidence.INSTANT, visit=visit(0.0, Slot.ONLY))
    claim = claim_of(
        facts(
            *pages_of(396, BYTES),
            *pages_of(15, replace(BYTES, evidence=Evidence.VALIDATOR)),
            *pages_of(1, replace(BYTES, evidence=Evidence.ATTESTED)),
            apex,
            *pages_of(37, replace(BYTES, verdict=Verdict.CHANGED, evidence=Evidence.NONE)),
            reference=1_795_170_667.9,
        )
    )
    assert claim["sentence"] == (
        "413 of 450 pages were in this state together at 2026-11-20T10:31:07Z;"
        " for 16 of them that is the server's word, and no audit says how many of these may be wrong:"
        " 396 shown by equal bytes before and after,"
        " 15 by the server's word that nothing had changed (304),"
        " 1 by the server's word on when they last changed (lastmod),"
        " 1 downloaded at that very instant."
    )
    assert sum(ground["pages"] for ground in claim["grounds"]) == 413
    assert any("37 pages changed" in limit for limit in claim["limits"])
    assert any("lastmod was relied on" in limit for limit in claim["limits"])


@pytest.mark.parametrize(
    ("capture_facts", "statement"),
    [
        (facts(), "No page was captured, so there is nothing to claim"),
        (facts(page(reason="404")), "No page was captured, so there is nothing to claim"),
        (
            facts(judged("/style.css", Verdict.COHERENT, kind=Kind.RESOURCE)),
            "No page was captured, so there is nothing to claim",
        ),
        (facts(BYTES), "The only page was in this state at 2026-11-18T11:06:40Z"),
        (facts(*pages_of(3, BYTES)), "All 3 pages were in this state together at 2026-11-18T11:06:40Z"),
        (
            facts(*pages_of(2, replace(BYTES, verdict=Verdict.CHANGED))),
            "Of 2 pages, none can be shown to have been in this state at 2026-11-18T11:06:40Z",
        ),
        (
            facts(*pages_of(2, replace(BYTES, verdict=Verdict.UNKNOWN)), reference=None),
            "2 pages were captured, but the reference instant was never reached:"
            " nothing shows that they were in one state together",
        ),
        (
            facts(*pages_of(2, replace(BYTES, verdict=Verdict.UNKNOWN, visit=visit(0.0, Slot.ONLY))), reference=None),
            "2 pages were captured, once each: single visits reduce blur, but show nothing about coherence",
        ),
        (
            facts(replace(BYTES, verdict=Verdict.UNKNOWN), reference=None, ended=None),
            "1 page was captured, but the reference instant has not been reached yet:"
            " nothing shows that it stayed as it is",
        ),
        (
            facts(BYTES, replace(BYTES, url="/b", verdict=Verdict.UNKNOWN)),
            "1 of 2 pages was in this state at 2026-11-18T11:06:40Z",
        ),
        (
            facts(*pages_of(3, BYTES), page("/missing", reason="404")),
            "All 3 captured pages were in this state together at 2026-11-18T11:06:40Z",
        ),
        (
            facts(BYTES, page("/missing", reason="404")),
            "The only captured page was in this state at 2026-11-18T11:06:40Z",
        ),
    ],
)
def test_what_can_be_claimed_otherwise(capture_facts: CaptureFacts, statement: str) -> None:
    claim = claim_of(capture_facts)
    assert claim["statement"] == statement
    assert claim["sentence"].startswith(statement)


def test_the_limits_of_a_claim() -> None:
    limits = claim_of(capture(300, 15.0))["limits"]
    assert any(limit.startswith("Equal bytes show") for limit in limits)
    assert any("could not be judged, each for the reason" in limit for limit in limits), "not always a revisit's"
    assert any("5 pages known to the capture led elsewhere or could not be captured" in limit for limit in limits)
    assert any(limit.startswith("The capture was interrupted at 2026-") for limit in limits)
    assert claim_of(facts(BYTES, ended=None))["limits"][-1].startswith("The capture is not complete")


FEW = "and too few others were audited (2) to say how many of these may be wrong"
UNTOLD = "and the audit does not show how many of these may be wrong"


@pytest.mark.parametrize(
    ("audit", "said"),
    [
        ({"bound": 6}, "10 pages that is the server's word, and at most 6 of these may be wrong (95% confidence)"),
        (
            {"bound": 10},
            "10 pages that is the server's word, " + FEW,
        ),
        ({"bound": 10, "audited": 0}, "10 pages that is the server's word, of which none was audited"),
        ({"bound": 10, "unshown": {"lost": 1}}, "10 pages that is the server's word, " + UNTOLD),
        (
            {"bound": 7, "data": 3},
            "10 pages that is the server's word on 7 pages and 3 pieces of data, and at most 7 of these may be wrong"
            " (95% confidence)",
        ),
        (
            {"claimed": 3, "bound": 3, "data": 2},
            "10 pages that is the server's word on 1 page and 2 pieces of data, " + FEW,
        ),
        (
            {"claimed": 1, "bound": 1, "data": 1, "audited": 0},
            "10 pages that is the server's word on 1 piece of data, of which none was audited",
        ),
    ],
)
def test_a_statement_tells_how_far_the_servers_word_is_bounded(audit, said) -> None:
    found = {
        "claimed": 10,
        "audited": 2,
        "changed": 0,
        "lies": 0,
        "unaudited": 0,
        "confidence": 0.95,
        "strata": [],
        "unshown": {},
    }
    pages = (*pages_of(2, BYTES), *pages_of(10, replace(BYTES, evidence=Evidence.ATTESTED)))
    claim = claim_of(facts(*pages, audit={**found, **audit}))
    assert claim["statement"].endswith(f"Z; for {said}")
    assert ("any number of" in " ".join(claim["limits"])) is ("unshown" in audit)
    assert sum(ground["pages"] for ground in claim["grounds"] if ground["evidence"] == "attested") == 10
