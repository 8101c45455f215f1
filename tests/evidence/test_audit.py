"""An audit's strata, its sample, and the bound that it supports, against every way of lying."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.evidence import audit
from sharc_crawler.evidence.audit import LEAST, Sampled, Stratum, fewer, sample, strata

if TYPE_CHECKING:
    from collections.abc import Callable


def bound(kept: list[Stratum], caught: int = 0) -> int:
    return audit.bound(Sampled(kept, caught))


def undetected(one: Stratum, wrong: int) -> float:
    """The chance that no drawn page is a wrong one."""
    pages = one.claimed + one.withdrawn + one.confirmed
    return comb(pages - wrong, one.confirmed) / comb(pages, one.confirmed)


small = st.lists(
    st.builds(Stratum, st.integers(0, 7), st.integers(0, 5), st.just(0), st.integers(0, 4), st.just(0.0)),
    min_size=1,
    max_size=3,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(small)
def test_where_no_lie_was_found_the_bound_is_the_most_that_goes_undetected_in_one_of_twenty_audits(
    kept: list[Stratum],
) -> None:
    def believable(wrong: tuple[int, ...]) -> bool:
        return prod(map(undetected, kept, wrong)) >= 0.05

    assert bound(kept) == max(
        sum(wrong) for wrong in np.ndindex(*(one.claimed + 1 for one in kept)) if believable(wrong)
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.builds(Stratum, st.integers(0, 5), st.integers(1, 4), st.just(0), st.just(0), st.just(0.0)),
        min_size=1,
        max_size=2,
    )
)
def test_whatever_the_server_does_the_bound_is_exceeded_with_a_chance_of_five_percent_at_most(
    classes: list[Stratum],
) -> None:
    """Every way to lie about pages of these classes, and every answer to each sample.

    A wrong page that is drawn is a lie, and its stratum loses its claims, or it goes unshown; so may any other.
    """
    outcomes = [*product(*((None, *range(one.confirmed + 1)) for one in classes))]
    stated = {
        told: bound(
            [one._replace(confirmed=one.confirmed - u, unshown=u) for one, u in _kept(classes, told)], told.count(None)
        )
        for told in outcomes
    }
    for wrong in np.ndindex(*(one.claimed + one.confirmed + 1 for one in classes)):
        exceeds = [
            [math.inf if u is None else u for u in told]
            for told in outcomes
            if sum(
                min(number, one.claimed) for number, one, u in zip(wrong, classes, told, strict=True) if u is not None
            )
            > stated[told]
        ]
        chance = 0.0
        for hits in np.ndindex(*(one.confirmed + 1 for one in classes)):
            if any(all(hit <= most for hit, most in zip(hits, told, strict=True)) for told in exceeds):
                chance += prod(drawn(one, number, hit) for one, number, hit in zip(classes, wrong, hits, strict=True))
        assert chance <= 0.05 + 1e-9, (wrong, chance)


def _kept(classes: list[Stratum], told: tuple[int | None, ...]) -> list[tuple[Stratum, int]]:
    return [(one, u) for one, u in zip(classes, told, strict=True) if u is not None]


def drawn(one: Stratum, wrong: int, hits: int) -> float:
    """The chance that so many of the drawn pages are wrong ones."""
    pages = one.claimed + one.confirmed
    return comb(wrong, hits) * comb(pages - wrong, one.confirmed - hits) / comb(pages, one.confirmed)


def test_each_page_that_shows_nothing_widens_the_bound_and_too_many_leave_none() -> None:
    assert [bound([Stratum(450, 50 - unshown, unshown)]) for unshown in (0, 1, 5, 12, 13)] == [27, 57, 114, 196, 450]
    assert bound([Stratum(450, 36, 12)]) == 203, "a third of what is confirmed is not too many"
    assert bound([Stratum(2_000, 6_000, 1_000)]) == 1_326
    assert bound([Stratum(2_000, 6_000, 1_001)]) == 2_000, "more than a thousand are"
    few, many = (bound([Stratum(95_000, 5_000 - unshown, unshown)]) for unshown in (0, 100))
    assert few < 100 < 1_900 < many < 3_000


def test_what_is_caught_of_one_kind_leaves_a_bound_for_the_others() -> None:
    """A shop with four kinds, of which three lie: 5 of 80 products were audited."""
    assert bound([Stratum(75, 5)]) == 35
    assert bound([Stratum(75, 5)], caught=3) == 50


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_exceeded_in_one_capture_of_twenty_at_most(seed: int) -> None:
    """Whoever lies, in whatever classes: 400 captures, of which the lying strata that are caught lose their claims."""
    rng = np.random.default_rng(seed)
    exceeded = worst = 0.0
    for _ in range(400):
        sizes = rng.integers(3, 120, rng.integers(1, 9))
        wrong = rng.binomial(sizes, rng.choice([0.0, 0.02, 0.1, 0.3, 0.6, 1.0], len(sizes)))
        drawn = np.minimum(sizes, LEAST)
        hits = np.array([rng.hypergeometric(w, n - w, d) for w, n, d in zip(wrong, sizes, drawn, strict=True)])
        kept = [Stratum(int(n - d), int(d)) for n, d, hit in zip(sizes, drawn, hits, strict=True) if not hit]
        really, stated = int(wrong[hits == 0].sum()), bound(kept, int((hits > 0).sum()))
        exceeded += really > stated
        worst = max(worst, really / stated if stated else float(really))
    assert exceeded <= 0.05 * 400
    assert worst <= 2


def test_lies_that_cluster_finer_than_folders_have_strata_of_their_own() -> None:
    urls = [
        f"http://h/{kind}-{n}" for kind, size in (("news", 60), ("category", 40), ("about", 50)) for n in range(size)
    ]
    urls += [f"http://h/view?id={n}" for n in range(41)] + [f"http://h/view?id={n}&page=2" for n in range(45)]
    labels = strata(dict(enumerate(urls)))
    groups: dict[str, set[str]] = {}
    for page, label in labels.items():
        groups.setdefault(label, set()).add(urls[page].split("-")[0].split("=")[0] + str(urls[page].count("&")))
    assert all(len(kinds) == 1 for kinds in groups.values()), groups
    assert len(groups) == 5


@given(st.lists(st.sampled_from(["/a/x-1", "/a/y-2", "/b/1", "/c?d=1", "/"]), max_size=300), st.integers(1, 60))
def test_a_stratum_is_large_enough_or_what_is_left(paths: list[str], own: int) -> None:
    labels = strata({n: f"http://h{path}" for n, path in enumerate(paths)}, (own,) * 3)
    sizes = {label: list(labels.values()).count(label) for label in labels.values()}
    assert all(size >= own for label, size in sizes.items() if label)
    drawn = sample(labels, 0.01, seed=5)
    assert drawn == sample(labels, 0.01, seed=5) <= labels.keys()
    for label, size in sizes.items():
        assert sum(labels[page] == label for page in drawn) == min(size, max(LEAST, -(-size // 100)))


@pytest.mark.parametrize(
    ("room", "expected"), [(15, [5, 5, 5]), (14, [4, 5, 5]), (11, [1, 5, 5]), (9, [1, 5, 3]), (0, [1, 5, 2])]
)
def test_where_all_would_be_too_many_fewer_are_audited_of_kinds_that_own_up(room: int, expected: list[int]) -> None:
    kinds = [("honest", 50), ("others", 50), ("small", 20)]
    labels = dict(enumerate(kind for kind, size in kinds for _ in range(size)))
    kept = fewer(labels, sample(labels, 0.01, seed=3), 0, 3, ["honest"], room, share=0.02)
    assert [sum(labels[page] == kind for page in kept) for kind, _ in kinds] == expected


def test_of_a_kind_that_the_bound_does_not_feel_an_eighth_is_audited_and_of_the_others_as_many_as_before() -> None:
    kinds = [("most", 900), ("others", 71), ("small", 20), ("rest", 9)]
    labels = dict(enumerate(kind for kind, size in kinds for _ in range(size)))
    drawn = sample(labels, 0.02, seed=3)
    kept = fewer(labels, drawn, 0, 3, [kind for kind, _ in kinds], room=90, share=0.02)
    assert [sum(labels[page] == kind for page in kept) for kind, _ in kinds] == [LEAST, LEAST, 2, 1]
    assert fewer(labels, drawn, len(drawn), 3, [], room=90, share=0.02) == drawn, "where there is room, all"
    less, more = (
        bound([Stratum(895, 5), Stratum(66, 5), *rest])
        for rest in ([Stratum(18, 2), Stratum(8, 1)], [Stratum(15, 5), Stratum(4, 5)])
    )
    assert more <= less <= more + 0.02 * len(labels), "none is beyond what these pages are"


def test_of_each_kind_as_many_fewer_are_audited() -> None:
    labels = {page: "/a/*" if page < 90 else "/b/*" for page in range(120)}
    kept = fewer(labels, labels, most=60, seed=3, honest=labels.values(), room=0, share=0.0)
    assert Counter(labels[page] for page in kept) == {"/a/*": 45, "/b/*": 15}


def test_a_share_that_was_asked_for_is_kept_however_little_room_there_is() -> None:
    labels = dict.fromkeys(range(100), "one")
    assert len(fewer(labels, sample(labels, 0.3, seed=3), most=30, seed=3, honest=["one"], room=1, share=0.3)) == 30


def test_a_kind_has_a_stratum_of_its_own_if_what_remains_is_as_large_as_one() -> None:
    for folders, own in ((4, ["c 1"] * 4), (3, ["c"] * 4)):
        urls = [*(f"http://h/{page}" for page in range(4)), *(f"http://h/b/{page}" for page in range(folders))]
        labels = audit.strata(dict(enumerate(urls)), own=(1, 4, 99), classes=["c"] * len(urls))
        assert [labels[page] for page in range(4)] == own


@pytest.mark.parametrize(("own", "sizes"), [(audit.SMALL, (12, 12, 40)), (audit.OWN, (40, 40, 40))])
@pytest.mark.parametrize(
    ("level", "paths", "kinds"),
    [
        (0, ["a/", "a/x/", "b/", "b/x/"], {"/a/*.html", "/b/*.html"}),
        (1, ["a/", "a/", "a/x/", "a/x/"], {"/a/*.html", "/a/*.html 2"}),
        (2, ["a/old-", "a/old-", "a/new-", "a/new-"], {"/a/*.html", "/a/*.html 2 new-"}),
    ],
)
def test_from_so_many_pages_on_a_kind_has_a_stratum_of_its_own(
    own: tuple[int, int, int], sizes: tuple[int, int, int], level: int, paths: list[str], kinds: set[str]
) -> None:
    """Those of one folder, of one depth in it, or whose names begin alike."""
    urls = [f"http://h/{path}{page}.html" for path in paths for page in range(sizes[level] // 2)]
    assert set(strata(dict(enumerate(urls)), own).values()) == kinds
    assert not kinds <= set(strata(dict(enumerate(urls[1:])), own).values()), "one less is none"


def test_a_name_that_is_one_word_begins_as_any() -> None:
    begins = [audit._kinds(f"http://h/a/{last}", "c")[2].split()[-1] for last in ("list", "list-1", "7")]
    assert begins == ["…", "list-", "…"]


def test_of_a_stratum_that_adds_nothing_an_eighth_is_enough_and_of_others_an_eighth_may_be_the_least() -> None:
    labels = {page: "/few/*" if page < 16 else "/many/*" for page in range(1_600)}
    kept = audit.fewer(labels, labels, 0, 1, labels.values(), room=99, share=0.02)
    assert Counter(labels[page] for page in kept) == {"/few/*": 2, "/many/*": 5}
    alone = dict.fromkeys(range(40), "/a/*")
    assert len(audit.fewer(alone, alone, 0, 1, (), room=0, share=0.0)) == 5
    assert len(audit.fewer(alone, alone, 0, 1, alone.values(), room=0, share=0.0)) == 1


def test_what_goes_undetected_in_just_one_case_of_twenty_is_believed() -> None:
    assert bound([audit.Stratum(1, 19)]) == 1
    assert bound([audit.Stratum(1, 20)]) == 0


@pytest.mark.parametrize("room", [50, 40, 30, 20, 10])
def test_the_least_of_a_kind_is_as_great_as_there_is_room_for(room: int) -> None:
    """Of ten kinds of eight pages."""
    labels = {page: f"/{page % 10}/*" for page in range(80)}
    assert len(audit.fewer(labels, labels, 0, 1, labels.values(), room, share=0.0)) == room
    never_owned_up = len(audit.fewer(labels, labels, 0, 1, (), room, share=0.0))
    assert never_owned_up == (room if room != 40 else 30)


@pytest.mark.parametrize("room", [50, 45, 40, 35, 30, 20, 15, 10])
def test_it_is_less_first_of_kinds_that_own_up_to_changes(room: int) -> None:
    """Of ten large kinds, of which five do; of the others an eighth is less than the least of each."""
    labels = {page: f"/{page % 10}/*" for page in range(80)}
    assert len(audit.fewer(labels, labels, 0, 1, [f"/{kind}/*" for kind in range(5)], room, share=0.0)) == room


def best_of_a_server_that_watches(pages: int, chance: float, stated: Callable[[int], int]) -> float:
    """With which probability it can have more pages wrong than is stated by the lies that were drawn, and unshown.

    Page by page it lies or not, and sees at once whether that was drawn. By dynamic programming over both numbers.
    """
    wins = np.array([[float(wrong > stated(drawn)) for drawn in range(12)] for wrong in range(pages + 1)])
    for _ in range(pages):
        lies = wins.copy()
        lies[:-1, :-1] = (1 - chance) * wins[1:, :-1] + chance * wins[:-1, 1:]
        wins = np.maximum(wins, lies)
    return float(wins[0, 0])


@pytest.mark.parametrize(("pages", "chance"), [(12, 5 / 12), (40, 1 / 8), (100, 0.05), (100, 0.2), (600, 0.02)])
def test_a_server_that_watches_the_audits_of_its_304s_beats_their_bound_in_one_capture_of_twenty_at_most(
    pages: int, chance: float
) -> None:
    def stated(unshown: int) -> int:
        return audit.bound(Sampled([Stratum(pages, 10**6, unshown, chance=chance)], watched=True))

    assert 0.02 < best_of_a_server_that_watches(pages, chance, stated) <= 0.05


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_watches_may_give_up_kinds_leave_pages_unshown_and_lie_in_whatever_order(seed: int) -> None:
    """It lies in kind after kind until it is caught, or leaves what is drawn unshown until there is too much of it."""
    rng, exceeded = np.random.default_rng(seed), 0
    for _ in range(2_000):
        chances = rng.uniform(0.02, 0.5, rng.integers(1, 7))
        kept, caught, wrong = [], 0, 0
        patience, goal = rng.integers(0, 3), rng.integers(5, 120)
        for chance in chances:
            lies, unshown = int(rng.geometric(chance)) - 1, 0
            while unshown < patience and lies < goal:
                unshown, lies = unshown + 1, lies + int(rng.geometric(chance)) - 1
            if lies < goal:
                caught += 1
                continue
            kept.append(Stratum(200, 99, unshown, chance=chance))
            wrong += int(goal)
        exceeded += wrong > audit.bound(Sampled(kept, caught, watched=True))
    assert exceeded <= 0.05 * 2_000


def test_pages_that_are_not_claimed_any_more_were_drawn_from_all_the_same() -> None:
    """Of 100 pages 9 are wrong, and none of the five drawn is one; then the server owns up to all others."""
    assert bound([Stratum(9, 5)]) == 5
    assert bound([Stratum(9, 5, withdrawn=86)]) == 9


def test_samples_of_both_words_have_one_bound() -> None:
    lastmods, answers = Sampled([Stratum(95, 5)]), Sampled([Stratum(95, 5, chance=0.05)], watched=True)
    alone = [audit.bound(one) for one in (lastmods, answers)]
    assert max(alone) <= audit.bound(lastmods, answers) < sum(alone)
    assert audit.bound(lastmods, Sampled([], watched=True)) >= alone[0]


def test_an_audit_for_which_by_chance_no_page_was_drawn_bounds_nothing() -> None:
    """Of 164 pages, each drawn with a chance of 5 in 164, none is in one of 150 captures."""
    nothing, lastmods = Stratum(164, 0, chance=5 / 164), Sampled([Stratum(95, 5)])
    assert watched(nothing, Stratum(0, 0, chance=0.5)) == 164
    assert watched(Stratum(163, 1, chance=5 / 164)) < 163
    assert audit.bound(lastmods, Sampled([nothing], watched=True)) < 95 + 164  # the other audit saw pages


def test_each_page_is_drawn_by_its_own_lot_and_a_kind_keeps_its_chance() -> None:
    labels = {page: "few" if page < 100 else "many" for page in range(5_100)}
    drawn, chances = audit.by_lots(labels, 0.02, 7, {})
    assert chances == {"few": 0.05, "many": 0.02}
    assert 70 < sum(labels[page] == "many" for page in drawn) < 130
    assert audit.by_lots(labels, 0.02, 7, {"few": 1.0})[0] >= set(range(100))
    assert audit.by_lots(labels, 0.0, 7, {}) == (set(), {"few": 0.0, "many": 0.0})


def watched(*kept: Stratum, caught: int = 0) -> int:
    return audit.bound(Sampled([*kept], caught, watched=True))


def test_a_bet_against_lies_in_numbers() -> None:
    """Stakes of 7/8 of 7/8 grow twentyfold by ln(20 · 64/49) / −ln(1 − 0.01) lies, none of which is drawn."""
    assert watched(Stratum(1_000, 10, chance=0.01)) == int(math.log(20 * 64 / 49) / -math.log(0.99)) == 324
    assert watched(Stratum(5, 3, chance=1.0)) == 0, "each would have been drawn"
    assert watched(Stratum(100, 3, 1, chance=0.5)) < 100 == watched(Stratum(100, 2, 1, chance=0.5))
    assert watched(Stratum(100, 9, 3, chance=0.5)) < 100 == watched(Stratum(100, 9, 4, chance=0.5))
    beside = [watched(Stratum(1_000, 10, chance=0.1), Stratum(0, 9, unshown, chance=0.1)) for unshown in (3, 4)]
    assert beside == [int((math.log(20 * 8) + 3 * math.log(4) - 2 * math.log(15 / 16)) / math.log(0.975 / 0.9)),
                      int((math.log(20 * 8 / 7) - math.log(1 / 16) - math.log(15 / 16)) / -math.log(0.9))]  # fmt: skip


def test_of_a_kind_of_few_pages_each_is_drawn() -> None:
    assert audit.by_lots({1: "few", 2: "few"}, 0.02, 7, {}) == ({1, 2}, {"few": 1.0})


def test_pages_of_a_kind_share_its_name():
    labels = strata({page: f"http://h/{page % 3}/page-{page}.html" for page in range(300)}, (5, 5, 5))
    assert len(set(map(id, labels.values()))) == len(set(labels.values())) == 3
