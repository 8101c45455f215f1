"""RFC 9309, clause by clause."""

from __future__ import annotations

import gzip
from contextlib import suppress
from itertools import pairwise

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.links.robots import MAX_AGE, rules_of
from sharc_crawler.links.robots_rules import CUT, RobotsRules, noted
from sharc_crawler.links.robots_text import MAX_BYTES, robots_text
from sharc_crawler.model import Kind, Result, Sighting, Wait
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import LATENCY

HOST = "http://h.example"


def allows(text: str, path: str, agent: str = "sharc-crawler") -> bool:
    return RobotsRules(text, agent, f"{HOST}/robots.txt").allows(HOST + path)


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        # 2.2.1: the group of our product token, in any case; several such groups are one; else that of *; else all
        ("User-agent: sharc-crawler\nDisallow: /a", "/a", False),
        ("User-agent: SHARC-Crawler\nDisallow: /a", "/a", False),
        ("User-agent: other\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /a\n\nUser-agent: sharc-crawler\nDisallow: /b", "/a", True),
        ("User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /b", "/a", False),
        ("User-agent: sharc-crawler\nDisallow: /a\n\nUser-agent: sharc-crawler\nDisallow: /b", "/b", False),
        ("User-agent: sharc-crawler\nDisallow: /a\n\nUser-agent: sharc-crawler\nDisallow: /b", "/a", False),
        ("User-agent: x\nUser-agent: sharc-crawler\nDisallow: /a", "/a", False),
        ("", "/a", True),
        ("Disallow: /a", "/a", True),
        # 2.2.2: the longest match counts; of equal ones Allow; paths are case-sensitive; nothing matches: allowed
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("User-agent: *\nAllow: /example/page/\nDisallow: /example/page/no.gif", "/example/page/", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /A", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /a", "/ab", False),
        # 2.2.2: percent-encoded octets compare with what they stand for
        ("User-agent: *\nDisallow: /foo?baz=http%3A%2F%2Ffoo.bar", "/foo?baz=http%3A%2F%2Ffoo.bar", False),
        ("User-agent: *\nDisallow: /foo/bar/\u30c4", "/foo/bar/%E3%83%84", False),
        ("User-agent: *\nDisallow: /foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", False),
        ("User-agent: *\nDisallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
        # 2.2.3: # begins a comment, $ ends a path, * is any number of characters
        ("User-agent: * # all\nDisallow: /a # not this\n# nor\nDisallow: /b", "/b", False),
        ("User-agent: *\nDisallow: /*.gif$", "/a/b.gif", False),
        ("User-agent: *\nDisallow: /*.gif$", "/a/b.gif?x", True),
        ("User-agent: *\nDisallow: /this/*/exactly", "/this/is/exactly", False),
        # 2.2.4: other records do not break a group
        ("User-agent: *\nSitemap: http://h.example/s.xml\nDisallow: /a", "/a", False),
        ("User-agent: *\nCrawl-delay: 3\nDisallow: /a", "/a", False),
        # 2.3.1.5: what can be parsed is used; any line ends
        ("<html>\nUser-agent: *\nnonsense\nDisallow /x\nDisallow: /a\n\0", "/a", False),
        ("User-agent: *\rDisallow: /a\r", "/a", False),
        ("  user-AGENT :*\r\n  disallow  :  /a  \r\n", "/a", False),
    ],
)
def test_rules(text, path, allowed):
    assert allows(text, path) is allowed


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nRequest-rate: 1/10s", 10.0),
        ("User-agent: *\nRequest-rate: 4/1m", 15.0),
        ("User-agent: *\nCrawl-delay: 3\nRequest-rate: 1/10s", 10.0),
        ("User-agent: other\nCrawl-delay: 3", 0.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
        ("User-agent: *\nCrawl-delay: -5", 0.0),
        ("User-agent: *\nRequest-rate: 0/1s", 0.0),
    ],
)
def test_delays(text, delay):
    assert RobotsRules(text, "sharc-crawler", f"{HOST}/robots.txt").delay == delay


def test_byte_order_mark_encoding_and_size():
    assert not allows(robots_text(b"\xef\xbb\xbfUser-agent: *\nDisallow: /a")[0], "/a")
    assert not allows(robots_text(b"User-agent: *\nDisallow: /\xff\nDisallow: /a")[0], "/a")
    start, cut = b"User-agent: *\nDisallow: /early\n", b"Disallow: /cut/here\n"
    filler = b"# filler\n" * 60_000
    text, _ = robots_text(start + filler[: MAX_BYTES - len(start) - 11] + b"\n" + cut)
    assert not allows(text, "/early")
    assert allows(text, "/x"), "a line that the limit cuts is left out, not taken for a shorter one"
    assert len(text) <= MAX_BYTES + len(f"{CUT}\n")


