"""What pages embed: each once, however it is embedded, and what was there alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.evidence.completeness import Completeness
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict

PAGE, STYLE, IMPORTED, ALONE = (Url(f"http://h.example/{name}") for name in ("", "a.css", "b.css", "c.css"))


def url(name: Url, kind: Kind = Kind.RESOURCE, embeds: tuple[Url, ...] = (), verdict=Verdict.COHERENT) -> PageFacts:
    return PageFacts(name, kind, "link", 0, 0.1, "sitemap", verdict=verdict, embeds=embeds)


def test_style_sheets_that_import_each_other_are_counted_once():
    page = url(PAGE, Kind.PAGE, (STYLE,))
    found = Completeness({"": 1.0})
    for one in (page, url(STYLE, embeds=(IMPORTED,)), url(IMPORTED, embeds=(STYLE,), verdict=Verdict.CHANGED)):
        found.meet(one)
    assert found.of(page) is Verdict.CHANGED
    assert found.embedded()[0] == {Verdict.COHERENT: 1, Verdict.CHANGED: 1}


def test_embedded_resources_that_are_coherent_only_by_the_servers_word_are_counted():
    found = Completeness({"": 1.0})
    for one in (
        url(PAGE, Kind.PAGE, (STYLE, IMPORTED, *(Url(f"{PAGE}{number}") for number in range(3)))),
        replace(url(STYLE), evidence=Evidence.ATTESTED),
        replace(url(IMPORTED), evidence=Evidence.ATTESTED),
        replace(url(Url(f"{PAGE}0")), evidence=Evidence.BYTES),
        replace(url(Url(f"{PAGE}1")), evidence=None),
        replace(url(Url(f"{PAGE}2"), verdict=Verdict.CHANGED), evidence=Evidence.ATTESTED),
        replace(url(ALONE), evidence=Evidence.ATTESTED),  # nothing embeds it
    ):
        found.meet(one)
    assert found.on_word() == 2


def test_a_resource_that_nothing_embeds_is_part_of_no_page():
    found = Completeness({"": 1.0})
    for one in (url(PAGE, Kind.PAGE, (STYLE,)), url(STYLE), url(ALONE)):
        found.meet(one)
    assert found.embedded()[0] == {Verdict.COHERENT: 1}


@pytest.mark.parametrize(
    ("status", "verdict"), [(301, Verdict.COHERENT), (308, Verdict.COHERENT), (302, Verdict.UNKNOWN)]
)
def test_a_redirect_that_may_lead_elsewhere_by_now_leaves_its_page_unknown(status, verdict):
    """It is asked for once; one that is to stay is represented by its target."""
    page, target = url(PAGE, Kind.PAGE, (ALONE, STYLE)), url(STYLE)
    visit = VisitFacts(Slot.FIRST, Result.REDIRECTED, status=status, started=1.0, ended=1.1)
    moved = replace(
        url(ALONE, verdict=None), visit=visit, reason=f"redirects to {STYLE}", target=STYLE, embeds=(STYLE,)
    )
    found = Completeness({"": 1.0})
    for one in (page, moved, target):
        found.meet(one)
    assert found.of(page) is verdict


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("verdict", [Verdict.COHERENT, None])
def test_a_redirect_to_what_was_not_taken_in_leaves_its_page_unknown(status, verdict):
    """A scheme or an address that nobody asks for, a chain without end: what was shown there nobody knows."""
    page = url(PAGE, Kind.PAGE, (ALONE,))
    visit = VisitFacts(Slot.FIRST, Result.REDIRECTED, status=status, started=1.0, ended=1.1)
    moved = replace(url(ALONE, verdict=verdict), visit=visit, revisit=verdict and visit, target="ftp://h.example/c.css")
    found = Completeness({"": 1.0})
    for one in (page, moved):
        found.meet(one)
    assert found.of(page) is Verdict.UNKNOWN


@pytest.mark.parametrize(("status", "verdict"), [(404, Verdict.UNKNOWN), (410, Verdict.COHERENT)])
def test_what_was_not_there_once_may_have_been_at_the_reference_instant(status, verdict):
    """Unless it is gone for good. It is no resource that the server has."""
    page = url(PAGE, Kind.PAGE, (ALONE, STYLE))
    visit = VisitFacts(Slot.FIRST, Result.GONE, status=status, started=1.0, ended=1.1)
    missing = replace(url(ALONE, verdict=None), visit=visit, reason=f"not there (status {status})")
    found = Completeness({"": 9.0})
    for one in (page, missing, url(STYLE)):
        found.meet(one)
    assert found.of(page) is verdict
    assert found.embedded() == ({Verdict.COHERENT: 1}, {"not there (status 404)": 1} if status == 404 else {})


@pytest.mark.parametrize("verdict", [Verdict.COHERENT, Verdict.UNKNOWN])
def test_what_redirects_to_what_was_taken_in_is_not_missing(verdict):
    """A file on another host, by a signed address. It was asked for again, and its target is judged by itself."""
    page = url(PAGE, Kind.PAGE, (ALONE,))
    visit = VisitFacts(Slot.FIRST, Result.REDIRECTED, status=302, started=1.0, ended=1.1)
    moved = replace(url(ALONE, embeds=(STYLE,)), verdict=verdict, visit=visit, reason="redirected to one place")
    found = Completeness({"": 9.0})
    for one in (page, moved, url(STYLE)):
        found.meet(one)
    assert found.of(page) is verdict
    assert found.embedded() == ({Verdict.COHERENT: 1}, {})


@pytest.mark.parametrize("verdict", Verdict)
def test_what_was_not_there_and_was_asked_for_again_after_the_reference_instant_has_its_verdict(verdict):
    """Its page was shown without it at T, or may have been shown with it. It is no resource that the server has."""
    page = url(PAGE, Kind.PAGE, (ALONE, STYLE))
    visit = VisitFacts(Slot.FIRST, Result.GONE, status=404, started=1.0, ended=1.1)
    missing = replace(url(ALONE, verdict=verdict), visit=visit, reason="gone both times")
    found = Completeness({"": 9.0})
    for one in (page, missing, url(STYLE)):
        found.meet(one)
    assert found.of(page) is verdict
    assert found.embedded() == ({Verdict.COHERENT: 1}, {"gone both times": 1})
