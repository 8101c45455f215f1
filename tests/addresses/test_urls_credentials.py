"""What a site writes before an ``@`` stays with the site."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.urls import without_credentials
from sharc_crawler.changes.http import target
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Sighting
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World


@pytest.mark.parametrize(
    ("url", "without"),
    [
        ("http://me:secret@h/a", "http://h/a"),
        ("http://me:se@cret@h/a", "http://h/a"),
        ("ftp://me@h/", "ftp://h/"),
        ("//me:secret@h/", "//h/"),
        ("http:\\\\me:secret@h/", "http:\\\\h/"),
        ("http://h/a:b@c?d:e@f", "http://h/a:b@c?d:e@f"),
        ("mailto:me@h", "mailto:me@h"),
    ],
)
def test_credentials_are_taken_out(url: str, without: str) -> None:
    assert without_credentials(url) == without


def test_a_password_in_a_link_or_redirect_is_kept_nowhere() -> None:
    world, store = World(), MemoryStore()
    world.links = {"http://h/": [Sighting("http://me:secret@h/a"), Sighting("ftp://me:secret@other/")]}
    frontier = Frontier(store=store)
    frontier.open(CaptureSpec("h", ("http://h/",), strategy="bfs", sitemaps=()), world.now)
    world.run(frontier)
    outside = [row.url for row in store.load().outside]
    assert sorted(outside) == ["ftp://other/", "http://h/a"]
    assert target("http://h/", b"http://me:secret@h/b") == "http://h/b"
