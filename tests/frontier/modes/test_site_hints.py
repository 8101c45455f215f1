"""Who is asked what has changed, when that is waited for, and what is done by the answers."""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes import WORTH
from sharc_crawler.frontier.modes.hints import ChangeHints, SiteHints
from sharc_crawler.model import Kind, Outcome, Phase, Result, Slot, Visit
from sharc_crawler.polling.hint_hubs import EXPECTED, MOST, HintHubs
from sharc_crawler.state.lifecycle import State
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, SiteHints)
OK = Outcome(Result.OK, 50.0, 51.0, 200, "sha1:then")


def test_at_first_nobody_is_asked_and_nothing_is_waited_for():
    capture = SimpleNamespace(owed=SimpleNamespace(pending=1), phase=Phase.VISIT)
    hints = SiteHints(SimpleNamespace(pages=None), capture, None)
    assert (hints.reading, hints.at_reference, hints.replanned) == (False, False, False)
    assert (hints.sitemaps, len(hints.hubs), bool(hints.changes)) == ({}, 0, False)
    assert hints.wait_early(SimpleNamespace(), 9.0) is False
    assert hints.early(SimpleNamespace()) is None


def hubs(*pages: int) -> HintHubs:
    known = HintHubs()
    for page in pages:
        known.add(page)
    return known


# -- hubs --------------------------------------------------------------------------------------------------------------


def test_pages_that_may_be_hubs_are_polled_while_there_is_room():
    hints = bare(hubs=hubs(*range(MOST - 1)))
    hints.may_be_hub(70)
    assert 70 in hints.hubs
    noted = Noted()
    hints.hubs = SimpleNamespace(room=0, add=noted.one("add"))
    hints.may_be_hub(71)
    assert not noted.calls


def test_what_a_hub_names_anew_has_changed_when_it_says_or_since_its_last_poll():
    noted, urls = Noted(), {number: f"http://h/{number}" for number in range(20)}
    hints = bare(
        hubs=hubs(7),
        answer=(1_000.0, {urls[2]: 900.0}),
        changes=SimpleNamespace(changed=noted.one("changed")),
        _ledger=SimpleNamespace(pages=SimpleNamespace(urls=urls)),
    )
    hints.linked(8, [1, 2])
    assert not noted.calls, "it is no hub"
    hints.linked(7, [1, 2])
    assert noted.take() == [("changed", 2, 900.0)]
    hints.answer = 2_000.0, {}
    hints.linked(7, [3, 1, 2])
    assert noted.take() == [("changed", 3, 1_800.0)]


def test_a_hub_that_is_no_page_has_answered_or_named_nothing():
    for answers, linked, begun in product(YES_OR_NO, ([], [4]), YES_OR_NO):
        noted = Noted()
        hints = bare(
            _ledger=SimpleNamespace(pages=SimpleNamespace(polled=noted.one("answers", answers))),
            _capture=SimpleNamespace(strategy="door" if begun else None),
            linked=noted.one("linked"),
            silent=noted.one("silent"),
        )
        hints.polled(7, OK, linked)
        then = ("linked", 7, linked) if answers and linked and begun else ("silent", 7, OK)
        assert noted.calls == [("answers", 7, OK), then]


def owing(**given):
    noted = Noted()
    ledger = {
        "pages": SimpleNamespace(
            states=[State.QUEUED, State.VISITED, State.LOST, State.QUEUED, State.VISITED, State.LEASED],
            kinds=[Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.HUB, Kind.HUB, Kind.PAGE],
        ),
        "owe": noted.one("owe"),
    }
    return bare(_ledger=SimpleNamespace(**ledger), _early=[], _polling=set(), **given), noted


def test_hubs_are_asked_by_a_visit_those_whose_turn_has_not_come_by_their_first():
    hints, noted = owing(hubs=hubs(0, 1, 2, 3, 4, 5))
    assert hints._owe_hubs([0, 1, 2, 3, 4, 5]) == 3
    assert noted.calls == [("owe", 1, Slot.FIRST), ("owe", 3, Slot.FIRST), ("owe", 4, Slot.SECOND)]
    assert hints._early == [0], "visited before its turn: no request more"
    assert hints._polling == {1}
    assert [page for page in range(6) if page in hints.hubs] == [0, 1, 3, 4, 5], "nobody asks what is lost"


