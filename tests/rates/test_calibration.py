from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.model import RateEstimate, Sighting
from sharc_crawler.rates.chain import ENOUGH, Calibration, Chain


class Says:
    """A source that knows some URLs."""

    def __init__(self, name: str, rates: dict[str, float]) -> None:
        self.name, self.known = name, rates

    def rates(self, sightings, now):
        found = (self.known.get(one.url) for one in sightings)
        return [None if rate is None else RateEstimate(rate, self.name, shape=1.0) for rate in found]


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_the_weight_of_a_word_is_learned(weight):
    rng = np.random.default_rng(1)
    said = 10.0 ** rng.uniform(-3, 3, 2000)
    true = 0.01 * said**weight * rng.lognormal(0, 0.3, 2000)
    learned = Calibration()
    learned.learn([RateEstimate(r, "s") for r in said], [RateEstimate(r, "h") for r in true])
    assert learned.weight == pytest.approx(weight, abs=0.03)
    one = learned.of(RateEstimate(100.0, "s"))
    assert one.rate == pytest.approx(0.01 * 100.0**weight, rel=0.2)
    assert one.spread / one.rate == pytest.approx(0.3, rel=0.2)
    assert one.source == "s"


def test_a_word_that_says_the_opposite_counts_for_nothing():
    learned = Calibration()
    learned.learn(*([RateEstimate(10.0 ** (s * (n % 5)), "x") for n in range(50)] for s in (1, -1)))
    assert learned.weight == 0.0


def test_few_pages_teach_nothing():
    learned = Calibration()
    few = [RateEstimate(1.0, "x")] * (ENOUGH - 1)
    learned.learn(few, few)
    said = RateEstimate(7.0, "s", shape=1.0)
    assert learned.of(said) is said


def test_a_new_page_gets_the_rate_that_pages_with_its_word_were_seen_to_have():
    urls = [f"http://h/{n}" for n in range(100)]
    words = {url: (1.0 if n % 2 else 0.01) for n, url in enumerate(urls)}  # "daily" and "never"
    seen = {url: (0.02 if n % 2 else 0.005) for n, url in enumerate(urls[:90])}
    found = Chain([Says("history", seen), Says("sitemap", words)]).rates([Sighting(url) for url in urls], 0.0)
    assert [one.source for one in found] == ["history"] * 90 + ["sitemap"] * 10
    assert found[90].rate == pytest.approx(0.005, rel=0.05)
    assert found[91].rate == pytest.approx(0.02, rel=0.05)


def test_a_page_met_later_is_calibrated_by_what_was_learned():
    words = {f"http://h/{n}": 1.0 + n % 3 for n in range(60)} | {"http://h/new": 2.0}
    chain = Chain([Says("history", dict.fromkeys(list(words)[:50], 0.1)), Says("sitemap", words)])
    chain.rates([Sighting(url) for url in list(words)[:60]], 0.0)
    (late,) = chain.rates([Sighting("http://h/new")], 1.0)
    assert late.rate == pytest.approx(0.1, rel=0.05)
