"""What is taken in of what is named, and what is left and listed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sharc_crawler.frontier import admission
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Result, Sighting, Slot
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


def steps(call, path: Path) -> int:
    """Steps of Python that a module makes in a call."""
    made = 0

    def trace(frame, event, _):
        nonlocal made
        if frame.f_code.co_filename != str(path):
            return None
        frame.f_trace_opcodes = True
        made += event == "opcode"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(former)
    return made


def test_a_link_that_is_known_costs_no_step_of_its_own(world, impolite):
    """A page names hundreds, and half of them are on every page."""
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    links = [page(str(number)) for number in range(400)]
    assert frontier.schedule(links, world.now) == 400
    path = Path(admission.__file__)
    few, many = (steps(lambda some=some: frontier.schedule(some, world.now), path) for some in (links[:20], links))
    assert 0 < few == many


@pytest.mark.parametrize(
    "first", [Sighting(ROOT + "post", key=ROOT + "post?form=1"), Sighting(ROOT + "a.png", Kind.RESOURCE)]
)
def test_links_of_several_kinds_are_found_again_each_by_its_key(world, impolite, first):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    links = [first, page("1"), page("2", lastmod=5.0), page("3")]
    assert frontier.schedule(links, world.now) == 4
    known = len(frontier.pages)
    assert frontier.schedule(links[::-1], world.now) == 0
    assert frontier.schedule([], world.now) == 0
    assert len(frontier.pages) == known
