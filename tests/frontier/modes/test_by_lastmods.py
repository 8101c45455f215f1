"""When sitemaps are read on the way to T, and in which order pages are revisited by what they say there."""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes import by_lastmods
from sharc_crawler.frontier.modes.by_lastmods import ByLastmods
from sharc_crawler.frontier.modes.two_visits import seed_of
from sharc_crawler.model import Change, Kind, Phase, Sighting, Slot
from sharc_crawler.state.lifecycle import State
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

STEP = 10.0
HALF = 1.000001 * np.log(2) / 200.0  #: of such pages half change in 200 s


def reads(made=100, left=100, spare=1e6, sitemaps=1, rate=1.0, hints=0.1, readings=0) -> tuple[bool, int]:
    """Are the sitemaps read now, and the readings that there may have been."""
    asked = []
    mode = SimpleNamespace(
        _capture=SimpleNamespace(
            counts=SimpleNamespace(visits=made),
            spec=SimpleNamespace(hints=hints),
            budget=SimpleNamespace(spare=lambda _: spare),
        ),
        _ledger=SimpleNamespace(pages=SimpleNamespace(pages_in=lambda _: range(left))),
        _readings=readings,
        attestations=SimpleNamespace(sitemaps=dict.fromkeys(range(sitemaps), 0.0)),
        _columns=lambda pages: (np.full(len(pages), rate), np.ones(len(pages)), np.full(len(pages), np.inf)),
        _read_sitemaps=lambda: asked.append(1) or True,
        _passed=lambda strategy: ByLastmods._passed(mode, strategy),
    )
    strategy = SimpleNamespace(first_visits_left=left, setting=SimpleNamespace(step=STEP))
    found = ByLastmods._reads_on_the_way(mode, strategy, 0.0)
    assert found is bool(asked)
    return found, mode._readings


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"made": 40, "left": 60, "readings": 0}, (False, 1)),  # fifty visits a sitemap at least
        ({"made": 80, "left": 120}, (True, 1)),
        ({"made": 79, "left": 121}, (False, 0)),  # at two fifths
        ({"made": 160, "left": 40, "readings": 1}, (True, 2)),
        ({"made": 159, "left": 41, "readings": 1}, (False, 1)),  # at four fifths
        ({"made": 199, "left": 1, "readings": 2}, (False, 2)),
        ({"made": 160, "left": 40, "readings": 0}, (True, 2)),  # once for both
        ({"hints": 0.0}, (False, 0)),
        ({"sitemaps": 2}, (True, 1)),
        ({"sitemaps": 3}, (False, 1)),
        ({"sitemaps": 0}, (False, 1)),
        ({"spare": 203.0}, (True, 1)),  # two downloads of each page that is left, and the sitemaps at T and at the end
        ({"spare": 202.0}, (False, 1)),
        ({"spare": 206.0, "sitemaps": 2}, (True, 1)),
        ({"spare": 205.0, "sitemaps": 2}, (False, 1)),
        ({"made": 50, "left": 20, "spare": 1e6}, (True, 1)),  # twenty pages a sitemap would have changed by T
        ({"made": 50, "left": 19, "spare": 1e6}, (False, 1)),
        ({"made": 100, "left": 40, "sitemaps": 2}, (True, 1)),
        ({"made": 100, "left": 39, "sitemaps": 2}, (False, 1)),
        ({"rate": 1e-9}, (False, 1)),
        ({"rate": HALF, "left": 40}, (True, 1)),  # half of them in half of the time that is left
        ({"rate": HALF, "left": 39}, (False, 1)),
    ],
)
def test_sitemaps_are_read_on_the_way_where_that_spares_more_than_it_costs(given, found):
    assert reads(**given) == found


@pytest.mark.parametrize(("said", "first"), [(Change.CHANGED, [0, 1]), (Change.UNKNOWN, [1, 0])])
def test_of_a_page_that_is_said_to_have_changed_nothing_before_t_counts(said, first):
    """It is revisited as if its visit had been at T."""
    ordered = []
    strategy = SimpleNamespace(
        revisits_ahead=lambda: [7, 8], setting=SimpleNamespace(step=STEP), reorder=ordered.extend
    )
    mode = SimpleNamespace(
        _ledger=SimpleNamespace(pages=SimpleNamespace(started={7: 90.0, 8: 100.0})),
        _columns=lambda pages: (np.full(len(pages), 0.1), np.ones(len(pages)), np.full(len(pages), np.inf)),
    )
    ByLastmods._reorder(mode, strategy, {7: said}, 100.0)
    assert ordered == [[7, 8][place] for place in first]


