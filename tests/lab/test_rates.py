from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.published import DAY, WEEK, YEAR, links, sitemap, weekly_captures
from sharc_crawler.lab.rates import SOURCES, believe
from sharc_crawler.lab.truth import Changes
from sharc_crawler.model import RateEstimate
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.rates.predictor.examples import Examples, page_facts
from sharc_crawler.rates.predictor.model import Predictor
from tests.lab.small import small_site

HOT = [-day * DAY for day in range(60, 0, -1)]
PAST = [HOT, [-300 * DAY], [-30 * DAY], [], [-400 * DAY], []]
CREATED = [-2 * YEAR, -2 * YEAR, -40 * DAY, -2 * YEAR, -2 * YEAR, 5 * DAY]


def past_site(future=()):
    changes = [list(future), *[[]] * 5]
    site = small_site(changes, end=30 * DAY, step=None)
    return replace(site, past=Changes.of(PAST), created=np.array(CREATED))


@pytest.mark.parametrize("source", ["history", "lastmod", "sitemap", "captures"])
def test_nothing_after_the_windows_begin_is_known(source):
    quiet, busy = (believe(past_site(future), source) for future in ((), [DAY, 2 * DAY, 3 * DAY]))
    assert quiet.rates.tolist() == busy.rates.tolist()
    assert quiet.shapes.tolist() == busy.shapes.tolist()


@pytest.mark.parametrize("source", ["history", "lastmod", "sitemap", "captures"])
def test_a_capture_that_begins_later_than_the_window_knows_what_has_changed_by_then(source):
    site = past_site()
    late = replace(site, changes=Changes.of([[], [DAY, 2 * DAY], *[[]] * 4]))
    before, after, then = believe(site, source), believe(late, source, 10 * DAY), believe(late, source, 0.5 * DAY)
    assert before.rates.argmax() == then.rates.argmax() == 0
    assert after.rates[1] > 1.5 * then.rates[1]
    assert after.utilities.tolist() == believe(late, source).utilities.tolist()
    assert believe(late, "oracle", 10 * DAY).rates.tolist() == late.rates.tolist()


def test_the_oracle_counts_the_window():
    assert believe(past_site([DAY, 2 * DAY]), "oracle").rates.tolist() == [2 / (30 * DAY), 0, 0, 0, 0, 0]


def test_history_ranks_by_changes_of_the_year_and_by_age():
    rates = believe(past_site(), "history").rates
    assert rates[0] == rates.max()
    assert rates[2] > rates[1] > rates[3]  # one change in forty days; in a year; none
    assert rates[3] == rates[4]  # what happened earlier does not count


def test_lastmod_ranks_by_age_alone():
    rates = believe(past_site(), "lastmod").rates
    assert rates[0] > rates[1]
    assert rates[2] > rates[1]


def test_a_constant_tells_no_page_from_another():
    assert len(set(believe(past_site([DAY]), "constant").rates)) == 1


