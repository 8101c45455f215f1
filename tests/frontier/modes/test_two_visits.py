"""Visits, then revisits: what is waited for, what the server says of its changes, which 304s are tested."""

from __future__ import annotations

from array import array
from functools import partial
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.model import Kind, Outcome, Phase, Result, Slot, Validators
from sharc_crawler.state.lifecycle import State
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, TwoVisits)
OK = Outcome(Result.OK, 5.0, 6.0, 200)


def spec(**given) -> SimpleNamespace:
    return SimpleNamespace(**{"hints": 0.1, "audit": 0.2, "discover": False} | given)


def test_before_anything_is_said_nobody_is_listened_to_and_no_304_is_weighed():
    mode = TwoVisits(None, SimpleNamespace(spec=spec()), None, compares=True)
    assert mode.listens is False
    assert mode.left_open(0) is False
    assert mode.judge([0]) == {}
    assert mode.apex is None
    assert mode._left_open() == frozenset()
    noted = Noted()
    mode._draw = noted.one("draw")
    assert mode.asks_again(0, Slot.SECOND, OK._replace(result=Result.NOT_MODIFIED)) is False
    assert noted.calls == [("draw",)], "the sample is drawn before the first 304"


def test_rates_are_planned_by_as_visits_bear_them_out():
    mode = bare(_tests=SimpleNamespace(planned=lambda pages, rates: [pages, rates]))
    assert mode.planned_by([1], [0.5]) == [[1], [0.5]]


# -- what a decision waits for ---------------------------------------------------------------------------------------


def waiting(noted: Noted, **given):
    """All that it may wait for, each as given or not there."""
    told = {"early": False, "next": False, "open": False, "again": False, "replans": False} | given
    hints = SimpleNamespace(
        at_reference=told.get("at_reference", False),
        wait_early=noted.one("early", told["early"]),
        early_open=told["early"],
        has_early=lambda _: told["next"],
        looks_again=noted.one("again", told["again"]),
    )
    return bare(
        compares=told.get("compares", True),
        _hints=hints if told.get("hints", True) else None,
        _tests=SimpleNamespace(test=noted.one("test")),
        _capture=SimpleNamespace(
            spec=spec(),
            phase=told.get("phase", Phase.VISIT),
            life=SimpleNamespace(reference=told.get("reference")),
        ),
        _edited=noted.one("surmised", hints),
        _last_is_open=noted.one("open", told["open"]),
        _replans=noted.one("replans", told["replans"]),
    )


def door(left: int = 5, waits: int = 5) -> SimpleNamespace:
    return SimpleNamespace(first_visits_left=left, first_visits_waiting=waits)


@pytest.mark.parametrize(
    ("given", "asked", "waits"),
    [
        ({}, ["test", "early", "open", "again", "replans"], False),
        ({"early": True}, ["test", "early"], True),
        ({"next": True}, ["test", "early"], False),
        ({"open": True}, ["test", "early", "open"], True),
        ({"again": True}, ["test", "early", "open", "again"], True),
        ({"replans": True}, ["test", "early", "open", "again", "replans"], True),
        ({"hints": False, "replans": True}, ["test", "open", "replans"], True),
        ({"compares": False}, ["test", "open", "replans"], False),
        ({"reference": 5.0}, [], False),
        ({"reference": 5.0, "at_reference": True}, ["replans"], False),
        ({"reference": 5.0, "at_reference": True, "replans": True}, ["replans"], True),
        ({"reference": 0.0, "replans": True}, [], False),
        ({"reference": 5.0, "at_reference": True, "compares": False, "replans": True}, [], False),
        ({"reference": 5.0, "hints": False, "replans": True}, [], False),
    ],
)
def test_a_decision_waits_for_hubs_for_what_is_open_for_second_looks_then_for_the_revisits_order(given, asked, waits):
    noted = Noted()
    assert waiting(noted, **given).waits(door(), 1.0) is waits
    assert [name for name, *_ in noted.calls] == asked


