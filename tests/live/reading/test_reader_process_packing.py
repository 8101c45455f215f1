"""A reading as it goes to the crawl."""

from __future__ import annotations

import json

from sharc_crawler.live.reading.reader_process import packed
from sharc_crawler.live.reading.readings import Reading, sightings, unpacked_reading
from sharc_crawler.model import Hints, Kind, Sighting


def test_sightings_made_at_once_are_those_made_one_by_one() -> None:
    urls = ["http://h/a", "http://h/b"]
    assert sightings("http://h/", Kind.RESOURCE, urls) == [Sighting(url, Kind.RESOURCE, "http://h/") for url in urls]
    assert type(sightings("http://h/", Kind.PAGE, urls)[0]) is Sighting


def test_hints_of_some_are_read_as_they_were_sent() -> None:
    hints = [Hints(5.0, 1.0), None, Hints(changefreq="daily", priority=0.5, published=7.0)]
    links = [Sighting(f"http://h/{at}", Kind.PAGE, "http://h/", one) for at, one in enumerate(hints)]
    read = unpacked_reading(json.loads(json.dumps(packed(Reading(links=links)))), "http://h/").links
    assert read == links
    assert type(read[0]) is Sighting
    assert type(read[0].hints) is Hints
