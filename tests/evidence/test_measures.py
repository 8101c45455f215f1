"""What pages add up to, against sums written out one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import (
    Content,
    Expected,
    PageTally,
    Plans,
    content,
    fingerprint_equal,
    interval,
    only_noise,
    share,
    survival,
)
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.truth import TruthTally
from sharc_crawler.model import Kind, Plan, Result, Slot, Url, Verdict
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.rates.swings import GROUP, KNOTS, Swings
from tests.report.arbitrary import pages

lists = st.lists(pages(), max_size=3)


def page(verdict: Verdict | None = Verdict.COHERENT, **more) -> PageFacts:
    return PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.1, "sitemap", verdict=verdict, **more)


def look(slot: Slot, at: float, until: float | None = None, **more) -> VisitFacts:
    return VisitFacts(slot, Result.OK, at, at if until is None else until, **more)


def sums(counter, items) -> dict:
    for item in items:
        counter.add(item)
    return counter.totals()


@pytest.mark.slow
@given(lists)
def test_every_page_is_tallied_once(items: list[PageFacts]) -> None:
    found = sums(PageTally(), items)
    of = {verdict: [one for one in items if one.verdict is verdict] for verdict in (*Verdict, None)}
    assert [found[name] for name in ("coherent", "changed", "unknown", "not_captured")] == [*map(len, of.values())]
    assert found["known"] == len(items)
    assert found["captured"] == len(items) - len(of[None])
    weight, kept = (
        sum(one.weight for verdict in which for one in of[verdict])
        for which in (Verdict, [Verdict.COHERENT])
    )  # fmt: skip
    assert found["weighted_share"] == (pytest.approx(kept / weight) if weight else None)
    assert found["share"] == share(len(of[Verdict.COHERENT]), found["captured"])
    assert sum(found["content"].values()) == found["captured"]
    assert found["content"]["kept"] == found["coherent"] + found["same_content"]
    assert found["same_content"] == sum(map(only_noise, items))


@pytest.mark.parametrize("alike", [False, True])
def test_masks_tell_of_changed_pages_and_never_of_unknown_ones(alike: bool) -> None:
    verdicts = [Verdict.COHERENT, Verdict.CHANGED, Verdict.CHANGED, Verdict.UNKNOWN, None]
    found = sums(PageTally(), [page(verdict, evidence=Evidence.BYTES, alike=alike) for verdict in verdicts])
    assert found["by_masks"] == 2 * alike
    assert found["content"]["unknown"] == 1


def test_pages_that_were_not_asked_for_and_those_that_took_more_than_one_request_are_counted() -> None:
    looks = [(None, None), (0, None), (1, None), (2, None), (1, 1), (1, 2), (2, 2)]
    items = [
        page(visit=first if first is None else look(Slot.FIRST, 1.0, attempts=first),
             revisit=second and look(Slot.SECOND, 9.0, attempts=second))
        for first, second in looks
    ]  # fmt: skip
    found = sums(PageTally(), items)
    assert (found["not_asked"], found["retried"]) == (1, 3)


PAIRS = [
    ("a", "a", Result.OK, True),
    ("a", "b", Result.OK, False),
    ("a", None, Result.OK, None),
    (None, None, Result.OK, None),
    ("a", "a", Result.FAILED, None),
]


@pytest.mark.parametrize(("first", "second", "result", "equal"), PAIRS)
def test_fingerprints_are_compared_where_both_downloads_have_one(first, second, result, equal) -> None:
    revisit = VisitFacts(Slot.SECOND, result, 5.0, 6.0, fingerprint=second)
    one = page(
        Verdict.CHANGED, evidence=Evidence.BYTES, visit=look(Slot.FIRST, 1.0, fingerprint=first), revisit=revisit
    )
    assert fingerprint_equal(one) is equal
    assert only_noise(one) is (equal is True)


def test_a_page_that_was_away_did_not_keep_its_content_though_it_came_back() -> None:
    looks = {
        name: look(slot, at, fingerprint="F")
        for name, slot, at in (("visit", Slot.FIRST, 1), ("revisit", Slot.SECOND, 9))
    }
    for alike in (True, False):
        away = page(
            Verdict.CHANGED, evidence=Evidence.BYTES, reason=Reason.OTHER_ANSWER.of("content before, gone after"),
            alike=alike, **looks,
        )  # fmt: skip
        assert (only_noise(away), content(away)) == (False, Content.CHANGED)


def test_a_page_whose_data_changed_has_not_the_same_content_whatever_its_shell_says() -> None:
    looks = {"visit": look(Slot.FIRST, 1.0, fingerprint="a"), "revisit": look(Slot.SECOND, 5.0, fingerprint="a")}
    assert fingerprint_equal(page(Verdict.CHANGED, reason=Reason.DATA_CHANGED, **looks)) is False


@pytest.mark.parametrize(
    ("verdict", "evidence", "alike", "noise", "became"),
    [
        (Verdict.COHERENT, Evidence.BYTES, True, False, Content.KEPT),
        (Verdict.CHANGED, Evidence.BYTES, True, True, Content.KEPT),
        (Verdict.CHANGED, Evidence.BYTES, False, False, Content.CHANGED),
        (Verdict.CHANGED, Evidence.ATTESTED, True, False, Content.CHANGED),
        (Verdict.UNKNOWN, Evidence.BYTES, True, False, Content.UNKNOWN),
        (Verdict.UNKNOWN, None, False, False, Content.UNKNOWN),
        (None, None, False, False, None),
    ],
)
def test_what_became_of_the_content(verdict, evidence, alike, noise, became) -> None:
    one = page(verdict, evidence=evidence, alike=alike)
    assert (only_noise(one), content(one)) == (noise, became)


FIRST, ONLY, LATER = look(Slot.FIRST, 10.0, 12.0), look(Slot.ONLY, 10.0, 12.0), look(Slot.SECOND, 50.0, 51.0)


@pytest.mark.parametrize(
    ("one", "reference", "length"),
    [
        (page(Verdict.COHERENT, visit=FIRST, revisit=LATER), 30.0, 40.0),
        (page(Verdict.CHANGED, visit=FIRST, revisit=LATER), None, 40.0),
        (page(Verdict.UNKNOWN, visit=FIRST, revisit=LATER), 30.0, None),
        (page(None, visit=FIRST, revisit=LATER), 30.0, None),
        (page(Verdict.COHERENT), 30.0, None),
        (page(Verdict.COHERENT, visit=FIRST), 30.0, None),
        (page(Verdict.COHERENT, visit=ONLY), 30.0, 0.0),
        (page(Verdict.COHERENT, visit=ONLY, evidence=Evidence.ATTESTED), 30.0, 20.0),
        (page(Verdict.COHERENT, visit=ONLY, revisit=LATER, evidence=Evidence.ATTESTED), 30.0, 20.0),
        (page(Verdict.COHERENT, visit=ONLY, revisit=LATER, evidence=Evidence.ATTESTED), None, 40.0),
        (page(Verdict.COHERENT, visit=FIRST, revisit=LATER, evidence=Evidence.ATTESTED), 30.0, 40.0),
        (page(Verdict.COHERENT, visit=look(Slot.ONLY, 33.0), evidence=Evidence.ATTESTED), 30.0, 3.0),
        (page(Verdict.COHERENT, visit=FIRST, revisit=look(Slot.SECOND, 10.0)), 30.0, 0.0),
        (page(Verdict.COHERENT, visit=ONLY, revisit=look(Slot.SECOND, 4.0)), 30.0, 0.0),  # of a visit that is lost
    ],
)
def test_the_interval_over_which_a_page_had_to_stay(one, reference, length) -> None:
    assert interval(one, reference) == length
    expected = None if length is None else pytest.approx(math.exp(-0.1 * length))
    assert survival(one, reference) == expected


@pytest.mark.slow
@given(lists, st.none() | st.floats(1e9, 2e9))
def test_expected_is_the_sum_of_survivals_and_of_their_variances(items: list[PageFacts], at: float | None) -> None:
    items = [replace(one, rate=min(one.rate, 1e3)) for one in items]  # rates are finite
    judged = [(one, p) for one in items if (p := survival(one, at)) is not None]
    found = sums(Expected(at), items)
    assert found["pages"] == len(judged)
    assert found["coherent"] == pytest.approx(math.fsum(p for _, p in judged))
    assert found["deviation"] ** 2 >= math.fsum(p - p * p for _, p in judged) - 1e-12
    assert found["counted"] == sum(one.verdict is Verdict.COHERENT for one, _ in judged)
    assert found["same_content"] == found["counted"] + sum(only_noise(one) for one, _ in judged)


def looked_over(days: float, **known) -> PageFacts:
    """A page that was to survive so long, at a change in ten days."""
    visits = {"visit": look(Slot.FIRST, 0.0), "revisit": look(Slot.SECOND, days * 86_400.0)}
    changes = {"rate": 0.1 / 86_400.0, "rate_source": "history"} | known
    return replace(page(Verdict.COHERENT, **visits), **changes)


@pytest.mark.slow
def test_the_deviation_holds_chance_what_rates_may_be_and_what_moves_them_together() -> None:
    many = [looked_over(1.0) for _ in range(10_000)]
    found = sums(Expected(None), many)
    chance = math.sqrt(10_000 * math.exp(-0.1) * (1 - math.exp(-0.1)))
    together = 10_000 * 0.1 * math.exp(-0.1) * Swings.usual().at(0.75 * 86_400.0)
    assert found["deviation"] == pytest.approx(math.hypot(math.sqrt(GROUP) * chance, together))
    calm = sums(Expected(None, Swings((0.0,) * len(KNOTS))), many)
    assert calm["deviation"] == pytest.approx(chance)
    month = sums(Expected(None), [looked_over(30.0, rate=0.1 / 30 / 86_400.0) for _ in range(10_000)])
    assert month["deviation"] < 0.6 * found["deviation"]
    unsure = sums(Expected(None), [looked_over(1.0, rate_shape=0.5) for _ in range(10_000)])
    assert unsure["coherent"] == pytest.approx(10_000 * 1.2**-0.5)


def test_the_deviation_is_of_chance_and_of_what_moves_all_rates_together() -> None:
    calm, moved = Swings((0.0,) * len(KNOTS)), Swings((1.0,) * len(KNOTS))
    p, many = math.exp(-0.1), [looked_over(1.0) for _ in range(9)]
    assert sums(Expected(None, calm), many)["deviation"] == pytest.approx(3 * math.sqrt(p * (1 - p)))
    together = math.hypot(3 * math.sqrt(p * (1 - p)), 9 * 0.1 * p)
    assert sums(Expected(None, moved), many)["deviation"] == pytest.approx(together)
    changed = looked_over(1.0, rate=1e9)  # for certain: nothing moves that
    assert sums(Expected(None, moved), [*many, changed])["deviation"] == pytest.approx(together)


def test_what_differed_in_noise_alone_has_the_same_content() -> None:
    noise = page(Verdict.CHANGED, evidence=Evidence.BYTES, visit=FIRST, revisit=LATER, alike=True)
    found = sums(Expected(None), [noise, noise, page(Verdict.COHERENT, visit=ONLY)])
    assert (found["counted"], found["same_content"]) == (1, 3)


def test_plans_are_held_against_what_came_of_their_pages() -> None:
    made = [(Plan.HOPEFUL, Verdict.COHERENT)] * 3 + [(Plan.HOPEFUL, Verdict.CHANGED)] * 2
    made += [(Plan.HOPELESS, Verdict.UNKNOWN), (Plan.HOPELESS, None)]
    found = sums(Plans(), [page(verdict, plan=plan) for plan, verdict in made])
    assert found[Plan.HOPEFUL.value] == {"pages": 5, "coherent": 3}
    assert found[Plan.HOPELESS.value] == {"pages": 1, "coherent": 0}


@pytest.mark.parametrize(("verdict", "truth"), [(None, True), (Verdict.COHERENT, None), (None, None)])
def test_where_nothing_is_known_of_a_page_or_its_truth_it_is_not_counted(verdict, truth) -> None:
    assert sums(TruthTally(), [page(verdict, truth=truth)]) is None


def test_rates_that_are_hardly_known_move_less_together() -> None:
    """The mean of e^{-λI} over a posterior of shape a is (1 + λI/a)^-a: its slope has 1 + λI/a below."""
    found = sums(Expected(None, Swings((1.0,) * len(KNOTS), 0.0)), [looked_over(1.0, rate_shape=0.5)])
    assert found["deviation"] == pytest.approx(0.1 * 1.2**-0.5 / 1.2)


def test_the_deviation_is_never_more_than_where_all_pages_go_one_way() -> None:
    """Three pages are not edited four at a time, however far a site swings."""
    few, wild = [looked_over(1.0) for _ in range(3)], Swings((50.0,) * len(KNOTS), GROUP)
    p = math.exp(-0.1)
    assert sums(Expected(None, wild), few)["deviation"] == pytest.approx(3 * math.sqrt(p * (1 - p)))


@pytest.mark.parametrize("days", [0.001, 0.01, 0.1, 1.0, 5.0])
def test_four_captures_of_five_lie_between_low_and_high(days: float) -> None:
    """By chance alone: within one page of the binomial distribution's quantiles."""
    calm, many = Swings((0.0,) * len(KNOTS)), [looked_over(days) for _ in range(100)]
    found = sums(Expected(None, calm), many)
    exact = binom.ppf([0.1, 0.9], 100, math.exp(-0.1 * days))
    assert np.abs(np.array([found["low"], found["high"]]) - exact).max() <= 1
    assert 0 <= found["low"] <= found["high"] <= 100