bare = partial(stubs.bare, ByLastmods)


def test_a_page_is_taken_by_a_trusted_word_before_t_alone():
    for reference, unchanged in product((None, 5.0), YES_OR_NO):
        known = SimpleNamespace(unchanged_since=lambda *given, found=unchanged: found and given == (1, "url", "look"))
        mode = bare(_capture=SimpleNamespace(reference=reference), attestations=known)
        assert mode.takes(1, "url", "look") is (unchanged and reference is None)


def test_pages_with_a_word_are_drawn_for_the_audit_and_those_found_before_t():
    urls, noted = {1: "one", 2: "two", 3: "three"}, Noted()
    known = SimpleNamespace(
        lastmods={3: 0.0, 1: 0.0}, begin=noted.one("begin"), draw=noted.one("draw"), draw_more=noted.one("more")
    )
    capture = SimpleNamespace(reference=None, spec=SimpleNamespace(site="h", settings={}), started=7.0)
    mode = bare(_capture=capture, _ledger=SimpleNamespace(pages=SimpleNamespace(urls=urls)), attestations=known)
    mode.prepare([1, 2, 3], 9.0)
    assert mode.planned_by([2, 1], [0.1, 0.2]) == [0.1, 0.2]
    capture.reference = 5.0
    mode.planned_by([3], [0.1])
    assert noted.calls == [
        ("begin", urls, 9.0),
        ("draw", {1: "one", 3: "three"}, seed_of(capture)),
        ("more", {2: "two", 1: "one"}),
    ]


def test_what_a_visit_waits_for():
    for again, held, before, reads, open_, ahead, begins in product(YES_OR_NO, repeat=7):
        mode = bare(
            _held=object() if held else None,
            _capture=SimpleNamespace(reference=None if before else 5.0),
            _downloads_again=lambda strategy, found=again: found,
            _reads_on_the_way=lambda strategy, now, found=reads: found,
            _last_is_open=lambda strategy, found=open_: found,
            _begin_reference=lambda found=begins: found,
        )
        strategy = SimpleNamespace(revisits_ahead=lambda found=ahead: [1] * found)
        waits = again or (not held and ((before and reads) or open_ or (ahead and begins)))
        assert mode.waits(strategy, 0.0) is waits


def test_the_first_visit_after_t_is_held_once():
    for visit, past, begins in product((None, "visit"), YES_OR_NO, YES_OR_NO):
        mode = bare(_held=None, _begin_reference=lambda found=begins: found)
        strategy = SimpleNamespace(next=lambda now, found=visit: found, past_reference=past)
        held = visit is not None and past and begins
        assert mode.next(strategy, 0.0) == (None if held else visit)
        assert mode._held == (visit if held else None)
        strategy.next = lambda now: "next"
        strategy.past_reference = False
        assert mode.next(strategy, 0.0) == (visit if held else "next")
        assert mode._held is None


def test_at_the_end_comes_the_audit_then_what_is_embedded_then_the_sitemaps_once_more():
    for downloads, before, begins, audits, embeds, read, sitemaps in product(YES_OR_NO, repeat=7):
        for phase in (Phase.REVISIT, Phase.CHECK):
            noted = Noted()
            capture = SimpleNamespace(
                reference=None if before else 5.0, phase=phase, life=SimpleNamespace(check=noted.one("check"))
            )
            mode = bare(
                attestations=SimpleNamespace(downloads=[1] * downloads),
                _capture=capture,
                _ledger=SimpleNamespace(changed_capture=noted.one("changed")),
                _begin_reference=noted.one("begin", begins),
                _audits=noted.one("audits", audits),
                _embeds=noted.one("embeds", embeds),
                _read_sitemaps=noted.one("read", sitemaps),
                _finally_read=read,
            )
            if not downloads:
                calls, owes = [], False
            elif before:
                calls, owes = [("begin",)], begins
            else:
                calls = [] if phase is Phase.CHECK else [("check",), ("changed",)]
                calls += [("audits", 5.0)] + [("embeds", 5.0)] * (not audits)
                last = not audits and not embeds and not read
                calls += [("read",)] * last
                owes = audits or embeds or (last and sitemaps)
            assert mode.owes_more(9.0) is owes
            assert noted.calls == calls
            assert mode._finally_read is (read or (("read",) in calls))


