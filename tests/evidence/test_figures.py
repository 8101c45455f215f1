"""What is said of all pages together: over which time they are shown to have stayed, how many are made by script."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.figures import Figures, PageSums, payload_of
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso
from sharc_crawler.model import Kind, Plan, Result, Slot, Url, Verdict
from tests.report.test_notes import facts

T = 1_000_000.0


def page(evidence: Evidence, *downloads: tuple[Slot, float], **more) -> PageFacts:
    visit, revisit = (*(VisitFacts(slot, Result.OK, at, at + 1.0) for slot, at in downloads), None, None)[:2]
    given = {"visit": visit, "revisit": revisit, "verdict": Verdict.COHERENT, "evidence": evidence, "kind": Kind.PAGE}
    return PageFacts(Url("http://h.example/"), via="link", depth=0, rate=0.1, rate_source="sitemap", **(given | more))


@pytest.mark.parametrize(
    ("one", "start", "end"),
    [
        (page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30)), -20, 30),
        (page(Evidence.ATTESTED, (Slot.ONLY, T - 20)), -20, 0),
        (page(Evidence.ATTESTED, (Slot.ONLY, T + 20)), 0, 20),
        (page(Evidence.ATTESTED, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30)), 0, 0),  # it may be either
        (page(Evidence.ATTESTED, (Slot.ONLY, T - 20), (Slot.SECOND, T + 30)), 0, 0),  # it changed between them
        (page(Evidence.ATTESTED), 0, 0),
    ],
)
def test_a_page_is_shown_to_have_stayed_between_its_downloads_or_to_where_the_servers_word_reaches(one, start, end):
    sums = PageSums(T)
    sums.add(one)
    assert sums.span() == {"instant": iso(T), "from": iso(T + start), "to": iso(T + end)}


def test_all_pages_are_shown_to_have_stayed_where_each_of_them_is():
    sums = PageSums(T)
    sums.add(page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30)))
    sums.add(page(Evidence.BYTES, (Slot.FIRST, T - 10), (Slot.SECOND, T + 40)))
    sums.add(page(Evidence.BYTES, (Slot.FIRST, T - 5), (Slot.SECOND, T + 5), verdict=Verdict.CHANGED))
    assert sums.span() == {"instant": iso(T), "from": iso(T - 10), "to": iso(T + 30)}


@pytest.mark.parametrize(("age", "end"), [(None, 30), (0.0, 29), (20.0, 9)])
def test_a_copy_of_a_cache_shows_its_page_only_up_to_when_it_was_made(age, end):
    one = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    sums = PageSums(T)
    sums.add(replace(one, revisit=replace(one.revisit, age=age)))
    assert sums.span() == {"instant": iso(T), "from": iso(T - 20), "to": iso(T + end)}


def test_a_payload_is_of_a_visit_that_succeeded_and_of_no_shell():
    made = VisitFacts(Slot.FIRST, Result.OK, T, T + 1.0, digest="sha1:A")
    same, other = replace(made, slot=Slot.ONLY), replace(made, digest="sha1:B")
    of = [payload_of(replace(page(Evidence.BYTES), visit=visit)) for visit in (made, same, other)]
    assert of[0] == of[1] != of[2]
    for visit in (None, replace(made, result=Result.FAILED), replace(made, digest="")):
        assert payload_of(replace(page(Evidence.BYTES), visit=visit)) is None


def test_html_pages_are_counted_by_whether_scripts_make_them():
    made = facts(*(page(Evidence.BYTES, (Slot.FIRST, T - 20), by_script=by) for by in (True, True, False, None)))
    assert made.figures.by_script == {True: 2, False: 1}


@pytest.mark.parametrize("turned", [False, True])
def test_a_page_that_another_embeds_counts_for_it_whichever_comes_first(turned):
    frame = replace(page(Evidence.BYTES, (Slot.FIRST, T - 20), verdict=Verdict.CHANGED), url=Url("http://h.example/f"))
    framing = replace(page(Evidence.BYTES, (Slot.FIRST, T - 20)), embeds=(frame.url,))
    made = facts(*([framing, frame] if turned else [frame, framing]))
    assert made.figures.completeness.of(framing) is Verdict.CHANGED


def test_visited_urls_that_look_like_orders_are_counted_and_the_first_is_named():
    asked = page(Evidence.BYTES, (Slot.FIRST, T - 20))
    one, two, never = (Url(f"http://h.example/cart/add?id={number}") for number in range(3))
    made = facts(replace(asked, url=one), asked, replace(asked, url=two), replace(asked, url=never, visit=None))
    assert (made.figures.orders, made.figures.order) == (2, one)


def test_what_pages_embed_is_counted_apart():
    image = replace(page(Evidence.BYTES, (Slot.FIRST, T - 20)), url=Url("http://h.example/i"), kind=Kind.RESOURCE)
    made = facts(page(Evidence.BYTES, (Slot.FIRST, T - 20)), image).figures
    assert (made.resources.totals()["coherent"], made.whole.tally.totals()["coherent"], made.urls) == (1, 1, 2)


def test_one_page_that_was_revisited_is_enough_to_say_so():
    sums = PageSums(T)
    sums.add(page(Evidence.ATTESTED, (Slot.ONLY, T - 20)))
    assert not sums.revisited
    sums.add(page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30)))
    assert sums.revisited


@pytest.mark.parametrize(
    ("asked", "whole"), [(None, Verdict.UNKNOWN), (Result.FAILED, Verdict.UNKNOWN), (Result.GONE, Verdict.COHERENT)]
)
def test_an_image_that_was_not_captured_leaves_its_page_unknown_unless_it_is_gone_for_good(asked, whole):
    visit = asked and VisitFacts(Slot.ONLY, asked, T, T, status=410)
    image = replace(page(Evidence.BYTES), url=Url("http://h.example/i"), kind=Kind.RESOURCE, visit=visit, verdict=None)
    framing = replace(page(Evidence.BYTES, (Slot.FIRST, T - 20)), embeds=(image.url,))
    assert facts(image, framing).figures.completeness.of(framing) is whole


def test_the_figures_say_when_the_first_and_the_second_downloads_and_all_copies_were_made():
    one = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    two = page(Evidence.BYTES, (Slot.FIRST, T - 10), (Slot.SECOND, T + 50))
    gone = page(Evidence.BYTES, (Slot.FIRST, T - 90), verdict=None)
    made = facts(one, two, replace(gone, visit=replace(gone.visit, result=Result.GONE))).figures
    assert made.visits.totals() == {"from": iso(T - 20), "to": iso(T - 9), "seconds": 11.0, "pages": 2}
    assert made.revisits.totals() == {"from": iso(T + 30), "to": iso(T + 51), "seconds": 21.0, "pages": 2}
    assert made.observed == (T - 20, T + 50)
    taken = replace(one, visit=replace(one.visit, attempts=0), revisit=None)
    assert facts(taken).figures.visits.totals() is None, "no request was made for it"


def test_all_pages_are_expected_and_planned_and_what_belongs_to_them_is_neither():
    one = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30), plan=Plan.HOPEFUL)
    image = replace(one, url=Url("http://h.example/i"), kind=Kind.RESOURCE)
    lost = replace(one, url=Url("http://h.example/x"), verdict=None)
    made = facts(one, image, lost).figures
    assert made.whole.expected.totals()["pages"] == 1
    assert made.plans.totals()[Plan.HOPEFUL.value] == {"pages": 1, "coherent": 1}


@pytest.mark.parametrize("kind", [*Kind])
def test_what_a_capture_is_to_bring_and_has_not_is_missing(kind):
    lost = page(Evidence.BYTES, verdict=None, kind=kind, reason="gone")
    missing = {(kind, "gone"): 1} if kind in (Kind.PAGE, Kind.RESOURCE, Kind.DATA) else {}
    assert facts(lost).figures.missing == missing
    assert not facts(replace(lost, verdict=Verdict.COHERENT)).figures.missing


@pytest.mark.parametrize(("kind", "start"), [(Kind.DATA, -5), (Kind.RESOURCE, -20)])
def test_data_is_shown_to_have_stayed_no_longer_than_the_pages_are(kind, start):
    one = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    other = page(Evidence.BYTES, (Slot.FIRST, T - 5), (Slot.SECOND, T + 30), kind=kind)
    sums = Figures([one, other], T, [], None).whole
    assert sums.span()["from"] == iso(T + start)
