"""Pages that a header dates later are judged by what dated the others."""

from __future__ import annotations

from sharc_crawler.model import Hints, Sighting
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.sitemap import SitemapRates
from sharc_crawler.rates.sources import HistoryRates

DAY = 86_400.0
NOW = 1e9


def page(number: int, age: float) -> Sighting:
    return Sighting(f"http://h/p/{number}", hints=Hints(NOW - age, 1.0))


def test_a_page_dated_as_another_gets_its_rate_though_it_is_dated_later() -> None:
    rates = Chain([HistoryRates(horizon=3600.0), SitemapRates()])
    listed = [page(n, 2.0 if n % 20 == 5 else 4.7 * DAY + n) for n in range(40)]  # two change all the time
    first = rates.rates(listed, NOW)[0]
    (later,) = rates.rates([page(40, 4.7 * DAY)], NOW + 60)
    assert later.source == first.source == "lastmod"
    assert 0.5 < later.rate / first.rate < 2