def test_sitemaps_are_owed_before_any_visit_where_they_were_read_before():
    for before, pages in ((None, [1, 2, 3]), (6.0, [1]), (5.0, [])):
        noted = Noted()
        mode = bare(
            attestations=SimpleNamespace(sitemaps={1: 5.0, 2: 6.0, 3: 7.0}),
            _capture=SimpleNamespace(owed=SimpleNamespace(before_visits=noted.one("before"))),
            _ledger=SimpleNamespace(owe=noted.one("owe")),
        )
        assert mode._read_sitemaps(before) is bool(pages)
        assert [call for call in noted.calls if call[0] == "owe"] == [("owe", page, Slot.SECOND) for page in pages]
        assert [call for call in noted.calls if call[0] == "before"] == [("before", page) for page in pages]


def test_t_is_asked_for_once_and_is_when_the_first_sitemap_is_read_again():
    for reference, sought, sitemaps in product((None, 5.0), YES_OR_NO, YES_OR_NO):
        mode = bare(
            _capture=SimpleNamespace(reference=reference),
            _sought=sought,
            _read_sitemaps=lambda found=sitemaps: found,
        )
        asks = reference is None and not sought
        assert mode._begin_reference() is (asks and sitemaps)
        assert mode._sought is (sought or asks)
    for slot, sought, reference, begun in product((Slot.FIRST, Slot.SECOND), YES_OR_NO, (None, 5.0), YES_OR_NO):
        noted = Noted()
        strategy = SimpleNamespace(reference_passed=noted.one("passed"))
        mode = bare(
            _capture=SimpleNamespace(
                reference=reference,
                strategy=strategy if begun else None,
                life=SimpleNamespace(turn=noted.one("turn")),
            ),
            _sought=sought,
            attestations=SimpleNamespace(read=noted.one("read")),
        )
        mode.sitemap_read(1, slot, SimpleNamespace(started=8.0))
        turns = slot is Slot.SECOND and sought and reference is None and begun
        assert [call[0] for call in noted.calls] == ["read", *["turn", "passed"] * turns]


def test_at_t_what_is_worth_it_is_downloaded_again_once_words_are_weighed():
    for drew, weighed, worth in product(YES_OR_NO, YES_OR_NO, ([], [3])):
        noted = Noted()
        mode = bare(
            _capture=SimpleNamespace(reference=5.0),
            _again=None,
            _drew=drew,
            _draw=noted.one("draw"),
            _weighed=noted.one("weighed", ({1: Change.CHANGED}, [2, 3]) if weighed else None),
            _reorder=noted.one("reorder"),
            _rate_again=noted.one("rate"),
            _worth_again=noted.one("worth", worth),
            _owe_in_full=noted.one("owe"),
        )
        assert mode._downloads_again("door") is (not weighed or bool(worth))
        then = [
            ("reorder", "door", {1: Change.CHANGED}, 5.0),
            ("rate", [2, 3], 5.0),
            ("worth", "door", [2, 3]),
            ("owe", worth),
        ]
        assert noted.calls == [("draw",)] * (not drew) + [("weighed", "door", 5.0)] + then * weighed
        assert mode._again == (worth if weighed else None)


def test_sitemaps_are_read_once_more_where_more_pages_have_no_date_than_there_are_sitemaps():
    for undated, reads in product(range(4), YES_OR_NO):
        mode = bare(
            _capture=SimpleNamespace(reference=5.0),
            _again=[1, 2, 3],
            attestations=SimpleNamespace(undated=lambda pages, left=undated: pages[:left], sitemaps=[8, 9]),
            _read_sitemaps=lambda found=reads: found,
        )
        assert mode._downloads_again("door") is (undated == 3 and reads)
        assert mode._again == []
    assert bare(_capture=SimpleNamespace(reference=None))._downloads_again("door") is False


def test_pages_are_owed_without_conditions():
    noted = Noted()
    pages = SimpleNamespace(ask_in_full=noted.one("full"))
    bare(_ledger=SimpleNamespace(pages=pages, owe=noted.one("owe")))._owe_in_full([1, 2])
    assert noted.calls == [("full", 1), ("owe", 1, Slot.SECOND), ("full", 2), ("owe", 2, Slot.SECOND)]


def test_what_changed_is_rated_by_what_was_said_last():
    noted = Noted()
    mode = bare(
        _ledger=SimpleNamespace(pages=SimpleNamespace(urls={1: "one", 2: "two"}), rated=noted.one("rated")),
        _capture=SimpleNamespace(rates=SimpleNamespace(rates=noted.one("rates", ["cold", "hot"]))),
        attestations=SimpleNamespace(last_hints=lambda page: f"hints of {page}"),
    )
    mode._rate_again([], 5.0)
    assert not noted.calls
    mode._rate_again([2, 1], 5.0)
    told = [Sighting("two", hints="hints of 2"), Sighting("one", hints="hints of 1")]
    assert noted.calls == [("rates", told, 5.0), ("rated", 2, "cold"), ("rated", 1, "hot")]


