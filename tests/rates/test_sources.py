from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler.model import Change, Hints, Result, Sighting, Url
from sharc_crawler.observation import Observation
from sharc_crawler.rates import trust
from sharc_crawler.rates.base import NO_CHANGE, PRIOR
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.evidence import grouped, sharpened
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, Histories, SiteHistory
from sharc_crawler.rates.sources import FEW, HistoryRates
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import RateEstimate

DAY = 86_400.0
WEEK = 7 * DAY
NOW = 1e9


def listed(ages: list[float], first: int = 0, **hints: float) -> list[Sighting]:
    return [Sighting(f"http://h/{first + i}", hints=Hints(NOW - age * DAY, **hints)) for i, age in enumerate(ages)]


def captured(pages: int, weeks: int, seed: int = 1) -> SiteHistory:
    """From a store: page i was captured weekly; the hot ones (every tenth) change every second week."""
    rng = np.random.default_rng(seed)
    with ObservationStore(":memory:") as store:
        for week in range(weeks):
            bits = rng.random(pages) < np.where(np.arange(pages) % 10 == 0, 0.5, 0.01)
            change = [Change.CHANGED if bit else Change.UNCHANGED for bit in bits] if week else [Change.UNKNOWN] * pages
            time = NOW - (weeks - week) * WEEK
            store.append(Observation("h", Url(f"http://h/{i}"), time + i, Result.OK, change[i]) for i in range(pages))
        return store.histories("h")


def test_without_history_the_lastmods_speak():
    source = HistoryRates()
    found = source.rates([*listed(list(range(1, 300))), Sighting("http://h/unlisted")], NOW)
    assert found[-1] is None
    assert {one.source for one in found[:-1] if one} == {"lastmod"}
    assert found[0].rate > found[200].rate
    assert np.isfinite(found[0].shape)


def test_lastmods_that_are_all_equal_are_not_believed():
    assert HistoryRates().rates(listed([5.0] * 50), NOW) == [None] * 50


def test_a_page_whose_lastmod_is_not_believed_has_a_guess():
    equal = [Sighting(f"http://h/doc/{i}.html", hints=Hints(NOW - 30 * DAY)) for i in range(30)]
    others = [Sighting(f"http://h/{i}.html", hints=Hints(NOW - (31 + i) * DAY)) for i in range(12)]
    found = HistoryRates().rates([*equal, *others], NOW)
    assert {one.source for one in found[:30] if one} == {PRIOR}
    assert {one.source for one in found[30:] if one} == {"lastmod"}
    daily = Sighting("http://h/doc/0.html", hints=Hints(NOW - 30 * DAY, changefreq="daily"))
    assert {one.source for one in HistoryRates().rates([daily, *equal[1:], *others], NOW)[:30] if one} == {"sitemap"}


