"""Nothing is left: what has only one visit is judged, and the capture, or this part of the site, is over."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sharc_crawler.evidence.judgement import LATE_DOWNLOAD, NEVER_REVISITED, ONCE
from sharc_crawler.frontier.finishing import Finisher
from sharc_crawler.model import Kind, Outcome, Phase, Result
from sharc_crawler.state.lifecycle import Event, State
from tests.traps.tables import add, table

NOW = 50.0


class Ending:
    """Four pages, a resource and a sitemap that were visited, and a page that is gone."""

    def __init__(
        self, *, revisits: bool = True, begun: bool = True, phase: Phase = Phase.REVISIT, late: int = 0
    ) -> None:
        self.pages, self.told, self.judged, self.weighed = table("a", "b", "c"), [], {}, []
        self.style, self.sitemap = (add(self.pages, kind, 0, kind) for kind in (Kind.RESOURCE, Kind.SITEMAP))
        for page in range(len(self.pages)):
            for event in (Event.LEASE, Event.CAPTURED):
                self.pages.move(page, event)
            self.pages.remember(page, Outcome(Result.OK, 1.0 + page, 2.0, 200, f"sha1:{page}"))
        self.gone = add(self.pages, "gone", 0)
        for event in (Event.LEASE, Event.NO_CONTENT):
            self.pages.move(self.gone, event)
        self.done, self.by_evidence, self.over = True, {}, True
        tell = self.told.append
        self.capture = SimpleNamespace(
            strategy=SimpleNamespace(revisits=revisits) if begun else None,
            phase=phase,
            weighing=False,
            again=(),
            mode=SimpleNamespace(
                turn=lambda now: tell(("turned", now)),
                judge=self.judge,
                apex=None,
                part_over=lambda _: self.over,
                whole=True,
            ),
            revisited=SimpleNamespace(apex=lambda url, outcome: (url, outcome.digest)),
            budget=SimpleNamespace(unproven={}, note=lambda: None),
            life=SimpleNamespace(end=lambda now: tell(("ended", now))),
            note=tell,
            embedded=SimpleNamespace(clear=lambda: tell("cleared")),
            counts=SimpleNamespace(late=late),
        )
        ledger = SimpleNamespace(
            pages=self.pages, judged=self.judged.__setitem__, changed_capture=lambda: tell("changed")
        )
        self.finisher = Finisher(ledger, None, None, self.aside)

    def judge(self, pages):
        self.weighed.append(list(pages))
        return self.by_evidence

    def aside(self, work, size):
        self.told.append(("aside", size))
        return SimpleNamespace(done=lambda: self.done, result=work)

    def complete(self) -> bool:
        return self.finisher.complete(self.capture, NOW)


@pytest.mark.parametrize("given", [{"revisits": False}, {"begun": False}])
def test_what_is_visited_once_was_there_once(given):
    site = Ending(**given, phase=Phase.VISIT)
    assert site.complete()
    assert site.judged == dict.fromkeys([0, 1, 2, 3, site.style], ONCE)
    assert {site.pages.states[page] for page in site.judged} == {State.JUDGED}
    assert site.pages.states[site.sitemap] == State.VISITED
    assert site.pages.remembered(0).digest is None, "nothing is compared with it again"
    assert site.told == [("aside", 5), ("ended", NOW), "cleared", "changed"]
    assert site.weighed == [[0, 1, 2, 3, site.style]]


def test_the_last_visit_is_t_and_of_the_others_it_is_said_why_they_were_not_made_again():
    site = Ending()
    site.capture.mode.apex, site.capture.again, site.capture.budget.unproven = 1, {2}, {3: "no room"}
    assert site.complete()
    assert site.judged == {
        0: NEVER_REVISITED,
        1: (site.pages.urls[1], "sha1:1"),
        2: LATE_DOWNLOAD,
        3: replace(NEVER_REVISITED, reason="no room"),
        site.style: NEVER_REVISITED,
    }


@pytest.mark.parametrize(("phase", "turned"), [(Phase.VISIT, True), (Phase.REVISIT, False)])
def test_t_is_fixed_where_no_revisit_has_fixed_it(phase, turned):
    site = Ending(phase=phase)
    site.complete()
    assert (("turned", NOW) in site.told) is turned


def test_nothing_is_judged_while_all_that_the_server_said_is_weighed_once():
    site = Ending(revisits=False)
    site.done, site.by_evidence = False, {2: "by evidence"}
    for _ in range(2):
        assert not site.complete()
        assert site.capture.weighing
        assert not site.judged
    site.done = True
    assert site.complete()
    assert not site.capture.weighing
    assert site.judged == {0: ONCE, 1: ONCE, 2: "by evidence", 3: ONCE, site.style: ONCE}
    assert site.told.count(("aside", 5)) == 1
    assert site.complete()
    assert site.told.count(("aside", 0)) == 1, "another part would be weighed anew"


def test_a_capture_whose_site_has_another_part_goes_on():
    site = Ending()
    site.over = False
    assert site.complete()
    assert len(site.judged) == 5
    assert site.told == [("aside", 5)]


@pytest.mark.parametrize(
    ("late", "whole", "notes"),
    [
        (0, True, []),
        (1, True, ["1 page was discovered after the reference instant and is not captured"]),
        (2, True, ["2 pages were discovered after the reference instant and are not captured"]),
        (2, False, []),
    ],
)
def test_a_reader_is_told_what_was_found_too_late(late, whole, notes):
    site = Ending(late=late)
    site.capture.mode.whole = whole
    site.complete()
    assert [text for text in site.told if isinstance(text, str)] == [
        "cleared",
        *notes,
        "changed",
    ]
