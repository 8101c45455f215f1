"""What a capture may claim: the statement, its grounds, and each limit exactly where it holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, SubsiteFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict

AT = 1.7e9


def page(number: int, verdict: Verdict | None, evidence: Evidence | None = Evidence.BYTES) -> PageFacts:
    visit = VisitFacts(Slot.FIRST, Result.OK, AT - 5, AT - 4) if verdict else None
    revisit = (
        VisitFacts(Slot.SECOND, Result.OK, AT + 5, AT + 6) if verdict in (Verdict.COHERENT, Verdict.CHANGED) else None
    )
    return PageFacts(
        Url(f"http://h.example/{number}"), Kind.PAGE, "link", 0, 0.0, "sitemap", visit=visit, revisit=revisit,
        verdict=verdict, evidence=evidence if verdict else None,
    )  # fmt: skip


def facts(
    *verdicts: Verdict | None, ended: float | None = AT + 9, reference: float | None = AT, **more
) -> CaptureFacts:
    pages = tuple(page(number, verdict) for number, verdict in enumerate(verdicts))
    return CaptureFacts("h.example", ("http://h.example/",), "bfs", AT - 9, ended, reference, pages, **more)


def limits(found: CaptureFacts) -> dict[str, dict]:
    return {one["code"]: one for one in claim(found)["limits"]}


@pytest.mark.parametrize(("ended", "interrupted", "verdicts"), [
    *product([None, AT + 9], [(), ((AT - 2, AT - 1),)], [
        [Verdict.COHERENT], [Verdict.COHERENT, Verdict.CHANGED], [Verdict.COHERENT, Verdict.UNKNOWN, None],
    ]),
])  # fmt: skip
def test_a_limit_is_named_exactly_where_it_holds(ended, interrupted, verdicts) -> None:
    found = limits(facts(*verdicts, ended=ended, interruptions=interrupted))
    assert ("incomplete" in found) == (ended is None)
    assert ("interrupted" in found) == bool(interrupted)
    names = ((Verdict.CHANGED, "changed"), (Verdict.UNKNOWN, "unknown"), (None, "not-captured"))
    for verdict, name in names:
        assert found.get(name, {}).get("pages", 0) == verdicts.count(verdict)
    assert found.keys() <= {"incomplete", "interrupted", "changed", "unknown", "not-captured"}


def part(name: str, reference: float | None = AT) -> SubsiteFacts:
    return SubsiteFacts(name, reference, AT - 9, AT + 9)


@pytest.mark.parametrize(
    ("parts", "reference", "apart"),
    [((), None, False), (("a",), None, False), (("a", "b"), None, True), (("a", "b"), AT, False)],
)
def test_parts_are_apart_where_there_are_several_and_no_instant_of_all(parts, reference, apart) -> None:
    found = facts(Verdict.COHERENT, reference=reference, subsites=tuple(map(part, parts)))
    assert ("apart" in limits(found)) == apart
    assert claim(found)["parts"] == (0 if reference else len(parts))


@pytest.mark.parametrize(
    ("verdicts", "more", "statement"),
    [
        ([None], {}, "nothing"),
        ([Verdict.COHERENT], {}, "together"),
        ([Verdict.CHANGED], {}, "none-shown"),
        ([Verdict.COHERENT], {"reference": None, "subsites": (part("a"),)}, "together-by-part"),
        ([Verdict.UNKNOWN], {"reference": None, "subsites": (part("a", None),), "ended": None}, "not-reached"),
        ([Verdict.UNKNOWN], {"reference": None, "ended": None}, "not-reached"),
        ([Verdict.UNKNOWN], {"reference": None}, "never-reached"),
        ([Verdict.COHERENT], {"refuted": True}, "refuted"),
        ([None], {"refuted": True}, "nothing"),
    ],
)
def test_the_statement(verdicts, more, statement) -> None:
    assert claim(facts(*verdicts, **more))["statement"] == statement


@pytest.mark.parametrize("ended", [None, AT + 9])
def test_single_visits_have_no_instant_to_wait_for(ended) -> None:
    once = replace(page(0, Verdict.UNKNOWN), visit=VisitFacts(Slot.ONLY, Result.OK, AT - 5, AT - 4))
    found = facts(reference=None, ended=ended)
    single = replace(found, pages=(once,), strategy="sharc-online")
    assert claim(single)["statement"] == "once"
    assert claim(replace(single, revisits=ended is None))["statement"] == ("once" if ended else "not-reached")


def test_grounds_count_the_coherent_pages_of_each_kind_where_an_instant_was_reached() -> None:
    verdicts = [Verdict.COHERENT, Verdict.COHERENT, Verdict.CHANGED, Verdict.UNKNOWN]
    assert claim(facts(*verdicts))["grounds"] == [{"evidence": "bytes", "pages": 2}]
    assert claim(facts(*verdicts, reference=None))["grounds"] == []
    by_part = facts(*verdicts, reference=None, subsites=(part("a"),))
    assert claim(by_part)["grounds"] == [{"evidence": "bytes", "pages": 2}]


AUDIT = {"claimed": 3, "audited": 2, "changed": 1, "lies": 0, "unaudited": 1, "bound": 2, "confidence": 0.95,
         "of": "lastmod", "strata": [{"of": of, "label": label, "caught": 1 - (label == "docs")} for of, label in (
             ("lastmod", "news"), ("lastmod", "docs"), ("304", "lists"))]}  # fmt: skip


def test_of_what_the_records_do_not_bear_out_nothing_is_claimed() -> None:
    found = facts(Verdict.COHERENT, Verdict.UNKNOWN, refuted=True)
    assert claim(found)["grounds"] == []
    assert "unknown" not in limits(found), "all is"


def test_an_audit_is_told_where_something_was_claimed_and_liars_by_name() -> None:
    found = limits(facts(Verdict.COHERENT, audit=AUDIT))
    assert found["audited"] == {
        "code": "audited", "claimed": 3, "audited": 2, "changed": 1, "lies": 0, "unaudited": 1, "bound": 2,
        "percent": 95,
    }  # fmt: skip
    assert limits(facts(Verdict.COHERENT, audit=AUDIT, part=True))["audited"]["whole"] is True
    liars = [limit for limit in claim(facts(Verdict.COHERENT, audit=AUDIT))["limits"] if limit["code"] == "liars"]
    assert [(one["of"], one["classes"]) for one in liars] == [("304", ["lists"]), ("lastmod", ["news"])]
    assert "liars" not in limits(facts(Verdict.COHERENT, audit={**AUDIT, "strata": AUDIT["strata"][1:2]}))
    assert "audited" not in limits(facts(Verdict.COHERENT, audit={**AUDIT, "claimed": 0}))
    assert limits(facts(Verdict.UNKNOWN, audit=AUDIT))["unknown"]["attested"]
    assert not limits(facts(Verdict.UNKNOWN, audit={**AUDIT, "of": "unmodified"}))["unknown"]["attested"]
    assert not limits(facts(Verdict.UNKNOWN))["unknown"]["attested"]


def test_a_capture_of_which_no_more_is_told_has_nothing_and_owes_nothing():
    bare = CaptureFacts("h.example", (), "bfs", AT, None, None, ())
    assert not any(
        (bare.step, bare.settings, bare.software, bare.exchanges, bare.payload_bytes, bare.warcs, bare.interruptions)
    )
    assert not any((bare.notes, bare.skipped, bare.outside, bare.subsites))
    assert not any((bare.part, bare.revisits, bare.refuted))
