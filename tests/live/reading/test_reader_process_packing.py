"""A reading as it goes to the crawl."""

from __future__ import annotations

import json

from sharc_crawler.live.reading.reader_process import packed
from sharc_crawler.live.reading.readings import Reading, unpacked_reading
from sharc_crawler.model import Hints, Kind, LinkColumns, Sighting


def test_links_of_several_kinds_are_read_as_they_were_sent() -> None:
    kinds = [Kind.RESOURCE, Kind.PAGE, Kind.PAGE, Kind.RESOURCE]
    links = LinkColumns("http://h/", ["http://h/a", "http://h/b/../c", "http://h/d", "http://h/e"], kinds)
    read = unpacked_reading(json.loads(json.dumps(packed(Reading(links=links)))), "http://h/").links
    assert [(one.url, one.kind, one.via) for one in read] == [(one.url, one.kind, "http://h/") for one in links]
    assert [one.canonical for one in read] == [None, "http://h/c", None, None]
    assert [*read] == [read[at] for at in range(4)]
    assert [*read[1:]] == [*read][1:]
    assert all(type(one) is Sighting for one in (*read, read[0]))


def test_hints_of_some_are_read_as_they_were_sent() -> None:
    hints = [Hints(5.0, 1.0), None, Hints(changefreq="daily", priority=0.5, published=7.0)]
    links = [Sighting(f"http://h/{at}", Kind.PAGE, "http://h/", one) for at, one in enumerate(hints)]
    read = unpacked_reading(json.loads(json.dumps(packed(Reading(links=links)))), "http://h/").links
    assert [*read] == links
    assert [*read[1:]] == links[1:]
    assert type(read[0]) is Sighting
    assert type(read[0].hints) is Hints