def test_utilities_weigh_late_changes_more():
    assert believe(past_site([15 * DAY, 24 * DAY]), "constant").utilities.tolist() == [0.5 + 0.8, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("source", ["history", "lastmod", "sitemap"])
def test_a_site_without_a_past(source):
    with pytest.raises(UsageError, match=r"no history before the window: choose rates=oracle or rates=constant"):
        believe(small_site([[1.0], []]), source)


def test_an_unknown_source_is_told_the_nearest():
    with pytest.raises(UsageError, match="rates='captrues' is not known; did you mean 'captures'"):
        believe(past_site(), "captrues")


def test_a_typing_error_in_the_name_of_our_own_source():
    with pytest.raises(UsageError, match="rates='orcale' is not known; did you mean 'oracle'"):
        believe(past_site(), "orcale")


@pytest.mark.parametrize(("source", "alone"), [("mine.Hot,history", "history"), ("oracle:of=1", "oracle")])
def test_what_a_site_is_replayed_by_stands_alone(source, alone):
    with pytest.raises(UsageError, match=f"rates='{source}': {alone} stands alone, with no other source and no option"):
        believe(past_site(), source)


class Wants:
    """A rate source of somebody else's, which abstains on every other page."""

    def __init__(self, history, horizon, links):
        self.history, self.horizon, self.links = history, horizon, links

    def rates(self, sightings, now):
        assert (len(self.history), self.horizon, now) == (5, 30 * DAY, 0.0)
        assert ("/0", "/3") in self.links
        return [RateEstimate(1.0, "mine", 2.0) if number % 2 else None for number in range(len(sightings))]


def test_a_named_source_is_given_what_it_asks_for(monkeypatch):
    monkeypatch.setattr("sharc_crawler.lab.rates.Wants", Wants, raising=False)
    known = believe(past_site(), "sharc_crawler.lab.rates.Wants")
    assert known.rates.tolist() == [1.0] * 6  # the others: the mean of the known
    assert known.shapes.tolist() == [1.0, 2.0] * 3


def test_a_sitemap_names_classes_and_lastmods_of_what_exists():
    hints = [sighting.hints for sighting in sitemap(past_site())]
    assert [hint and hint.changefreq for hint in hints] == ["weekly", "yearly", "monthly", "never", "never", None]
    assert [hint and hint.lastmod for hint in hints] == [-DAY, -300 * DAY, -30 * DAY, -2 * YEAR, -400 * DAY, None]


def test_weekly_captures_show_what_a_crawler_could_have_seen():
    captures = weekly_captures(past_site())
    assert captures.urls == [f"/{page}" for page in range(5)]
    assert captures.times.max() == -WEEK
    first = slice(*captures.offsets[:2])
    assert len(captures.times[first]) == 52
    assert captures.changed[first][0] == UNKNOWN
    assert (captures.changed[first][-7:] == CHANGED).all()
    assert (captures.changed[first][1:40] == UNCHANGED).all()
    third = slice(*captures.offsets[2:4])  # created forty days ago, changed thirty days ago
    assert captures.changed[third].tolist() == [UNKNOWN, CHANGED, UNCHANGED, UNCHANGED, UNCHANGED]
    assert captures.lastmods[third].tolist() == [-40 * DAY, *[-30 * DAY] * 4]


class KnowsOne:
    def rates(self, sightings, now):
        return [RateEstimate(1.0, "mine") if one.url == "/1" else None for one in sightings]


def test_pages_that_a_source_knows_nothing_of_are_counted():
    belief = believe(site := past_site(), f"{__name__}.KnowsOne")
    assert (belief.guessed, set(belief.rates.tolist())) == (len(site.urls) - 1, {1.0})
    assert believe(site, "constant").guessed == 0


def test_links_of_the_start():
    assert links(past_site()) == [("/0", f"/{page}") for page in range(1, 6)]


@pytest.mark.parametrize("rate", [math.nan, -1.0, math.inf])
def test_rates_that_cannot_be(rate):
    column = np.array([1.0, rate])
    with pytest.raises(DataError, match="rates=given: page 1 has the rate"):
        Belief("given", column, column, column, np.zeros(2, bool))


@pytest.mark.parametrize("source", sorted({*SOURCES} - {"oracle", "constant"}))
def test_a_past_without_changes(source):
    site = replace(past_site(), past=Changes.of([[]] * 6))
    assert np.isfinite(believe(site, source).rates).all()


@pytest.mark.slow
def test_a_predictor_by_name_and_file(tmp_path):
    before = Examples.of(weekly_captures(past_site()), page_facts(weekly_captures(past_site()), None, {}, 0.0))
    model = tmp_path / "model.json"
    Predictor.train(before, {"online": "bayes", "offline": "tree"}, {}).save(model)
    known = believe(past_site(), f"predictor:model={model}")
    assert (known.rates > 0).all()
    assert np.isfinite(known.shapes).all()
    assert known.rates.tolist() == believe(past_site(), f"predictor:model={model},constant").rates.tolist()
    with pytest.raises(UsageError, match="cannot be read"):
        believe(past_site(), "captures,predictor:model=no.json")
