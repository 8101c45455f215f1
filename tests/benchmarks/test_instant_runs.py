"""The instant crawl in virtual time, on the living site's newsroom."""

from __future__ import annotations

from collections import Counter
from statistics import median

import pytest

from benchmarks.instant_runs import crawl
from sharc_crawler.demo import LivingSite
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Kind, Result
from sharc_crawler.polling.terms import Terms

BASE = "http://news.example"
START = 1e9


def news(seed=1, feeds=False, skew=2.0):
    return LivingSite(seed=seed, pages=50, scale=1.0, news=60.0, news_skew=skew, news_feeds=feeds, news_sections=8)


def run(site, seeds, adaptive=True, sitemaps=False, hours=1.0):
    terms = Terms(every=300.0, duration=hours * 3600, adaptive=adaptive)
    return crawl(site, [BASE + path for path in seeds], terms, Politeness(delay=1.0), START, sitemaps)


def delays(site, state, hours=1.0):
    truth = {BASE + a.path: a.published for a in site.newsroom.articles(START, START + hours * 3600)}
    pages = {v.page: v.outcome for v in state.visits if state.pages[v.page].kind is Kind.PAGE}
    assert all(outcome.result is Result.OK for outcome in pages.values())
    return [outcome.started - truth[state.pages[page].url] for page, outcome in pages.items()]


@pytest.mark.slow
def test_learned_intervals_find_news_sooner_than_even_ones_with_as_many_polls():
    site = news()
    learned, even = (run(site, site.newsroom.sections, adaptive) for adaptive in (True, False))
    assert median(delays(site, learned)) < 0.7 * median(delays(site, even))
    polls = [sum(state.pages[v.page].kind is Kind.HUB for v in state.visits) for state in (learned, even)]
    assert polls[0] == pytest.approx(polls[1], rel=0.1)


@pytest.mark.slow
def test_feed_and_news_sitemap_are_found_and_polled():
    site = news(feeds=True)
    state = run(site, ["/newsroom/"], sitemaps=True)
    polled = Counter(state.pages[v.page].url for v in state.visits if state.pages[v.page].kind is Kind.HUB)
    found = ("/newsroom/feed.xml", "/newsroom/news-sitemap.xml", "/sitemap-news.xml")  # the last by its name alone
    assert set(polled) >= {BASE + path for path in ("/newsroom/", *found)}
    sections = {BASE + path: polled[BASE + path] for path in site.newsroom.sections}
    assert 1 <= sum(sections.values()) < polled[BASE + "/newsroom/"] / 4  # on trial: all that they show, feeds show
    assert min(delays(site, state)) >= 0.0
    dated = [row for row in state.novelties.values() if row.published is not None]
    assert dated
    truth = {BASE + a.path: a.published for a in site.newsroom.articles(START, START + 3600)}
    assert all(row.published == truth[state.pages[row.page].url] // 1 for row in dated)


@pytest.mark.slow
def test_the_same_world_twice_is_the_same_crawl():
    site = news()
    assert run(site, site.newsroom.sections).visits == run(site, site.newsroom.sections).visits


def test_polls_without_news_are_answered_304():
    site = news()
    state = run(site, site.newsroom.sections[-1:])
    assert Counter(visit.outcome.status for visit in state.visits)[304] > 5


@pytest.mark.long
def test_robots_txt_is_read_again_every_day():
    site = news()
    terms = Terms(every=4 * 3600.0, duration=3.5 * 86_400)
    seeds = [BASE + path for path in site.newsroom.sections[:2]]
    state = crawl(site, seeds, terms, Politeness(delay=60.0), START, sitemaps=False)
    read = [v.outcome.started - START for v in state.visits if state.pages[v.page].kind is Kind.ROBOTS]
    assert [round(at / 86_400) for at in read] == [0, 1, 2, 3]
    polled = [v.outcome.started for v in state.visits if state.pages[v.page].kind is Kind.HUB]
    assert max(polled) > START + 3 * 86_400