def half_imported(now: float, past: int = 400) -> list[tuple[str, list[float]]]:
    """Sections of 25 pages and their changes, turn by turn imported a year before and edited every two days."""
    rng = np.random.default_rng(4)
    edits = [np.cumsum(rng.exponential(2 * DAY, past)) for _ in range(100)]
    hot = [(NOW - 400 * DAY + one)[NOW - 400 * DAY + one < now].tolist() for one in edits]
    return [(f"http://h/s{page % 8}/p{page}", [NOW - 380 * DAY] if page % 2 else hot[page // 2]) for page in range(200)]


def lost(found: Sequence[RateEstimate | None], length: float) -> float:
    """Pages expected to change in so long a time."""
    assert all(found)
    return sum(1 - (1 + one.rate * length / one.shape) ** -one.shape for one in found if one)


def test_an_imported_section_beside_a_hot_one_has_stood_still_since():
    told = [Sighting(url, hints=Hints(changes[-1])) for url, changes in half_imported(NOW)]
    found = HistoryRates().rates(told, NOW)
    assert all(one and one.source == "lastmod" and one.rate < 1 / (100 * DAY) for one in found[1::2])
    assert 70 < lost(found, 14 * DAY) < 105


def test_one_look_and_a_sitemap_are_no_captures_to_learn_from():
    """All hot pages changed in the fortnight until the sitemap was read: how often, no regression can tell."""
    times = NOW - np.array([14.0, 13.0]) * DAY
    site = half_imported(NOW)
    then = np.array([[max(at for at in changes if at < time) for time in times] for _, changes in site])
    bits = np.column_stack([np.full(200, UNKNOWN), np.where(then[:, 1] > then[:, 0], CHANGED, UNCHANGED)])
    nothing = np.full(400, np.nan)
    history = SiteHistory(
        "h",
        [Url(url) for url, _ in site],
        2 * np.arange(201),
        np.tile(times, 200),
        bits.ravel().astype(np.int8),
        then.ravel(),
        np.zeros(400),
        nothing,
    )
    told = [Sighting(url, hints=Hints(changes[-1])) for url, changes in site]
    assert 25 < lost(HistoryRates(history).rates(told, NOW), DAY) < 60, "39 are to be expected"


def test_a_short_history_keeps_to_the_posterior():
    source = HistoryRates(captured(30, 3))
    found = source.rates([Sighting(f"http://h/{i}") for i in range(31)], NOW)
    assert found[30] is None
    assert all(one and one.source in ("history", NO_CHANGE) and one.observations == 2 for one in found[:30])
    assert all(np.isfinite(one.shape) for one in found[:30])


def test_pages_that_no_capture_saw_change_say_so():
    history = captured(30, 3)
    changed = ~np.isnan(history.last_change())
    found = HistoryRates(history).rates([Sighting(url) for url in history.urls], NOW)
    assert [one.source for one in found if one] == np.where(changed, "history", NO_CHANGE).tolist()
    assert 0 < changed.sum() < 30
    still = int(np.flatnonzero(~changed)[0])
    (dated,) = HistoryRates(history).rates([Sighting(history.urls[still], hints=Hints(NOW - DAY))], NOW)
    assert dated and dated.source == "lastmod"


@pytest.mark.slow
def test_a_long_history_is_learned_from():
    source = HistoryRates(captured(300, 30))
    rates = np.array([one.rate for one in source.rates([Sighting(f"http://h/{i}") for i in range(300)], NOW)])
    hot = np.arange(300) % 10 == 0
    assert rates[hot].min() > 3 * np.median(rates[~hot])


@pytest.mark.slow
def test_history_and_sitemap_are_one_body_of_evidence():
    history = captured(100, 30)
    calm = [i for i in range(100) if i % 10]
    sightings = listed([250.0 + 0.01 * i for i in range(100)])
    sightings[calm[5]] = Sighting(f"http://h/{calm[5]}", hints=Hints(NOW - 0.5 * DAY))
    plain = HistoryRates(history).rates([Sighting(s.url) for s in sightings], NOW)
    both = HistoryRates(history).rates([sightings[calm[5]]], NOW)
    assert both[0].rate > plain[calm[5]].rate  # it has just changed
    assert both[0].observations == plain[calm[5]].observations + 1


@pytest.mark.slow
def test_classes_are_numbered_once_for_the_site_and_once_for_its_captures():
    trust._classes.cache_clear()
    source = HistoryRates(captured(100, 4))
    source.rates(listed(list(range(3, 123))), NOW)
    assert source.swings()
    assert trust._classes.cache_info().misses == 2


def test_new_pages_of_the_sitemap_get_rates_too():
    found = HistoryRates(captured(300, 30)).rates(listed([3.0, 200.0], first=1000), NOW)
    assert [one.source for one in found] == ["lastmod", "lastmod"]
    assert found[0].rate > 0


def with_headers(pages: int, honest: bool) -> SiteHistory:
    """Two captures 100 days ago, headers as old as the page's number in days; or always of now."""
    with ObservationStore(":memory:") as store:
        for time in (NOW - 101 * DAY, NOW - 100 * DAY):
            store.append(
                Observation(
                    "h",
                    Url(f"http://h/{i}"),
                    time,
                    Result.OK,
                    Change.UNKNOWN,
                    last_modified=NOW - (102 + i) * DAY if honest else time,
                )
                for i in range(pages)
            )
        return store.histories("h")


def test_last_modified_dates_changes_where_no_sitemap_does():
    found = HistoryRates(with_headers(100, honest=True)).rates([Sighting(f"http://h/{i}") for i in range(100)], NOW)
    assert found[0].rate > 2 * found[90].rate
    assert found[0].rate > 1 / (60 * DAY)  # two days old when it was seen, not a hundred: nobody has looked since


def test_a_last_modified_of_now_says_nothing():
    found = HistoryRates(with_headers(100, honest=False)).rates([Sighting(f"http://h/{i}") for i in range(100)], NOW)
    assert found == [None] * 100


def test_the_stated_frequency_counts_as_far_as_the_lastmods_bear_it_out():
    rng = np.random.default_rng(3)
    daily = rng.random(600) < 0.5

    def gap(ages: np.ndarray) -> float:
        """How much hotter a page said to change daily is than one said to change yearly, their lastmods being alike."""
        ages[:2] = 50.0
        words = ["daily" if often else "yearly" for often in (True, False, *daily[2:])]
        pages = [
            Sighting(f"http://h/{i}", hints=Hints(NOW - age * DAY, changefreq=word))
            for i, (age, word) in enumerate(zip(ages, words, strict=True))
        ]
        first, second, *_ = HistoryRates().rates(pages, NOW)
        return first.rate / second.rate

    assert gap(rng.exponential(np.where(daily, 5.0, 300.0))) > 1.8, "less than 60: both stood still for 50 days"
    assert gap(rng.exponential(100.0, 600)) == pytest.approx(1.0, abs=0.3)


def test_without_lastmods_the_stated_frequency_is_a_class_of_its_own():
    history = captured(300, 3)
    sightings = [Sighting(f"http://h/{i}", hints=Hints(changefreq="yearly" if i % 10 else "daily")) for i in range(300)]
    hot = np.arange(300) % 10 == 0
    plain, told = (
        np.array([one.rate for one in HistoryRates(history).rates(pages, NOW)])
        for pages in ([Sighting(one.url) for one in sightings], sightings)
    )
    assert plain[hot].min() == plain[~hot].min()  # those of which no change was seen
    assert told[hot].min() > 3 * told[~hot].min()


def test_of_many_pages_it_learns_again_only_when_much_more_is_known():
    source, ages = HistoryRates(), list(range(1, FEW + 2))
    first = source.rates(listed(ages), NOW)
    assert source.rates(listed([7.0], first=5000), NOW) == [None]
    assert source.rates(listed(ages), NOW) == first
    more = source.rates(listed(ages, first=2000), NOW)
    assert all(more)


def test_a_url_named_twice_has_one_rate():
    twice = [Sighting("http://h/0"), *listed([3.0, 9.0, 40.0, 700.0]), Sighting("http://h/1"), *listed([1.0])]
    found = HistoryRates().rates(twice, NOW)
    assert found[0] == found[1]  # what is said later in the same answer counts
    assert found[5] == found[2]
    assert found[6] == found[1]
    assert found[6].rate > found[2].rate, "its last date counts"


@pytest.mark.slow
def test_of_each_page_bytes_are_held_and_its_address_once():
    size = 8_000
    sightings = listed(np.random.default_rng(1).lognormal(3.0, 1.0, size).tolist())
    source = HistoryRates()
    source.rates(sightings[:FEW], NOW)  # what is loaded, and kept for all
    tracemalloc.start()
    source._estimate = lambda _: None
    source.rates([Sighting(one.url + "0" * 60, hints=one.hints) for one in sightings], NOW)
    held = tracemalloc.get_traced_memory()[0] / size
    tracemalloc.stop()
    assert held < 150, "its address (75 bytes), its place, two numbers; a dict by text took 230"


def test_in_a_chain():
    chain = Chain([HistoryRates()])
    found = chain.rates([*listed([1.0, 30.0, 400.0]), Sighting("http://h/new")], NOW)
    assert found[-1].source == "prior"


def test_links_lend_activity():
    busy = set(range(0, 600, 3))
    sightings = listed([3.0 + i / 100 if i in busy else 400.0 + i / 100 for i in range(600)])
    links = [(f"http://h/{i}", f"http://h/{(i + 3) % 600}") for i in range(600)]  # like with like
    links += [("http://h/301", f"http://h/{i}") for i in range(0, 60, 3)]
    links += [("http://h/304", f"http://h/{i}") for i in range(1, 60, 3)]
    found = HistoryRates(links=[*links, ("http://h/0", "http://elsewhere/")]).rates(sightings, NOW)
    assert found[301].rate > 1.2 * found[304].rate


def test_sharpened_counts_no_interval_twice():
    prior = Estimates(np.array([2.0, 2.0]), np.array([1.0, 1.0]), np.array([4.0, 4.0]), np.array([1, 1]))
    lengths = np.ones(4)
    bits = np.array([UNCHANGED, UNCHANGED, UNCHANGED, UNCHANGED], np.int8)
    intervals = Histories(np.array([0, 2, 4]), lengths, bits, np.array([1.0, 2.0, 1.0, 2.0]))
    found = sharpened(prior, intervals, np.array([1.5, 0.5]), np.array([2.0, 2.0]))
    assert found.rate.tolist() == pytest.approx([4.0 / 3.0, 2.0])
    assert found.observations.tolist() == [2, 1]
    later = sharpened(prior, intervals, np.array([1.5, 0.5]), np.array([1.5, 1.0]))  # the last interval is news
    assert later.rate.tolist() == pytest.approx([4.0 / 4.0, 4.0 / 3.0])
    unlisted = sharpened(prior, intervals, np.full(2, np.nan), np.full(2, np.nan))
    assert unlisted.observations.tolist() == [3, 3]


def test_reading_the_sitemap_is_an_access():
    history = SiteHistory(
        "h",
        [Url("a"), Url("b"), Url("c")],
        np.array([0, 1, 2, 3]),
        np.array([10.0, 10.0, 10.0]),
        np.full(3, UNKNOWN, np.int8),
        np.full(3, np.nan),
        np.zeros(3),
        np.full(3, np.nan),
    )
    read = history.sitemap_read(20.0, [("b", 12.0, 0.0), ("c", 5.0, 0.0), ("d", 7.0, 0.0)])
    assert list(read.urls) == ["a", "b", "c", "d"]
    assert read.offsets.tolist() == [0, 1, 3, 5, 6]
    assert read.changed.tolist() == [UNKNOWN, UNKNOWN, CHANGED, UNKNOWN, UNCHANGED, UNKNOWN]
    assert read.times.tolist() == [10.0, 10.0, 20.0, 10.0, 20.0, 20.0]
    np.testing.assert_array_equal(read.latest(read.lastmods), [np.nan, 12.0, 5.0, 7.0])
    open_ = history.sitemap_read(20.0, [("b", 9.5, 1.0)])
    assert open_.changed.tolist() == [UNKNOWN] * 4  # it says between 9.5 and 10.5: before or after the access?
    assert len(history.sitemap_read(10.0, [("a", 1.0, 0.0)]).times) == 3  # no time has passed


@pytest.mark.slow
def test_changes_that_come_in_crowds_are_counted_and_not_learned_from():
    """Ten hot pages, and three rebuilds of half the site: what told the rebuilt ones apart was chance."""
    rng = np.random.default_rng(6)
    with ObservationStore(":memory:") as store:
        for week in range(30):
            bits = rng.random(400) < np.where(np.arange(400) < 10, 0.6, 0.0)
            bits |= (week in (12, 18, 25)) & (rng.random(400) < 0.5)
            change = [Change.UNKNOWN if not week else Change.CHANGED if bit else Change.UNCHANGED for bit in bits]
            store.append(
                Observation("h", Url(f"http://h/{i}"), NOW - (30 - week) * WEEK, Result.OK, change[i])
                for i in range(400)
            )
        history = store.histories("h")
    assert grouped(history)
    assert not grouped(captured(300, 30))
    found = HistoryRates(history).rates([Sighting(f"http://h/{i}") for i in range(400)], NOW)
    assert [one.rate for one in found] == counted_rates(history).rate.tolist()


def test_with_few_changes_lastmods_and_captures_both_have_a_say():
    history = captured(60, 3)
    changed = [i for i in range(60) if history.changed[history.offsets[i] : history.offsets[i + 1]].max() > 0]
    ages = [9.0 if i in changed else 300.0 + i for i in range(60)]
    lastmods = HistoryRates().rates(listed(ages), NOW)
    both = HistoryRates(history).rates(listed(ages), NOW)
    counted = HistoryRates(history).rates([Sighting(f"http://h/{i}") for i in range(60)], NOW)
    hot = changed[0]
    assert lastmods[hot].rate < both[hot].rate < counted[hot].rate


def test_what_is_held_while_the_rates_of_a_first_capture_are_learned():
    """Words of addresses are let go before ages are looked at, hot pages are told among the young ones alone."""

    def held(pages: int) -> int:
        ages = np.random.default_rng(0).lognormal(np.log(30), 1.5, pages)
        said = listed(ages.tolist())
        tracemalloc.start()
        HistoryRates(horizon=DAY).rates(said, NOW)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    held(200)  # modules are loaded once
    assert (held(20_000) - held(10_000)) / 10_000 < 800  # bytes a page, those of its address among them
