"""What takes long is done by those who read: of a page's unusual addresses, what is canonical, too."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.links.found import LIMIT
from sharc_crawler.live.reading.reader_process import packed
from sharc_crawler.live.reading.readings import Reading, unpacked_reading
from sharc_crawler.model import Kind, Outcome, Result, Sighting
from sharc_crawler.state.spec import CaptureSpec

ROOT = "http://h.example/"
USUAL = [f"{ROOT}a", f"{ROOT}a/b-c.html"]
UNUSUAL = [f"{ROOT}?b=%7e&a=1", f"{ROOT}?{'a&' * 500}", f"{ROOT}%c3%bc/../x", f"{ROOT}?q=%20", "HTTP://H.example:80/"]


def sent(urls, kind=Kind.PAGE):
    """As they come from whoever reads."""
    reading = Reading(links=[Sighting(url, kind, ROOT) for url in urls])
    return unpacked_reading(json.loads(json.dumps(packed(reading))), ROOT).links


def test_unusual_addresses_are_made_canonical_where_documents_are_read():
    links = sent(USUAL + UNUSUAL)
    assert [link.url for link in links] == USUAL + UNUSUAL
    assert [link.canonical for link in links] == [None, None, *map(canonical, UNUSUAL)]


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.RESOURCE])
def test_the_crawl_makes_none_of_them_canonical_again(kind):
    asked: list[str] = []
    parts = Parts(canonical=lambda url: asked.append(url) or canonical(url))
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False), parts=parts)
    frontier.open(CaptureSpec("h.example", (ROOT,), strategy="bfs", sitemaps=()), 0.0)
    frontier.finished(frontier.next(0.0), Outcome(Result.OK, 0.0, 0.1, 200, "sha1:A"), sent(USUAL + UNUSUAL, kind))
    assert not set(asked) & set(UNUSUAL)
    known = {frontier.pages.urls[page]: page for page in range(len(frontier.pages))}
    assert {*USUAL, *UNUSUAL[:4]} <= known.keys(), "they are asked for as they were found"
    assert all(frontier.capture.seen.get(canonical(url)) == known[url] for url in UNUSUAL[:4])


def test_of_a_long_sitemap_the_crawl_does_it_by_portions():
    """Whoever reads it has ten seconds for all of it."""
    links = sent([f"{ROOT}?%zz{number}" for number in range(LIMIT + 1)])
    assert {link.canonical for link in links} == {None}