@pytest.mark.parametrize(
    ("left", "waits", "given", "surmised"),
    [
        (1, 1, {}, True),
        (2, 2, {}, False),
        (1, 0, {}, False),
        (2, 1, {}, False),
        (1, 1, {"compares": False}, False),
        (1, 1, {"phase": Phase.OPENING}, False),
    ],
)
def test_when_the_last_page_alone_waits_visits_tell_of_pages_visited_before(left, waits, given, surmised):
    """What they tell is heeded at once, though no one has told anything before."""
    noted = Noted()
    mode = waiting(noted, hints=False, early=True, **given)
    assert mode.waits(door(left, waits), 1.0) is surmised
    assert [name for name, *_ in noted.calls][1:2] == (["surmised"] if surmised else ["open"])


def test_sitemaps_that_have_yet_to_be_read_again_speak_before_visits_do():
    for sitemaps, said, edited in product(({}, {1: 0.0}), YES_OR_NO, (None, ({}, {}), ({1: 2.0}, {}), ({}, {1: 2.0}))):
        noted = Noted()
        hints = SimpleNamespace(sitemaps=sitemaps, changes=said, edited=noted.one("surmised"))
        mode = bare(_hints=hints, _tests=SimpleNamespace(edited=noted.one("edited", edited)))
        assert mode._edited("door", 3.0) is hints
        asks = not sitemaps or said
        told = asks and edited is not None and edited != ({}, {})
        assert noted.calls == [("edited", 3.0)] * asks + [("surmised", edited, "door", 3.0)] * told
    silent = bare(_hints=None, _tests=SimpleNamespace(edited=lambda now: ({}, {})))
    assert silent._edited("door", 3.0) is None


class Pages:
    """A strategy with so many pages."""

    def __init__(self, pages: int, left: int, revisits: bool = True) -> None:
        self.visits_left, self.first_visits_left, self.revisits = pages, left, revisits


@pytest.mark.parametrize(
    ("strategy", "given", "waits"),
    [
        (Pages(1, 1), {}, True),  # the only page
        (Pages(1, 0), {}, True),
        (Pages(2, 1), {}, False),
        (Pages(2, 0), {}, True),  # all are visited
        (Pages(2, 0), {"discover": True}, False),
        (Pages(1, 0), {"discover": True}, True),
        (Pages(1, 1), {"pending": 0}, False),
        (Pages(1, 1), {"phase": Phase.REVISIT}, False),
        (Pages(1, 1, revisits=False), {}, False),
    ],
)
def test_t_waits_for_what_is_under_way_where_no_other_page_has_to_wait_with_it(strategy, given, waits):
    told = {"pending": 1, "phase": Phase.VISIT, "discover": False} | given
    capture = SimpleNamespace(
        owed=SimpleNamespace(pending=told["pending"], unread=()),
        phase=told["phase"],
        spec=spec(discover=told["discover"]),
    )
    assert bool(bare(_capture=capture)._last_is_open(strategy)) is waits


def test_a_page_whose_only_download_is_t_is_downloaded_whatever_a_former_capture_has():
    asks = {
        (compares, slot) for compares in YES_OR_NO for slot in Slot if bare(compares=compares).asks_by_former(0, slot)
    }
    assert asks == {(True, Slot.FIRST), *((False, slot) for slot in Slot)}


# -- T -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("apex", "reference"), [(None, 50.0), (0, 7.0), (2, 9.0)])
@pytest.mark.parametrize("hints", YES_OR_NO)
@pytest.mark.parametrize("note", ["", "rates were wrong"])
def test_t_is_now_or_the_download_of_the_apex_and_a_reader_is_told_of_looks_and_rates(apex, reference, hints, note):
    noted = Noted()
    mode = bare(
        apex=apex,
        _capture=SimpleNamespace(life=SimpleNamespace(turn=noted.one("turn")), note=noted.one("note")),
        _ledger=SimpleNamespace(pages=SimpleNamespace(started=[7.0, 8.0, 9.0]), changed_capture=noted.one("changed")),
        _hints=SimpleNamespace(looks=SimpleNamespace(note=lambda: "looks")) if hints else None,
        _tests=SimpleNamespace(note=lambda: note),
        _draw=noted.one("draw"),
    )
    mode.turn(50.0)
    notes = [("note", "looks")] * hints + [("note", note)] * bool(note)
    assert noted.calls == [("turn", reference), *notes, ("changed",), ("draw",)]


