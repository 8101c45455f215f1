"""Which sitemaps are read that others name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.scope import Scope
from sharc_crawler.addresses.urls import host_of
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.besides_links import why_not
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

OWN = "http://a.example/map.xml"


def asked(key: str, depth: int, nested: int = 0, parent: str = OWN) -> tuple[str | None, int]:
    """Why it is not read, and how many are nested behind it."""
    admitter = Admitter(None, SimpleNamespace(canonical=None, host_of=host_of), None)
    admitter.nested += nested
    return why_not(
        admitter, SimpleNamespace(urls=[parent]), Scope(["http://a.example/"]), key, 0, depth
    ), admitter.nested


@pytest.mark.parametrize(
    ("key", "parent", "read"),
    [
        ("http://a.example/1.xml", OWN, True),
        ("http://cdn.example/1.xml", "http://cdn.example/map.xml", True),
        ("http://a.example/1.xml", "http://cdn.example/map.xml", True),
        ("http://b.example/1.xml", OWN, False),
    ],
)
def test_an_index_names_sitemaps_of_its_own_host_or_of_the_site(key, parent, read):
    assert asked(key, 1, parent=parent) == (None if read else "a sitemap index names another site's sitemap", 0)


def test_indexes_lie_within_each_other_five_deep_and_name_a_thousand_in_all():
    assert asked(OWN, 1, 1_000) == (None, 1_000), "what an index names that nobody nests is not counted"
    assert asked(OWN, 2, 998) == (None, 999)
    assert asked(OWN, 5, 999) == (None, 1_000)
    assert asked(OWN, 5, 1_000) == ("more than 1,000 sitemaps of indexes within indexes", 1_001)
    assert asked(OWN, 6) == ("more than 5 sitemap indexes within each other", 0)


@pytest.mark.parametrize(("name", "asked"), [("map", [Kind.SITEMAP, Kind.PAGE]), ("map.xml", [Kind.SITEMAP])])
def test_what_a_page_links_to_and_robots_txt_names_as_a_sitemap_is_both_unless_its_name_says_which(
    impolite, name, asked
):
    world = World()
    world.links["http://h/"] = [Sighting(f"http://h/{name}", via="http://h/")]
    frontier = Frontier(impolite, MemoryStore())
    spec = CaptureSpec("h", ("http://h/",), sitemaps=(f"http://h/{name}",), strategy="bfs:revisits=none")
    frontier.open(spec, world.now)
    world.run(frontier)
    assert [fetch.kind for _, fetch in world.requests if fetch.url.endswith(name)] == asked
