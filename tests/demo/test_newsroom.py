"""The newsroom: deterministic, and honest in its lists, its feed and its sitemap."""

from __future__ import annotations

import pytest

from sharc_crawler.demo import LivingSite, newsroom
from sharc_crawler.errors import UsageError
from sharc_crawler.links import document, sitemap

NOW = 1e9
SITE = LivingSite(seed=3, pages=50, news=120.0)


def get(path, now=NOW, site=SITE, **headers):
    return site.respond("GET", path, {"Host": "h", **headers}, now)


@pytest.mark.slow
def test_sections_publish_at_their_rates():
    room = SITE.newsroom
    hours = 200
    published = room.articles(NOW, NOW + hours * 3600)
    assert len(published) == pytest.approx(120 * hours, rel=0.05)
    for section in room.sections:
        count = sum(article.path.startswith(section) for article in published)
        assert count == pytest.approx(room.rate(section) * hours * 3600, rel=0.2)
    assert sum(map(room.rate, room.sections)) == pytest.approx(120 / 3600)


def test_stretches_of_time_add_up():
    room = SITE.newsroom
    whole = room.articles(NOW, NOW + 3600)
    assert whole == room.articles(NOW, NOW + 1000) + room.articles(NOW + 1000, NOW + 3600)


def test_an_article_is_there_from_its_publication_on():
    article = SITE.newsroom.articles(NOW, NOW + 3600)[5]
    assert get(article.path, article.published - 0.001).status == 404
    answer = get(article.path, article.published)
    assert answer.status == 200
    assert get(article.path, article.published + 9e6, **{"If-None-Match": answer.header("ETag")}).status == 304


@pytest.mark.parametrize("path", ["/newsroom/nothing/1.html", "/newsroom/x.html", "/newsroom/feed.atom"])
def test_nothing_else_is_there(path):
    assert get(path).status == 404


@pytest.mark.slow
def test_lists_name_the_latest_and_all_of_them_say_when_they_change():
    room = SITE.newsroom
    before = room.articles(NOW - 36_000, NOW)[-30:]
    front = get(newsroom.FRONT)
    named = document.extract(front.body, "http://h" + newsroom.FRONT, "text/html")
    assert {"http://h" + article.path for article in before} <= set(named.links)
    assert named.feeds == ("http://h" + newsroom.FEED,)
    for path in (newsroom.FRONT, newsroom.FEED, newsroom.SITEMAP):
        etag = {"If-None-Match": get(path).header("ETag")}
        following = room.articles(NOW, NOW + 36_000)[0].published
        assert get(path, following - 0.001, **etag).status == 304
        assert get(path, following, **etag).status == 200


def test_feed_and_sitemap_date_what_they_name():
    latest = SITE.newsroom.articles(NOW - 36_000, NOW)[::-1]
    for path, count in ((newsroom.FEED, 30), (newsroom.SITEMAP, 100)):
        found = sitemap.read(get(path).body, "http://h" + path)
        assert not found.problems
        assert [entry.loc for entry in found.entries] == ["http://h" + article.path for article in latest[:count]]
        assert [entry.hints.published for entry in found.entries] == [a.published // 1 for a in latest[:count]]


def test_robots_and_home_lead_there():
    assert b"Sitemap: http://h/newsroom/news-sitemap.xml" in get("/robots.txt").body
    assert b'href="/newsroom/"' in get("/").body


def test_without_feeds_and_without_news():
    plain = LivingSite(seed=3, pages=50, news=120.0, news_feeds=False)
    assert get(newsroom.FEED, site=plain).status == 404
    assert b"news-sitemap" not in get("/robots.txt", site=plain).body
    none = LivingSite(seed=3, pages=50)
    assert get(newsroom.FRONT, site=none).status == 404
    assert b"newsroom" not in get("/", site=none).body


@pytest.mark.parametrize("wrong", [{"news": -1.0}, {"news_sections": 0}, {"news_skew": 5.0}])
def test_no_such_newsroom(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        LivingSite(**wrong)