def test_a_hub_is_visited_before_its_turn_if_it_still_waits():
    hints = bare(_early=[1, 2, 3], early_open=False)
    strategy = SimpleNamespace(waits_for=lambda page: page == 2)
    assert hints.early(strategy) == Visit(2, Slot.FIRST)
    assert hints.early_open is True
    hints.early_open = False
    assert hints.early(strategy) is None
    assert hints.early_open is False


@pytest.mark.parametrize(
    ("result", "state", "polled"),
    [
        (Result.OK, State.VISITED, "later"),
        (Result.NOT_MODIFIED, State.VISITED, "later"),
        (Result.GONE, State.LOST, "dropped"),
        (Result.FAILED, State.VISITED, "never"),
    ],
)
def test_a_hub_that_names_nothing_is_asked_later_and_one_that_is_gone_or_fails_not_again(result, state, polled):
    hubs = HintHubs()
    for page in (0, 1):
        hubs.add(page)
        hubs.polled(page, 100.0, [5, 6], {})
    before = dict(hubs._due)
    hints = SimpleNamespace(
        hubs=hubs,
        _capture=SimpleNamespace(strategy=object()),
        _ledger=SimpleNamespace(pages=SimpleNamespace(states=[state, state])),
    )
    for started in (100.0, 200.0):
        SiteHints.silent(hints, 0, Outcome(result, started, started))
        SiteHints.silent(hints, 2, Outcome(result, started, started))
        if started == 100.0:
            assert hubs._due == before, "its answer is known"
    assert (0 in hubs) is (polled != "dropped")
    assert hubs._due[1] == before[1]
    assert hubs._due.get(0, 0.0) == np.inf if polled == "never" else hubs._due.get(0) != before[0]
    hints._capture.strategy = None
    after = dict(hubs._due)
    SiteHints.silent(hints, 1, Outcome(result, 300.0, 300.0))
    assert hubs._due == after


# -- before T ----------------------------------------------------------------------------------------------------------


def test_a_hub_visited_before_its_turn_is_waited_for_and_those_that_are_due_are_asked():
    for opened, pending, later, known, left, phase in product(
        YES_OR_NO, (0, 1), (0, 1), ([], [7]), (0, 3), (Phase.VISIT, Phase.REVISIT)
    ):
        noted = Noted()
        hints = bare(
            early_open=opened,
            _capture=SimpleNamespace(owed=SimpleNamespace(pending=pending), later=[7] * later, phase=phase),
            hubs=hubs(*known),
            _polls=noted.one("polls"),
        )
        strategy = SimpleNamespace(first_visits_waiting=left)
        waits = opened and pending > later  # not for what failed, and is asked for at the end
        assert hints.wait_early(strategy, 9.0) is waits
        polls = not waits and known and left and phase is Phase.VISIT
        assert noted.calls == [("polls", strategy, 9.0)] * bool(polls)
        assert hints.early_open is waits


@pytest.mark.parametrize(
    ("due", "affords", "polls"), [(9.0, True, True), (9.1, True, False), (1.0, False, False), (1.0, True, True)]
)
def test_hubs_are_polled_when_they_are_due_and_there_is_room(due, affords, polls):
    noted, three = Noted(), hubs(1, 2, 3)
    three.next, three.take_due = due, noted.one("due", [1, 2])
    hints = bare(
        hubs=three,
        looks=SimpleNamespace(affords=noted.one("affords", affords), polled=noted.one("polled")),
        _owe_hubs=noted.one("owe", 1),
    )
    hints._polls(SimpleNamespace(first_visits_left=5), 9.0)
    asks = [("due", 9.0), ("owe", [1, 2]), ("polled", 1)]
    assert noted.calls == [("affords", 3, 5, 9.0)] * (due <= 9.0) + asks * polls


class Said:
    """What hints have said, if anything."""

    def __init__(self, any_: bool, noted: Noted) -> None:
        self._any, self.of = any_, noted.one("standing", "said of all")

    def __bool__(self) -> bool:
        return self._any


