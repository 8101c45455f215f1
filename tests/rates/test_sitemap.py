"""Hints as rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.entries import CHANGE_FREQUENCIES
from sharc_crawler.links.sitemap import read
from sharc_crawler.model import Hints, Sighting
from sharc_crawler.plugins import load
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES, DAY, HOUR, YEAR, SitemapRates, weight

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.model import RateEstimate

NOW = 1_700_000_000.0


def rates(*hints: Hints | None) -> list[RateEstimate | None]:
    return SitemapRates().rates([Sighting(f"http://h/{i}", hints=hint) for i, hint in enumerate(hints)], NOW)


def rate(hints: Hints) -> float:
    (estimate,) = rates(hints)
    assert estimate is not None
    assert estimate.source == "sitemap"
    return estimate.rate


def aged(age: float, **more: object) -> Hints:
    return Hints(lastmod=NOW - age, **more)  # type: ignore[arg-type]


def test_every_frequency_of_the_protocol_has_a_rate_in_its_order() -> None:
    assert set(CHANGEFREQ_RATES) == CHANGE_FREQUENCIES
    given = [rate(Hints(changefreq=f)) for f in ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")]
    assert given == sorted(given, reverse=True)
    assert given[2] == pytest.approx(1 / DAY)


def test_lastmod_is_one_change_and_none_since() -> None:
    assert rate(aged(9 * DAY)) == pytest.approx(1 / (10 * DAY))
    assert rate(aged(0.0)) == pytest.approx(1 / DAY)


def test_an_imprecise_lastmod_counts_by_its_middle() -> None:
    assert rate(Hints(lastmod=NOW - 10 * DAY, lastmod_precision=2 * DAY)) == rate(aged(9 * DAY))
    assert rate(Hints(lastmod=NOW - HOUR, lastmod_precision=DAY)) == pytest.approx(1 / DAY)


def test_an_old_lastmod_overrules_an_eager_frequency() -> None:
    both = rate(aged(YEAR, changefreq="hourly"))
    assert both == pytest.approx(2 / (HOUR + YEAR))
    assert rate(aged(HOUR, changefreq="yearly")) > rate(Hints(changefreq="yearly"))


@given(st.floats(0, 10 * YEAR), st.sampled_from([None, *CHANGEFREQ_RATES]))
def test_the_older_the_colder(age: float, changefreq: str | None) -> None:
    assert rate(aged(age, changefreq=changefreq)) > rate(aged(age + DAY, changefreq=changefreq)) > 0


def test_the_posterior_is_stated() -> None:
    one, two = rates(Hints(changefreq="daily"), aged(DAY, changefreq="daily"))
    assert one is not None
    assert two is not None
    assert (one.shape, one.observations, one.spread) == (1, 1, one.rate)
    assert (two.shape, two.observations) == (2, 2)
    assert two.spread == pytest.approx(two.rate / math.sqrt(2))


@pytest.mark.parametrize("hints", [None, Hints(), Hints(priority=0.3), Hints(changefreq="sometimes"), aged(-HOUR)])
def test_abstains_where_nothing_is_said_that_is_believed(hints: Hints | None) -> None:
    assert rates(hints) == [None]


def test_a_lastmod_that_most_pages_share_is_not_believed() -> None:
    generated, own = aged(30 * DAY), [aged(DAY * i) for i in range(1, 5)]
    given = rates(*[generated] * 20, *own)
    assert given[:20] == [None] * 20
    assert None not in given[20:]


def test_a_lastmod_that_some_pages_share_is_believed() -> None:
    assert None not in rates(*[aged(30 * DAY)] * 5, *[aged(DAY * i) for i in range(1, 7)])


def test_a_few_equal_pages_are_believed() -> None:
    assert None not in rates(*[aged(30 * DAY)] * 9)


def test_a_server_that_answers_now_is_not_believed() -> None:
    given = rates(*[aged(float(i)) for i in range(20)], aged(5 * DAY), aged(0.5, changefreq="daily"))
    assert given[:20] == [None] * 20
    assert given[20] is not None
    assert given[21] == rates(Hints(changefreq="daily"))[0]


def test_a_busy_site_is_believed() -> None:
    """Two thirds of the pages changed within the hour, at times of their own."""
    given = rates(*[aged(90.0 * i) for i in range(1, 40)], *[aged(DAY * i) for i in range(1, 21)])
    assert None not in given
    ordered = [estimate.rate for estimate in given if estimate]
    assert ordered == sorted(ordered, reverse=True)


def test_distrust_is_kept_for_pages_that_come_later() -> None:
    source = SitemapRates()
    generated = Sighting("http://h/", hints=aged(30 * DAY))
    source.rates([generated] * 20, NOW)
    assert source.rates([generated], NOW) == [None]


def test_what_a_changefreq_means_is_settable() -> None:
    daily, weekly = (Sighting("http://h/", hints=Hints(changefreq=word)) for word in ("daily", "weekly"))
    (own, silent) = SitemapRates({"daily": 1.0}).rates([daily, weekly], NOW)
    assert own is not None
    assert own.rate == 1.0
    assert silent is None


def test_weights() -> None:
    assert [weight(Hints(priority=p)) for p in (0.0, 0.5, 1.0, None)] == [0.5, 1.0, 1.5, 1.0]


def test_known_by_name() -> None:
    assert load("rates", "sitemap") is SitemapRates


def test_a_real_sitemap_with_one_date_for_all_is_not_believed(shared_data: Path) -> None:
    entries = read((shared_data / "sitemaps" / "sitemaps.org.xml").read_bytes(), "http://h/").entries
    given = rates(*(entry.hints for entry in entries))
    assert given.count(None) > len(given) / 2


def test_a_real_feed_is_ranked_by_age(shared_data: Path) -> None:
    entries = read((shared_data / "sitemaps" / "guardian.rss.gz").read_bytes(), "http://h/").entries
    newest = max(entry.hints.lastmod or 0.0 for entry in entries)
    source = SitemapRates()
    given = source.rates([Sighting(entry.loc, hints=entry.hints) for entry in entries], newest + DAY)
    assert None not in given
    by_age = sorted(zip(entries, given, strict=True), key=lambda pair: -(pair[0].hints.lastmod or 0.0))
    ordered = [estimate.rate for _, estimate in by_age if estimate]
    assert ordered == sorted(ordered, reverse=True)
