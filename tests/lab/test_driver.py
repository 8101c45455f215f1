"""The frontier and the strategies over simulated sites, in virtual time."""

from __future__ import annotations

import cProfile
import math
from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler import model
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.lab import driver
from sharc_crawler.lab.driver import LISTED, Simulation, crawl
from sharc_crawler.lab.graph import EventGraph
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.score import PageFate, verdicts
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.lab.truth import Lives
from sharc_crawler.traps import bottomless
from tests.lab.small import belief, small_site


def times(site, strategy, graph="discover", attested=()):
    schedule = crawl(site, belief(site, attested), strategy, graph).schedule
    return schedule.visits.tolist(), schedule.revisits.tolist()


def test_breadth_first_with_revisits_last_in_first_out():
    site = small_site([[]] * 4)
    assert times(site, "bfs") == ([0, 1, 2, 3], [7, 6, 5, 4])
    assert times(site, "bfs:revisits=fifo") == ([0, 1, 2, 3], [4, 5, 6, 7])
    assert times(site, "bfs:revisits=none")[0] == [0, 1, 2, 3]


def test_depth_first_walks_even_where_the_graph_is_known():
    site = small_site([[]] * 5, links={0: [1, 2], 1: [3], 3: [4]})
    assert times(site, "dfs:revisits=none", "known")[0] == [0, 1, 4, 2, 3]
    assert times(site, "bfs:revisits=none", "known")[0] == [0, 1, 2, 3, 4]


def test_what_a_sitemap_lists_is_told_to_those_that_walk_too():
    site = small_site([[]] * 4, links={0: [1, 2, 3]}, rates=[0.1, 0.2, 0.3, 0.4])
    assert times(site, "hottest-first:revisits=none", "known")[0] == [0, 3, 2, 1]
    assert times(site, "hottest-first:revisits=none", LISTED)[0] == [3, 2, 1, 0]


@pytest.mark.parametrize("strategy", ["bfs", "dfs", "hottest-last", "sharc-offline", "sharc-selective"])
def test_pages_that_are_known_are_told_part_by_part(strategy, monkeypatch):
    site = small_site([[]] * 9, links={0: [*range(1, 9)]}, rates=[0.1 * (1 + place % 4) for place in range(9)])
    told, whole, schedule = [], times(site, strategy, LISTED), Frontier.schedule
    monkeypatch.setattr(driver, "AT_ONCE", 4)
    monkeypatch.setattr(Frontier, "schedule", lambda own, seen, now: told.append(len(seen)) or schedule(own, seen, now))
    assert str(times(site, strategy, LISTED)) == str(whole)
    assert told == [4, 4, 1]


def test_the_apex_is_its_own_revisit():
    site = small_site([[]] * 3, rates=[0.3, 0.1, 0.2])
    visits, revisits = times(site, "sharc-selective", "known")
    assert visits == [2, 0, 1]
    assert revisits == [2, 4, 3]


def test_a_planner_is_given_the_known_graph_and_has_to_find_an_unknown_one():
    site = small_site([[]] * 4, rates=[0.1, 0.2, 0.3, 0.4])
    assert times(site, "sharc-offline", "known")[0] == [0, 3, 1, 2]
    chain = small_site([[]] * 4, links={0: [3], 3: [2], 2: [1]}, rates=[0.1, 0.2, 0.3, 0.4])
    assert times(chain, "sharc-offline", "discover")[0] == [0, 3, 2, 1]


def test_links_are_those_of_the_moment():
    events = [(2.5, 0, [3], []), (1.5, 1, [2], [])]
    site = replace(small_site([[]] * 4), graph=EventGraph({0: [1]}, sorted(events)))
    assert site.known == [0, 1]
    visits, _ = times(site, "bfs:revisits=none")
    assert visits[:2] == [0, 1]
    assert all(map(math.isnan, visits[2:]))  # page 1 is downloaded before it names page 2


def test_pages_appear_and_vanish():
    lives = Lives(np.array([-math.inf, -math.inf, 1.5, 9.0]), {1: (-math.inf, 0.5)})
    visits, revisits = times(small_site([[]] * 4, lives=lives), "bfs")
    assert visits == [0, 1, 2, 3]
    assert revisits[0] == 5
    assert revisits[2] == 4
    assert math.isnan(revisits[1])  # gone at its visit: nothing to revisit
    assert math.isnan(revisits[3])  # not there yet