def looking(noted: Noted, **given):
    """Hints in a round, with all that it asks as given."""
    told = {
        "hubs": False, "probes": False, "pending": 0, "phase": Phase.VISIT, "begun": False, "due": True,
        "reading": False, "take": [], "ended": True, "sitemaps": {}, "best": [], "said": False, "asks": False,
    } | given  # fmt: skip
    return bare(
        looks=SimpleNamespace(
            begun=told["begun"],
            due=noted.one("due", told["due"]),
            half_way=noted.one("half way"),
            cut_short=noted.one("cut short"),
            choose=noted.one("choose"),
            take=noted.one("take", told["take"]),
            ended=noted.one("ended", told["ended"]),
        ),
        hubs=hubs(7) if told["hubs"] else hubs(),
        changes=Said(told["said"], noted),
        sitemaps=told["sitemaps"],
        reading=told["reading"],
        _probes={3} if told["probes"] else set(),
        _asked=["before"],
        _best_hubs=noted.one("best", told["best"]),
        _asks=noted.one("asks", told["asks"]),
        _capture=SimpleNamespace(owed=SimpleNamespace(pending=told["pending"]), phase=told["phase"]),
        _ledger=SimpleNamespace(
            pages=SimpleNamespace(pages_in=lambda state: [1, 2] if state is State.VISITED else []), owe=noted.one("owe")
        ),
    )  # fmt: skip


BEST, DUE, CUT = ("best", 9.0, 0.0), ("due", 0, False), ("cut short",)


@pytest.mark.parametrize(
    ("left", "given", "calls", "waits"),
    [
        # a poll may be among what is under way when the last page alone is left
        (1, {"hubs": True, "pending": 1}, [], True),
        (0, {"probes": True, "pending": 1}, [], True),
        (2, {"hubs": True, "pending": 1}, [("due", 0, False)], True),
        (1, {"pending": 1}, [BEST, DUE], True),
        (1, {"hubs": True, "pending": 1, "phase": Phase.REVISIT, "due": False}, [BEST, DUE, CUT], False),
        (1, {"hubs": True, "due": False}, [BEST, DUE, CUT], False),
        # sources: sitemaps, and the best hubs before a round, at the end of the visits alone
        (1, {"sitemaps": {1: 0.0, 2: 0.0}, "best": [7], "due": False}, [BEST, ("due", 3, False), CUT], False),
        (2, {"sitemaps": {1: 0.0}, "best": [7], "due": False}, [("due", 1, False)], False),
        (1, {"begun": True, "best": [7], "due": False}, [("due", 1, False), CUT], False),
        # a reading is over: in the midst of the visits it tests rates, at their end pages are chosen by it
        (2, {"reading": True}, [("due", 0, False), ("half way",)], False),
        (1, {"reading": True}, [BEST, DUE, ("standing", [1, 2]), ("choose", "said of all", 0, 2.0, 9.0), ("take",),
                                ("asks", "door", 9.0)], False),
        # pages are looked at again
        (1, {"take": [4, 5]}, [BEST, DUE, ("take",), ("owe", 4, Slot.FIRST), ("owe", 5, Slot.FIRST)], True),
        # none is left: another round, if it is worth it
        (1, {"begun": True, "ended": True}, [("due", 1, False), ("take",), ("ended", 1)], False),
        (1, {"begun": True, "ended": False, "asks": True},
         [("due", 1, False), ("take",), ("ended", 1), ("asks", "door", 9.0)], True),
        (1, {"asks": True}, [BEST, DUE, ("take",), ("asks", "door", 9.0)], True),
        (1, {"said": True, "due": False}, [BEST, ("due", 0, True), CUT], False),
    ],
)  # fmt: skip
def test_second_looks_go_in_rounds_of_asking_and_looking(left, given, calls, waits):
    noted = Noted()
    hints = looking(noted, **given)
    strategy = SimpleNamespace(first_visits_left=left, setting=SimpleNamespace(step=2.0))
    assert hints.looks_again(strategy, 9.0) is waits
    told = [("due", *call[2:3], call[4]) if call[0] == "due" else call for call in noted.calls]
    assert told == [tuple(strategy if one == "door" else one for one in call) for call in calls]
    assert hints.reading is False