def test_low_reaches_down_to_what_a_rebuild_leaves_and_high_does_not_rise() -> None:
    calm, many = Swings((0.5,) * len(KNOTS)), [looked_over(1.0) for _ in range(100)]
    often = calm._replace(rebuilds=0.2 / 86_400.0, touched=0.5)
    without, found = sums(Expected(None, calm), many), sums(Expected(None, often), many)
    chance = 1 - math.exp(-0.2)
    reached = found["coherent"] * (1 - 0.5 * (chance - 0.1) / chance)
    assert found["low"] == pytest.approx(reached, abs=1) and found["low"] < without["low"] - 5
    assert found["high"] == pytest.approx(without["high"], abs=1) and found["deviation"] == without["deviation"]


def test_pages_that_are_looked_at_once_cannot_change_and_meet_no_rebuild() -> None:
    often = Swings((1.0,) * len(KNOTS), rebuilds=10.0, touched=0.5)
    found = sums(Expected(None, often), [page(Verdict.COHERENT, visit=ONLY) for _ in range(3)])
    assert (found["coherent"], found["deviation"]) == (3.0, 0.0)


def test_counted_are_the_coherent_ones_of_those_with_an_interval() -> None:
    judged = [page(Verdict.COHERENT, visit=ONLY), page(Verdict.CHANGED, visit=FIRST, revisit=LATER)]
    found = sums(Expected(None), [*judged, judged[1], page(Verdict.COHERENT)])
    assert (found["pages"], found["counted"], found["same_content"]) == (3, 1, 1)