def test_of_a_long_robots_txt_sitemaps_are_read_behind_its_rules_and_a_note_says_so():
    late = b"Disallow: /late\nSitemap: /map.xml # main\nsitemap: /other"
    text, _ = robots_text(b"User-agent: *\nDisallow: /a\n" + b"# x\n" * 200_000 + late)
    rules = rules_of(text, "sharc", "http://h/robots.txt")
    assert (rules.allows("http://h/late"), rules.allows("http://h/a")) == (True, False)
    assert rules.sitemaps == ("http://h/map.xml", "http://h/other")
    said = "http://h/robots.txt is longer than 500 KiB: rules behind these are not obeyed (RFC 9309 asks for no more)"
    assert noted("http://h/robots.txt", text) == said
    packed, _ = robots_text(gzip.compress(b"# x\n" * 200_000 + late), [b"gzip"])
    assert rules_of(packed, "sharc", "http://h/robots.txt").sitemaps == rules.sitemaps
    cut_off, _ = robots_text(b"# x\n" * 262_140 + b"Sitemap: /part-of-a-na")
    assert not rules_of(cut_off, "sharc", "http://h/robots.txt").sitemaps, "where the connection was closed"


def test_rules_that_could_not_be_had_are_asked_for_again_also_within_a_second(world):
    frontier = Frontier(Politeness(delay=0.01, back_off=0.05))
    capture = frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=()), world.now)
    world.answers[f"{HOST}/robots.txt"] = [
        {"result": Result.FAILED, "status": 500},
        {"result": Result.OK, "robots": ""},
    ]
    world.run(frontier)
    assert [fetch.attempt for _, fetch in world.requests if fetch.kind is Kind.ROBOTS] == [1, 2]
    assert capture.counts.captured == 1


@pytest.mark.parametrize(("asked", "attempts"), [(50.0, 2), (50.5, 1)])
def test_rules_of_a_host_that_asks_for_a_pause_are_asked_for_again_up_to_the_longest(world, asked, attempts):
    frontier = Frontier(Politeness(delay=0.01, longest_pause=50.0))
    frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=()), world.now)
    world.answers[f"{HOST}/robots.txt"] = [{"result": Result.FAILED, "status": 503, "retry_after": asked}]
    world.run(frontier)
    assert sum(fetch.kind is Kind.ROBOTS for _, fetch in world.requests) == attempts


def test_where_it_leads_to_what_must_not_be_asked_nothing_is_fetched(world):
    """A redirect to a private address: nobody has read the rules."""
    away = "http://10.0.0.9/robots.txt"
    frontier = Frontier(Politeness(delay=0.01))
    capture = frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=()), world.now)
    world.answers[f"{HOST}/robots.txt"] = [{"result": Result.REDIRECTED, "status": 302, "location": away}]
    world.answers[away] = [{"result": Result.REFUSED, "status": None, "error": "a private address"}]
    assert {fetch.kind for fetch in world.run(frontier)} == {Kind.ROBOTS}
    assert any("could not be read (a private address)" in note for note in capture.notes)


def test_a_304_that_was_not_asked_for_brings_no_rules(world):
    frontier = Frontier(Politeness(delay=0.01))
    capture = frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=()), world.now)
    world.answers[f"{HOST}/robots.txt"] = [{"result": Result.NOT_MODIFIED, "status": 304}]
    assert {fetch.kind for fetch in world.run(frontier)} == {Kind.ROBOTS}
    assert any("could not be read (status 304)" in note for note in capture.notes)


SLOW = Politeness(delay=MAX_AGE / 8, back_off=1.0, longest_pause=MAX_AGE, max_delay=MAX_AGE - 1)


def days(world, answers, store=None):
    """A capture that takes days, of a host whose robots.txt is answered so."""
    world.links[f"{HOST}/"] = [Sighting(f"{HOST}/{number}") for number in range(20)]
    world.answers[f"{HOST}/robots.txt"] = answers
    frontier = Frontier(SLOW, store)
    spec = CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=())
    return frontier, frontier.open(spec, world.now)


def refusals(store):
    return {visit.outcome.error for visit in store.load().visits if visit.outcome.result is Result.REFUSED}