@pytest.mark.parametrize("begun", YES_OR_NO)
@pytest.mark.parametrize("sitemaps", [[], [1, 2]])
@pytest.mark.parametrize("asked", [[], [7]])
@pytest.mark.parametrize("said", YES_OR_NO)
@pytest.mark.parametrize(("polled", "early"), [(0, []), (1, []), (0, [7])])
def test_a_round_begins_where_somebody_may_be_asked_or_something_was_said(begun, sitemaps, asked, said, polled, early):
    noted = Noted()
    hints = bare(
        looks=SimpleNamespace(begun=begun, over=noted.one("over"), asked=noted.one("asked")),
        sitemaps=dict.fromkeys(sitemaps, 0.0),
        changes=[1] * said,
        reading=False,
        _asked=asked,
        _early=early,
        _best_hubs=noted.one("best", asked),
        _owe_sitemaps=noted.one("sitemaps"),
        _owe_hubs=noted.one("hubs", polled),
        looks_again=noted.one("again", "looks"),
    )
    strategy = SimpleNamespace(waits_for=lambda page: page == 7)
    found = hints._asks(strategy, 9.0)
    best = [("best", 9.0, EXPECTED)] * begun
    if not sitemaps and not asked and not (said and not begun):
        assert found is False
        assert noted.calls == [*best, ("over",)]
        assert hints.reading is False
        return
    asks = [("asked", len(sitemaps) + len(asked)), ("sitemaps", sitemaps), ("hubs", asked)]
    waits = bool(sitemaps or polled)
    assert found == (True if waits else False if early else "looks"), "a hub that is visited next is not waited for"
    assert noted.calls == [*best, *asks, *[("again", strategy, 9.0)] * (not waits and not early)]
    assert hints.reading is True


@pytest.mark.parametrize(("visits", "asked"), [(10, 1), (39, 1), (40, 2), (1_000, 5)])
def test_one_in_twenty_pages_at_most_is_asked_for_its_neighbours(visits, asked):
    owed = []
    hints = SimpleNamespace(
        _edited=lambda stale: None,
        _worth_a_slot=lambda probes, step, now: probes,
        _owe_hubs=lambda pages: owed.extend(pages) or len(pages),
        _capture=SimpleNamespace(counts=SimpleNamespace(visits=visits)),
        _probes=set(),
        looks=SimpleNamespace(affords=lambda *_: True, polled=lambda hubs: None),
    )
    strategy = SimpleNamespace(setting=SimpleNamespace(step=1.0), first_visits_left=1)
    SiteHints.edited(hints, SimpleNamespace(stale={}, probes=[1, 2, 3, 4, 5]), strategy, 0.0)
    assert owed == [1, 2, 3, 4, 5][:asked]
    assert hints._probes == set(owed)


def test_a_probe_is_worth_its_slot_where_nothing_was_said_of_it_and_it_finds_more_than_the_others_lose():
    """The cost: what all visited pages lose in one step."""
    pages = SimpleNamespace(rates=[0.01] * 4, started=[0.0, 50.0, 90.0, 99.0], pages_in=lambda state: range(4))
    hints = SimpleNamespace(_ledger=SimpleNamespace(pages=pages), changes={3})
    kept = [np.exp(-0.01 * (100.0 - started)) for started in pages.started]
    cost = 5.0 * 0.01 * sum(kept)
    dear = {page: cost / (one - cost) for page, one in enumerate(kept)}
    worth = SiteHints._worth_a_slot
    assert worth(hints, {page: 1.001 * found for page, found in dear.items()}, 5.0, 100.0) == [0, 1, 2]
    assert worth(hints, {page: 0.999 * found for page, found in dear.items()}, 5.0, 100.0) == []
    pages.rates = [0.0] * 4
    assert worth(hints, {0: 0.0}, 5.0, 100.0) == [], "it finds nothing"


