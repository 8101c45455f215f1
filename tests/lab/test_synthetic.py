from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.lab.synthetic import SyntheticSpec


def test_equal_specs_give_equal_sites_and_other_seeds_other_changes():
    spec = SyntheticSpec(size=200)
    assert spec.build().changes.times.tolist() == spec.build().changes.times.tolist()
    assert spec.build().changes.times.tolist() != SyntheticSpec(size=200, seed=1).build().changes.times.tolist()


def test_pages_cool_down_or_heat_up_from_the_root_to_the_last_leaf():
    rates = [(i + 1) ** -1.5 for i in range(10)]
    cold, hot = (
        SyntheticSpec(size=10, outdegree=3, skew=1.5, leaves=leaves).build().rates.tolist()
        for leaves in ("cold", "hot")
    )
    assert cold == rates
    assert hot == rates[::-1]


def test_changes_are_as_many_as_the_rates_say_and_sorted_within_pages():
    site = SyntheticSpec(size=500, slow_down=20).build()
    assert site.end == 2 * 500 * 20
    for row in site.changes.rows:
        assert (np.diff(row) >= 0).all()
    assert ((site.changes.times >= 0) & (site.changes.times < site.end)).all()
    expected = site.rates * site.end
    assert np.abs(site.changes.counts() - expected).max() < 6 * np.sqrt(expected.max())
    assert np.sum((site.changes.counts() - expected) ** 2 / expected) == pytest.approx(500, abs=6 * np.sqrt(1000))


def test_one_page_is_a_site():
    site = SyntheticSpec(size=1).build()
    assert site.known == [0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", 0),
        ("size", -1),
        ("size", 10**8),
        ("skew", -1.0),
        ("skew", float("nan")),
        ("outdegree", 0),
        ("leaves", "lukewarm"),
        ("slow_down", 0.0),
        ("slow_down", float("inf")),
        ("seed", -1),
    ],
)
def test_sites_that_cannot_be(name, value):
    with pytest.raises(UsageError, match=name.replace("_", "-")):
        SyntheticSpec(**{name: value})


@pytest.mark.slow
def test_too_many_changes():
    with pytest.raises(UsageError, match="changes are too many"):
        SyntheticSpec(size=1_000_000, skew=0.0).build()