def rules(text):
    return {"result": Result.OK, "status": 200, "robots": text}


def test_rules_are_read_again_after_a_day(world):
    """2.4: not used for more than 24 hours."""
    slow = MAX_AGE / 4
    store = MemoryStore()
    answers = [rules(""), *[rules(f"User-agent: *\nDisallow: /17\nCrawl-delay: {slow}")] * 90]
    frontier, capture = days(world, answers, store)
    world.run(frontier)
    reads = [at for at, fetch in world.requests if fetch.kind is Kind.ROBOTS]
    assert len(reads) >= 3
    for at, _ in world.requests:
        assert at - max(read for read in reads if read <= at) <= MAX_AGE + 1
    late = [(at, fetch.url) for at, fetch in world.requests if at > reads[1]]
    assert not [url for _, url in late if url == f"{HOST}/17"], "the new rules hold"
    assert all(later[0] - earlier[0] >= slow - 1e-6 for earlier, later in pairwise(late)), "and the new delay"
    assert capture.life.ended is not None
    keys = [row.key for row in store.load().pages if row.kind is Kind.ROBOTS]
    assert len(set(keys)) == len(keys) == len(reads), "each reading is a row of its own"
    assert keys[0] == f"robots:{HOST}/robots.txt"
    assert refusals(store) == {"robots.txt disallows it"}
    assert not capture.left_out.reasons, "these are pages of the capture that were not captured, not links left aside"


@pytest.mark.parametrize(("after", "kind"), [(MAX_AGE - 0.5, Kind.PAGE), (MAX_AGE, Kind.ROBOTS)])
def test_rules_are_a_day_old_when_a_day_is_over(world, after, kind):
    frontier = Frontier(Politeness(delay=0.0))
    frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs", sitemaps=()), world.now)
    fetch = frontier.next(world.now)
    frontier.finished(fetch, world.answer(fetch)._replace(ended=world.now + 0.5))
    assert frontier.next(world.now + 0.5 + after).kind is kind


@pytest.mark.parametrize("status", [500, 503, None])
def test_rules_that_cannot_be_read_again_hold_on(world, status):
    """2.4: unless the file is unreachable."""
    failed = {"result": Result.FAILED, "status": status}
    frontier, capture = days(world, [rules("User-agent: *\nDisallow: /7"), *[failed] * 90])
    world.run(frontier)
    fetched = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert f"{HOST}/7" not in fetched
    assert len(fetched) == 20
    assert capture.life.ended is not None


@pytest.mark.parametrize("cut", range(1, 60, 3))
def test_reading_them_again_outlasts_a_restart(world, cut):
    store = MemoryStore()
    frontier, _ = days(world, [rules("")] * 90, store)
    try:
        world.run(frontier, most=cut)
    except AssertionError:
        frontier.next(world.now)  # cut off while it is under way
        frontier = Frontier(SLOW, store)
        frontier.restore(store.load(), world.now)
        world.run(frontier)
    assert frontier.done
    assert len({fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}) == 21


UNREACHABLE = {"result": Result.FAILED, "error": "refused"}
RESET = {"result": Result.FAILED, "error": "reset"}
MOVED = {"result": Result.REDIRECTED, "status": 301, "location": f"{HOST}/rules.txt"}
CLOSED = rules("User-agent: *\nDisallow: /7")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([UNREACHABLE] * 90, "robots.txt could not be read (refused)"),
        ([MOVED] * 90, "robots.txt could not be read (reset)"),
        ([CLOSED, *[UNREACHABLE] * 90], "robots.txt disallows it"),
        ([UNREACHABLE, CLOSED, *[UNREACHABLE] * 90], "robots.txt disallows it"),
    ],
)
@pytest.mark.parametrize("cut", [1, 3, 5, 6, 8, 12, 20])
def test_why_pages_are_not_fetched_outlasts_a_restart(world, answers, reason, cut):
    store = MemoryStore()
    world.answers[f"{HOST}/rules.txt"] = [RESET] * 90
    frontier, _ = days(world, answers, store)
    with suppress(AssertionError):  # cut off
        world.run(frontier, most=cut)
    frontier = Frontier(SLOW, store)
    frontier.restore(store.load(), world.now)
    world.run(frontier)
    capture = frontier.capture
    assert capture.life.ended is not None
    assert refusals(store) == {reason}