def drawing(kinds: list[Kind], told: set[int], once: int | None = None):
    pages = SimpleNamespace(
        having=lambda state: [page for page in range(len(kinds)) if state is State.VISITED],
        has_validators=told.__contains__,
        kinds=kinds,
        ask_in_full=(full := set[int]()).add,
        full=full,
    )
    return bare(_ledger=SimpleNamespace(pages=pages), _capture=SimpleNamespace(spec=spec()), apex=once, _by_304=None)


def test_of_what_is_revisited_and_may_be_answered_304_a_sample_is_drawn(monkeypatch):
    noted = Noted()
    monkeypatch.setattr("sharc_crawler.frontier.modes.two_visits.draw", noted.one("draw"))
    kinds = [Kind.PAGE, Kind.DATA, Kind.RESOURCE, Kind.PAGE, Kind.PAGE, Kind.SITEMAP]
    mode = drawing(kinds, told={0, 1, 2, 4, 5}, once=4)
    mode._draw()
    ((_, conditionals, *_, drawn),) = noted.calls
    assert drawn == {0: Kind.PAGE, 1: Kind.DATA}
    assert mode._ledger.pages.full == {4}, "no sample is of the apex, so no 304 may answer for it"
    assert (conditionals.share, conditionals) == (0.2, mode._by_304)
    assert mode._drew is True
    assert mode._conditionals() is conditionals


def test_where_nothing_may_be_answered_304_none_is_drawn(monkeypatch):
    noted = Noted()
    monkeypatch.setattr("sharc_crawler.frontier.modes.two_visits.draw", noted.one("draw"))
    for mode in (drawing([Kind.PAGE], told=set()), drawing([Kind.RESOURCE], told={0}), drawing([Kind.PAGE], {0}, 0)):
        mode._draw()
        assert mode._drew is True
        assert mode._by_304 is None
    assert not noted.calls


def test_of_304s_at_revisits_those_of_the_sample_are_asked_again_in_full():
    answers = [(Result.NOT_MODIFIED, Slot.SECOND), (Result.OK, Slot.SECOND), (Result.NOT_MODIFIED, Slot.FIRST)]
    for (result, slot), drew, by, drawn in product(answers, YES_OR_NO, YES_OR_NO, YES_OR_NO):
        noted = Noted()
        mode = bare(
            _by_304=SimpleNamespace(asks_again=noted.one("sample", drawn)) if by else None,
            _drew=drew,
            _draw=noted.one("draw"),
            _ledger=SimpleNamespace(pages=SimpleNamespace(ask_in_full=noted.one("full"))),
        )
        outcome = Outcome(result, 5.0, 6.0, 304)
        is_304 = (result, slot) == answers[0]
        assert mode.asks_again(4, slot, outcome) is (is_304 and by and drawn)
        calls = [("draw",)] * (not drew) + [("sample", 4, outcome)] * by + [("full", 4)] * (by and drawn)
        assert noted.calls == calls * is_304


@pytest.mark.parametrize("drew", YES_OR_NO)
@pytest.mark.parametrize(
    ("kind", "etag", "stated", "weighed"),
    [
        (Kind.PAGE, '"1"', False, True),
        (Kind.DATA, '"1"', False, True),
        (Kind.PAGE, None, True, True),
        (Kind.PAGE, None, False, False),
        (Kind.RESOURCE, '"1"', True, False),
    ],
)
def test_revisits_that_a_304_may_answer_are_weighed_with_them(drew, kind, etag, stated, weighed):
    noted = Noted()
    mode = bare(
        _by_304=SimpleNamespace(revisited=noted.one("weighed", "open")),
        _drew=drew,
        _draw=noted.one("draw"),
        _alike=lambda page, outcome: (page, outcome) == (4, OK),
    )
    visit = OK._replace(validators=Validators(etag, None))
    judgement = SimpleNamespace(evidence=SimpleNamespace(stated=stated))
    assert mode.revisited(4, kind, visit, OK, judgement) == ("open" if weighed else False)
    assert noted.calls == [("draw",)] * (not drew) + [("weighed", 4, visit, OK, judgement, True)] * weighed