def test_downloads_are_spread_over_the_window_and_lie_in_its_middle():
    site = small_site([[]] * 4, step=None, end=80.0)
    assert times(site, "bfs", "known") == ([0, 10, 20, 30], [70, 60, 50, 40])
    assert times(site, "bfs:revisits=none", "known")[0] == [20, 30, 40, 50]


def test_a_capture_that_finds_more_pages_still_fits_the_window():
    graph = EventGraph({0: [1]}, [(5.0, 1, [2, 3, 4, 5], [])])
    site = replace(small_site([[]] * 6, step=None, end=80.0), graph=graph)
    assert len(site.known) == 2
    done = crawl(site, belief(site), "bfs")
    assert done.schedule.visited.sum() == 6
    assert done.schedule.interval[1] < 80
    assert done.step == pytest.approx(80 / 12)


def test_a_recapture_is_given_what_the_archive_knows_and_finds_the_rest():
    site = replace(small_site([[]] * 4), graph=EventGraph({0: [1], 1: [2]}, [(-5.0, 0, [3], [])]))
    site = replace(site, lives=Lives(np.full(4, -math.inf), {2: (-math.inf, -1.0)}))
    assert (site.archived, site.known) == ([0, 1, 2], [0, 1, 3])
    done = crawl(site, belief(site), "sharc-selective", "recapture")
    assert done.decisions == 6, "of the page that is gone one, of the apex one, two of each other page"
    assert not np.isnan(done.schedule.visits[3])


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "hottest-last:revisits=fifo"])
@pytest.mark.parametrize("graph", ["known", "discover"])
def test_the_frontiers_judgements_are_the_scores(strategy, graph):
    site = SyntheticSpec(size=120, outdegree=5, seed=3).build()
    gone = {page: (-math.inf, 20.0 * page) for page in range(5, 12)}
    site = replace(site, lives=Lives(np.full(120, -math.inf), gone))
    known = believe(site, "oracle")
    simulation = Simulation(site, known, strategy, 1.0)
    judged, finished = {}, simulation.frontier.finished

    def spy(fetch, outcome, links=()):
        judgement = finished(fetch, outcome, links)
        if judgement is not None:
            judged[site.numbers[fetch.url]] = judgement.verdict
        return judgement

    simulation.frontier.finished = spy
    found = verdicts(site, simulation.run(graph).schedule, known.attested)
    alike = {
        PageFate.COHERENT: model.Verdict.COHERENT,
        PageFate.CHANGED: model.Verdict.CHANGED,
        PageFate.GONE: model.Verdict.CHANGED,
    }
    assert len(judged) > 100
    assert {*judged.values()} == {model.Verdict.COHERENT, model.Verdict.CHANGED}
    assert judged == {page: alike[PageFate(found[page])] for page in judged}


def test_a_graph_must_be_known_or_discovered():
    site = small_site([[]])
    with pytest.raises(UsageError, match="graph='knwon' is not known; did you mean 'known'"):
        crawl(site, belief(site), "bfs", "knwon")


def test_no_site_is_endless_here(monkeypatch):
    """In a pure tree each page names none but new ones, on and on: a live crawl would leave it in the end."""
    monkeypatch.setattr(bottomless, "LAST", 20)
    site = SyntheticSpec(size=200, outdegree=2).build()
    assert crawl(site, believe(site, "oracle"), "bfs").decisions == 400


def test_one_page():
    assert times(small_site([[]], links={}), "sharc-selective", "known") == ([0], [0])
    assert times(small_site([[]], links={}), "bfs") == ([0], [1])


@pytest.mark.slow
def test_a_decision_costs_as_many_calls_in_a_crawl_of_any_size():
    assert _calls(2_000) < 1.5 * _calls(250)


def _calls(size: int) -> float:
    """Of functions, for each decision: a count, where a time would be the machine's."""
    site = SyntheticSpec(size=size).build()
    known = believe(site, "oracle")
    _ = site.known, site.numbers
    profile = cProfile.Profile()
    done = profile.runcall(crawl, site, known, "bfs")
    assert done.decisions == 2 * size
    return sum(entry.callcount for entry in profile.getstats()) / done.decisions
