"""What waits for its rate is given back as it was last seen."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.model import Hints, Sighting
from sharc_crawler.state.unrated import Sightings, Unrated

SEEN = [
    Sighting("http://h/0"),
    Sighting("http://h/1", via="http://h/map.xml", hints=Hints()),
    Sighting("http://h/2", via="http://h/map.xml", hints=Hints(5.0, 1.0, "daily", 0.5)),
    Sighting("http://h/3", via="http://h/map.xml", hints=Hints(5.0, 1.0, published=4.0)),
    Sighting("http://h/4", host="other"),
    Sighting("http://h/5?a=1", hints=Hints(changefreq="weekly")),
    Sighting("http://h/6", key="http://h/6#post"),
]


def waiting() -> tuple[Unrated, Sightings]:
    unrated, urls = Unrated(), Texts()
    for page, sighting in enumerate(SEEN):
        urls.append("http://h/5?utm_source=b&a=1" if page == 5 else sighting.url)
        unrated.put_all([page], [(sighting.url, sighting._replace(url=urls[page]))])
    return unrated, Sightings(unrated, urls)


def test_each_is_given_back():
    unrated, sightings = waiting()
    assert list(sightings) == SEEN
    assert sightings[2:4] == SEEN[2:4]
    assert list(unrated.pages) == list(range(7))
    assert len(sightings) == 7
    assert 6 in unrated
    assert 7 not in unrated


def test_the_last_sighting_of_a_page_counts():
    unrated, sightings = waiting()
    for page in (0, 3, 4):
        again = Sighting(f"http://h/{page}", via="http://h/b.xml", hints=Hints(9.0, 60.0))
        unrated.put(page, again, again.url)
        assert sightings[page] == again
    unusual = Sighting("http://h/2", host="other")
    unrated.put(2, unusual, unusual.url)
    assert sightings[2] == unusual
    assert len(sightings) == 7


@pytest.mark.parametrize("page", [0, 1, 2, 3, 4, 6])
def test_whatever_is_said_of_a_page_that_waits_stands_until_more_is_said(page):
    """And nothing else is said of the others."""
    unrated, sightings = waiting()
    for told in (*SEEN, *SEEN[::-1], Sighting("http://h/other", hints=Hints(lastmod=8.0))):
        again = told if told.key or told.url == "http://h/other" else told._replace(url=SEEN[page].url)
        unrated.put(page, again, SEEN[page].url)
        assert list(sightings) == [*SEEN[:page], again, *SEEN[page + 1 :]]
        said = sightings.stated(range(page, page + 1))
        hints = again.hints or Hints()
        assert (said.urls, said.precisions, said.frequencies) == (
            [again.url],
            [hints.lastmod_precision],
            [hints.changefreq],
        )
        assert [None if date != date else date for date in said.lastmods] == [hints.lastmod]


def test_pages_that_do_not_wait_are_not_among_those_that_do():
    unrated = Unrated()
    assert 0 not in unrated
    assert len(unrated) == 0
    unrated.put_all([3, 5], [(f"http://h/{page}", Sighting(f"http://h/{page}")) for page in (3, 5)])
    assert [page for page in range(8) if page in unrated] == [3, 5]


def test_what_many_pages_share_is_kept_once():
    unrated = Unrated()
    urls = [f"http://h/{page}" for page in range(1000)]
    named = [(url, Sighting(url, via="map", hints=Hints(float(at), 1.0))) for at, url in enumerate(urls)]
    unrated.put_all(range(1000), named)
    assert len(unrated._shared) == 1
    assert not unrated._unusual


def test_columns_say_the_same():
    _, sightings = waiting()
    said = sightings.stated(range(1, 6))
    hints = [one.hints or Hints() for one in SEEN[1:6]]
    assert said.urls == [one.url for one in SEEN[1:6]]
    assert list(said.precisions) == [one.lastmod_precision for one in hints]
    assert list(said.frequencies) == [one.changefreq for one in hints]
    assert [date for date in said.lastmods if date == date] == [one.lastmod for one in hints if one.lastmod is not None]


@pytest.mark.parametrize("name", Hints._fields)
def test_whatever_a_sitemap_says_is_given_back(name):
    hints = Hints()._replace(**{name: "daily" if name == "changefreq" else 0.5})
    said = Sighting("http://h/0", via="http://h/map.xml", hints=hints)
    unrated = Unrated()
    unrated.put_all([0], [(said.url, said)])
    assert unrated.at(0, said.url) == said