def test_what_a_304_left_open_is_judged_at_the_end_and_told_in_the_audit():
    by = SimpleNamespace(open={3: "by 304"}, judge=lambda pages: {3: "coherent"}, summary=lambda: {"claimed": 1})
    mode = bare(_by_304=by)
    assert [page for page in range(5) if mode.left_open(page)] == [3]
    assert mode._left_open() == {3}
    assert mode.judge([1, 3]) == {3: "coherent"}
    assert mode.audit == {"claimed": 1}


# -- what a visit shows ------------------------------------------------------------------------------------------------


def visiting(reference: float | None = None, hints: bool = True):
    noted = Noted()
    mode = TwoVisits(None, SimpleNamespace(spec=spec(), life=SimpleNamespace(reference=reference)), None, compares=True)
    mode._tests = SimpleNamespace(visited=noted.one("tests"))
    mode._hints = SimpleNamespace(silent=noted.one("hub")) if hints else None
    mode._drew = True
    return mode, noted


@pytest.mark.parametrize("hints", YES_OR_NO)
def test_visits_test_rates_and_tell_of_hubs_that_named_nothing_and_resources_do_not(hints):
    mode, noted = visiting(hints=hints)
    mode.visited(Task(3), Kind.RESOURCE, OK)
    assert not noted.calls
    mode.visited(Task(3), Kind.PAGE, OK)
    assert noted.calls == [("tests", 3, OK), *[("hub", 3, OK)] * hints]


def test_the_apex_is_the_visit_that_began_last_where_it_is_of_this_very_moment():
    mode, _ = visiting()
    mode.visited(Task(1), Kind.PAGE, OK)
    assert (mode.apex, mode._drew) == (1, False), "what may be drawn from is other than before"
    mode.visited(Task(2, Slot.FIRST), Kind.PAGE, OK._replace(started=7.0))
    assert mode.apex is None
    mode.visited(Task(3), Kind.PAGE, OK._replace(started=7.0))
    assert mode.apex == 3, "as late as the last one"
    mode.visited(Task(4), Kind.PAGE, OK._replace(started=8.0, age=10.0))
    assert mode.apex is None, "a copy from a cache"
    mode.visited(Task(5), Kind.PAGE, OK._replace(started=7.5))
    assert mode.apex is None, "it ended last, and began before another"
    mode.visited(Task(6), Kind.PAGE, OK._replace(started=8.0))
    assert mode.apex == 6


def test_neither_a_visit_that_failed_nor_one_after_t_is_the_apex_and_its_content_is_not_kept():
    for reference, outcome in (
        (None, OK._replace(result=Result.FAILED, fingerprint="shown")),
        (4.9, OK._replace(fingerprint="shown")),
    ):
        mode, _ = visiting(reference)
        mode.visited(Task(1), Kind.PAGE, outcome)
        assert (mode.apex, mode._drew) == (None, True)
        assert not mode._alike(1, OK._replace(fingerprint="shown"))
    mode, _ = visiting(reference=5.0)
    mode.visited(Task(1), Kind.PAGE, OK._replace(fingerprint="shown"))
    assert mode.apex == 1, "at T, which is its download"
    assert mode._alike(1, OK._replace(fingerprint="shown"))


def test_a_revisit_is_alike_where_it_shows_what_the_visit_did():
    mode = TwoVisits.__new__(TwoVisits)
    mode._contents = array("q")
    for page, content in ((2, "a story"), (0, None)):
        mode._shown(page, Outcome(Result.OK, 1.0, 2.0, fingerprint=content))
    alike = [
        page
        for page in range(5)
        for content in ("a story", "another", None)
        if mode._alike(page, Outcome(Result.OK, 5.0, 6.0, fingerprint=content))
    ]
    assert alike == [2], "that two have no fingerprint tells nothing"
