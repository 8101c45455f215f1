"""What is taken in of what is named, and what is left and listed."""

from __future__ import annotations

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Result, Sighting, Slot
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, page, spec


def test_what_cannot_be_fetched_and_what_ends_a_session_is_left_and_listed(world, impolite):
    left = [Sighting("mailto:x@a.example", via="link"), Sighting(ROOT + "logout", via="link"), page("1")]
    world.links = {ROOT: left}
    for session, urls_left in (("me", {"mailto:x@a.example", ROOT + "logout"}), ("", {"mailto:x@a.example"})):
        store = MemoryStore()
        frontier = Frontier(impolite, store)
        capture = frontier.open(spec(session=session), world.now)
        world.run(frontier)
        assert {row.url for row in store.load().outside} == urls_left
        assert sum(capture.left_out.reasons.values()) == 2 * len(urls_left), "as often as they were seen"
        assert {row.reason for row in store.load().outside if row.url.startswith("mailto")} == {"not an http(s) URL"}


def test_what_a_redirect_leads_to_in_another_spelling_is_the_page_that_others_name(world, impolite):
    world.links = {ROOT: [page("a"), page("b?x=1&y=2")]}
    world.answers = {ROOT + "a": [{"result": Result.REDIRECTED, "status": 301, "location": ROOT + "b?y=2&x=1#top"}]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier)
    visited = [fetch.url for _, fetch in world.requests if "b?" in fetch.url and fetch.slot is not Slot.SECOND]
    assert len(visited) == 1


def test_a_redirect_to_another_spelling_is_followed_once(world, impolite):
    """A site that leads from one to the other and back leads nowhere."""
    world.links = {ROOT: [page("a?x=1&b=2")]}
    canonical_, other = ROOT + "a?b=2&x=1", ROOT + "a?x=1&b=2"
    gone_on = {"result": Result.REDIRECTED, "status": 301}
    world.answers = {other: [{**gone_on, "location": canonical_}], canonical_: [{**gone_on, "location": other}] * 5}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier, most=200)
    asked = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert asked.count(other) == 1
    assert asked.count(canonical_) == 1