def table(rates, weights) -> dict:
    shapes = [np.inf] * len(rates)
    return {"_ledger": SimpleNamespace(pages=SimpleNamespace(rates=rates, weights=weights, shapes=shapes))}


@pytest.mark.parametrize("seed", range(4))
def test_downloaded_again_at_t_is_what_brings_more_than_it_costs_those_after_it(monkeypatch, seed):
    """The n-th waits n - 1 downloads, and puts all that is revisited off by one."""
    dice = np.random.default_rng(seed)
    rates, weights = 10 ** dice.uniform(-4, -0.5, 30), dice.uniform(0.2, 2.0, 30)
    rates[20:] /= 30
    order = dice.permutation(20)
    monkeypatch.setattr(by_lastmods, "revisit_order", lambda *given: order)
    strategy = SimpleNamespace(setting=SimpleNamespace(step=STEP), revisits_ahead=lambda: range(20, 20 + 2 * seed))
    found = bare(**table(rates, weights))._worth_again(strategy, list(range(20)))
    cost = sum(weights[page] * (1 - np.exp(-rates[page] * STEP)) for page in strategy.revisits_ahead())
    wanted = [page for at, page in enumerate(order) if weights[page] * np.exp(-rates[page] * STEP * at) > cost]
    assert found == wanted
    assert found
    assert bool(seed) is (len(found) < 20)


def test_what_brings_as_much_as_it_costs_is_not_downloaded_again():
    strategy = SimpleNamespace(setting=SimpleNamespace(step=STEP), revisits_ahead=lambda: [1])
    assert bare(**table([0.0, 1e9], [1.0, 1.0]))._worth_again(strategy, [0]) == []
    assert bare(**table([0.0, 1e9], [1.1, 1.0]))._worth_again(strategy, [0]) == [0]


def test_revisits_are_ordered_by_what_may_have_changed_since_t(monkeypatch):
    given, ordered = [], []
    monkeypatch.setattr(by_lastmods, "revisit_order", lambda *those: given.extend(those) or np.array([3, 1, 0, 2]))
    ahead = [0, 1, 2, 3]
    strategy = SimpleNamespace(revisits_ahead=lambda: ahead, setting=SimpleNamespace(step=STEP), reorder=ordered.append)
    mode = bare(**table([0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0]))
    mode._ledger.pages.started = [40.0, 50.0, 105.0, 100.5]
    mode._reorder(strategy, {0: Change.CHANGED, 1: Change.UNCHANGED, 2: Change.UNKNOWN}, 101.0)
    rates, weights, shapes, elapsed, step = given
    assert (rates.tolist(), weights.tolist(), step) == ([0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 3.0, 4.0], STEP)
    assert elapsed.tolist() == [0.0, 51.0, 0.0, 0.5]
    assert np.isinf(shapes).all()
    assert ordered == [[3, 1, 0, 2]]
    ahead.clear()
    mode._reorder(strategy, {}, 101.0)
    assert len(ordered) == 1


def test_after_more_audits_the_sitemaps_are_read_again():
    for left, read in product(([], [4]), YES_OR_NO):
        noted = Noted()
        known = SimpleNamespace(next_audits=noted.one("next", left))
        mode = bare(attestations=known, _finally_read=read, _owe_in_full=noted.one("owe"))
        assert mode._audits(5.0) is bool(left)
        assert noted.calls == [("next", 5.0, read), ("owe", left)]
        assert mode._finally_read is (read and not left)


def test_what_was_embedded_before_t_is_downloaded_again_once():
    kinds = [Kind.PAGE, Kind.RESOURCE, Kind.DATA, Kind.RESOURCE, Kind.RESOURCE]
    for started, again in (([1.0] * 5, [1, 2, 3]), ([1.0, 6.0, 5.0, 4.0, 1.0], [3]), ([6.0] * 5, [])):
        noted = Noted()
        pages = SimpleNamespace(
            kinds=kinds, started=started, having=lambda state: [0, 1, 2, 3] * (state is State.VISITED)
        )
        mode = bare(_embedded_again=False, _ledger=SimpleNamespace(pages=pages, owe=noted.one("owe")))
        assert mode._embeds(5.0) is bool(again)
        assert mode._embeds(5.0) is False
        assert noted.calls == [("owe", page, Slot.SECOND) for page in again]


def test_what_pages_embed_is_asked_for_by_former_captures_and_no_page_is():
    asked = {kind for kind in Kind if bare().asks_by_former(kind, Slot.FIRST)}
    assert asked == {Kind.RESOURCE, Kind.DATA}