def test_guessed_are_the_pages_whose_rate_nobody_told() -> None:
    visit = {"visit": ONLY}
    told, guessed = page(**visit), PageFacts(Url("h"), Kind.PAGE, "", 0, 0.1, PRIOR, verdict=Verdict.COHERENT, **visit)
    assert sums(Expected(None), [told, guessed, guessed])["guessed"] == 2


@pytest.mark.slow
@given(lists)
def test_plans_count_captured_pages_and_those_that_came_out_coherent(items: list[PageFacts]) -> None:
    found = sums(Plans(), items)
    for plan in Plan:
        own = [one.verdict for one in items if one.plan is plan and one.verdict is not None]
        assert found[plan.value] == {"pages": len(own), "coherent": own.count(Verdict.COHERENT)}


@pytest.mark.slow
@given(lists)
def test_judgements_against_the_truth(items: list[PageFacts]) -> None:
    known = [(one.verdict, one.truth) for one in items if one.truth is not None and one.verdict is not None]
    found = sums(TruthTally(), items)
    if not known:
        assert found is None
        return
    assert found["pages"] == len(known)
    assert found["unchanged"] == sum(truth for _, truth in known)
    assert found["agree"] == sum(
        truth is (verdict is Verdict.COHERENT) for verdict, truth in known if verdict is not Verdict.UNKNOWN
    )
    cells = {"false_coherent": (Verdict.COHERENT, False), "false_changed": (Verdict.CHANGED, True),
             "unknown_unchanged": (Verdict.UNKNOWN, True), "unknown_changed": (Verdict.UNKNOWN, False)}  # fmt: skip
    assert {name: found[name] for name in cells} == {name: known.count(cell) for name, cell in cells.items()}
    assert found["wrong_within_a_second"] <= found["false_coherent"] + found["false_changed"]