def test_a_delay_is_changed_on_the_way(world):
    world.robots = {"h.example": "User-agent: *\nCrawl-delay: 5"}
    world.links[f"{HOST}/"] = [Sighting(f"{HOST}/{number}") for number in range(30)]
    frontier = Frontier(Politeness(delay=1.0, hosts={"other.example": 2.0}))
    frontier.open(CaptureSpec("h", (f"{HOST}/",), strategy="bfs:revisits=none", sitemaps=()), world.now)
    with pytest.raises(AssertionError):
        world.run(frontier, most=20)
    for delay, expected in ((20.0, 20.0), (1.0, 5.0)):
        frontier.change_delay(delay)
        first = len(world.requests) + 1
        with pytest.raises(AssertionError):
            world.run(frontier, most=10)
        gaps = [later[0] - earlier[0] for earlier, later in pairwise(world.requests[first:])]
        assert gaps
        assert all(abs(gap - expected) < 0.1 for gap in gaps), "never below what robots.txt asks for"
    assert frontier.ledger.politeness.delay_of("other.example") == 2.0


@pytest.mark.parametrize(("rest", "after"), [(0, 1.0), (60, 60.0 + LATENCY)])
def test_a_changed_delay_counts_from_the_last_request_and_cuts_no_pause_short(world, rest, after):
    """One that was ordered by mistake is taken back at once; what a server asked for is not."""
    seed, busy = f"{HOST}/", {"result": Result.FAILED, "status": 503, "retry_after": float(rest)}
    world.answers[seed] = [busy] if rest else []
    world.links[seed] = [Sighting(f"{HOST}/{number}") for number in range(3)]
    frontier = Frontier(Politeness(delay=1e6, obey_robots=False))
    frontier.open(CaptureSpec("h", (seed,), strategy="bfs:revisits=none", sitemaps=()), world.now)
    assert world.step(frontier)
    asked = world.requests[0][0]
    wait = frontier.next(world.now)
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(asked + 1e6)
    frontier.change_delay(1.0)
    frontier.change_delay(1.0)
    wait = frontier.next(world.now)
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(asked + after)
    world.run(frontier)
    assert world.now < asked + 100, "and no wait of before holds up the end"


@pytest.mark.parametrize("asked", ["Crawl-delay: 1000000000", "Request-rate: 1/86400", "Crawl-delay: 1e99"])
def test_a_host_that_asks_for_too_long_a_delay_is_left_out_with_a_note(world, asked):
    store = MemoryStore()
    frontier, capture = days(world, [rules(f"User-agent: *\n{asked}")], store)
    fetched = world.run(frontier)
    assert [fetch.kind for fetch in fetched] == [Kind.ROBOTS]
    assert world.now - fetched[0].decided < 2 * SLOW.delay, "nor does anything wait"
    (note,) = [note for note in capture.notes if "SHARC_MAX_DELAY=86399" in note]
    assert "s between two requests" in note
    assert note.endswith("nothing on it is fetched")
    (reason,) = refusals(store)
    assert reason.startswith("robots.txt asks for ")
    again = Frontier(SLOW, MemoryStore())
    again.restore(store.load(), world.now)
    assert not again.ledger.hosts[0].allows(f"{HOST}/1"), "known after a restart, too"


@pytest.mark.parametrize("asked", ["nan", "-inf"])
def test_a_delay_that_is_no_number_is_none(asked):
    assert RobotsRules(f"User-agent: *\nCrawl-delay: {asked}", "sharc", HOST).delay == 0.0


def test_many_pages_that_are_closed_are_told_so_by_portions(world, monkeypatch):
    """A sitemap may name 50,000 of them, and nothing else happens meanwhile."""
    monkeypatch.setattr("sharc_crawler.frontier.frontier.MAX_REFUSED", 10)
    world.robots = {"h.example": "User-agent: *\nDisallow: /closed"}
    named = [Sighting(f"{HOST}/closed/{number}") for number in range(35)]
    world.links = {f"{HOST}/sitemap.xml": [*named, Sighting(f"{HOST}/open")]}
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.open(CaptureSpec("h", (f"{HOST}/",), sitemaps=(f"{HOST}/sitemap.xml",), strategy="bfs"), world.now)
    closed, written = [0], {0}
    while world.step(frontier):
        closed.append(frontier.pages.states.count(State.LOST))
        written.add(sum(not visit.attempt for visit in store.load().visits))
    assert closed[-1] == 35
    assert max(then - before for before, then in pairwise(closed)) == 10
    assert written >= {0, 10, 20, 30, 35}, "each portion is written"
    assert f"{HOST}/open" in {fetch.url for _, fetch in world.requests}