def test_without_room_no_probe_is_asked():
    noted = Noted()
    hints = bare(
        _edited=noted.one("edited"),
        _worth_a_slot=lambda probes, step, now: list(probes),
        _capture=SimpleNamespace(counts=SimpleNamespace(visits=100)),
        _probes=set(),
        looks=SimpleNamespace(affords=noted.one("affords", False), polled=noted.one("polled")),
    )
    strategy = SimpleNamespace(setting=SimpleNamespace(step=2.0), first_visits_left=3)
    hints.edited(SimpleNamespace(stale={4: 1.0}, probes={}), strategy, 9.0)
    assert noted.take() == [("edited", {4: 1.0})]
    hints.edited(SimpleNamespace(stale={}, probes={5: 2.0}), strategy, 9.0)
    assert noted.take() == [("edited", {}), ("affords", 1, 3, 9.0)]
    assert hints._probes == set()
    hints.looks.affords, hints._owe_hubs = noted.one("affords", True), noted.one("owe", 1)
    hints.edited(SimpleNamespace(stale={}, probes={5: 2.0}), strategy, 9.0)
    assert noted.take()[2:] == [("owe", [5]), ("polled", 1)]
    assert hints._probes == {5}


def test_what_a_sitemap_speaks_of_is_not_surmised():
    said = ChangeHints(SimpleNamespace(started=0.0), None, None)
    said.ingest(1, 10.0, 5.0, 6.0)
    bare(changes=said)._edited({1: 50.0, 2: 60.0})
    assert [said._changed(page) for page in (1, 2)] == [5.0, 60.0]


@pytest.mark.parametrize(
    ("visits", "sitemaps", "most"), [(0, 0, 0), (WORTH, 0, 1), (3 * WORTH - 1, 1, 1), (WORTH, 2, -1)]
)
def test_so_many_hubs_are_asked_as_visits_are_worth_beside_the_sitemaps(visits, sitemaps, most):
    noted = Noted()
    hints = bare(
        hubs=SimpleNamespace(best=noted.one("best")),
        sitemaps=dict.fromkeys(range(sitemaps)),
        _capture=SimpleNamespace(counts=SimpleNamespace(visits=visits)),
    )
    hints._best_hubs(9.0, 0.5)
    assert noted.calls == [("best", most, 9.0, 0.5)]


OTHER = OK._replace(started=90.0, digest="sha1:now")


@pytest.mark.parametrize(
    ("outcome", "calls"),
    [
        (OTHER, [("looked", 4, 0.25, True)]),
        (OK, [("looked", 4, 0.25, False)]),
        (OTHER._replace(result=Result.GONE, status=404), [("looked", 4, 0.25, True), ("spent", 4)]),
        (OTHER._replace(result=Result.FAILED, status=503), [("looked", 4, 0.25, False), ("spent", 4)]),
        (OTHER._replace(result=Result.REFUSED, status=None), [("spent", 4)]),
    ],
)
def test_a_second_look_tells_what_its_hint_was_worth_and_a_word_that_brings_nothing_is_spent(outcome, calls):
    noted = Noted()
    hints = bare(
        silent=noted.one("silent"),
        looks=SimpleNamespace(looked=noted.one("looked")),
        changes=SimpleNamespace(spent=noted.one("spent")),
        _ledger=SimpleNamespace(pages=SimpleNamespace(rates={4: 0.25})),
        _polling=set(),
    )
    hints.visited_again(4, OK, outcome)
    assert noted.calls == [("silent", 4, outcome), *calls]


@pytest.mark.parametrize(
    ("probe", "outcome", "calls"),
    [
        (False, OTHER, []),
        (True, OTHER, [("looked", 4, 50.0, 90.0), ("edited", {5: 90.0})]),
        (True, OK, [("edited", {})]),
    ],
)
def test_a_poll_of_a_page_is_no_test_of_a_hint_and_a_probe_that_has_changed_speaks_for_others(probe, outcome, calls):
    noted = Noted()
    hints = bare(
        silent=noted.one("silent"),
        _polling={4},
        _probes={4} if probe else set(),
        _tests=SimpleNamespace(looked=noted.one("looked", {5: 90.0})),
        _edited=noted.one("edited"),
    )
    hints.visited_again(4, OK, outcome)
    assert noted.calls == [("silent", 4, outcome), *calls]
    assert hints._polling == hints._probes == set(), "once"


def test_sitemaps_are_owed_before_any_visit():
    noted = Noted()
    hints = bare(
        _capture=SimpleNamespace(owed=SimpleNamespace(before_visits=noted.one("before"))),
        _ledger=SimpleNamespace(owe=noted.one("owe")),
    )
    hints._owe_sitemaps([1, 2])
    assert noted.calls == [("before", 1), ("owe", 1, Slot.SECOND), ("before", 2), ("owe", 2, Slot.SECOND)]