@pytest.mark.parametrize(
    ("change", "touches"),
    [(8.9, 0), (9.0, 1), (11.0, 1), (13.0, 1), (13.1, 0), (48.9, 0), (49.0, 1), (52.0, 1), (52.1, 0)],
)
@pytest.mark.parametrize(
    ("verdict", "truth", "wrong"),
    [
        (Verdict.COHERENT, False, 1),
        (Verdict.CHANGED, True, 1),
        (Verdict.COHERENT, True, 0),
        (Verdict.UNKNOWN, False, 0),
    ],
)
def test_a_change_within_a_second_of_a_download_excuses_a_wrong_answer(change, touches, verdict, truth, wrong) -> None:
    one = page(verdict, visit=FIRST, revisit=LATER, truth=truth, true_changes=(change,))
    assert sums(TruthTally(), [one])["wrong_within_a_second"] == touches * wrong


def test_each_case_of_the_truth_and_of_content_is_counted_by_itself() -> None:
    cases = [(verdict, truth) for verdict in Verdict for truth in (True, False)]
    items = [page(verdict, truth=truth) for many, (verdict, truth) in enumerate(cases, 1) for _ in range(many)]
    many = {case: number for number, case in enumerate(cases, 1)}
    found = sums(TruthTally(), items)
    assert (found["unknown_unchanged"], found["unknown_changed"]) == (
        many[Verdict.UNKNOWN, True],
        many[Verdict.UNKNOWN, False],
    )
    assert (found["false_coherent"], found["false_changed"]) == (
        many[Verdict.COHERENT, False],
        many[Verdict.CHANGED, True],
    )
    counted = sums(PageTally(), [*items, page(None)])
    assert sum(counted["content"].values()) == counted["captured"] == len(items)
