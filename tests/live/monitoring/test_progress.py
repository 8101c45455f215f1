"""The progress line."""

from __future__ import annotations

from io import StringIO
from math import inf

import pytest

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.monitoring import progress
from sharc_crawler.live.monitoring.progress import ProgressLine, Snapshot, Speed, line
from sharc_crawler.model import Done, Fetch, Kind, Outcome, Result, Sighting
from sharc_crawler.state.spec import CaptureSpec
from tests.live.monitoring.terminal import Terminal


@pytest.mark.parametrize(
    ("snapshot", "more", "text"),
    [
        (("visit", 300, 30, 0, 570, 570), {"speeds": (3.0, 3.0)}, "visit 30/300 pages, 3.0/s, 0:03:10 left"),
        (("revisit", 300, 300, 60, 180, 180), {"speeds": (3.6, 3.6)}, "revisit 60/240 pages, 3.6/s, 0:00:50 left"),
        (
            ("visit", 300, 30, 0, 570, 570),
            {"speeds": (3.0, 3.0), "paused": "by order"},
            "visit 30/300 pages, paused (by order)",
        ),
        (
            ("visit", 300, 30, 0, 570, 570),
            {"speeds": (3.0, 3.0), "span": (5690.0, inf), "wait": 59.0},
            "visit 30/300 pages, 3.0/s, next request in 0:00:59, 1:34:50 left",
        ),
        (
            ("revisit", 300, 300, 240, 0, 0),
            {"speeds": (3.6, 3.6)},
            "revisit 240/240 pages, 3.6/s, nothing left to download",
        ),
        (
            ("visit", 300, 30, 0, 570, 570),
            {"speeds": (3.0, 3.0), "span": (20.0, 9.0)},
            "visit 30/300 pages, 3.0/s, 0:00:09 left of max_time",
        ),
        (
            ("visit", 300, 30, 0, 570, 570),
            {"speeds": (0.0, 0.0), "span": (20.0, 9.0)},
            "visit 30/300 pages, 0.0/s, 0:00:09 left of max_time",
        ),
    ],
)
def test_the_line_says_phase_share_speed_and_what_is_left(snapshot, more, text):
    assert line(Snapshot(*snapshot), **more) == text


def crawled(**bounds):
    """What was told while a site of 1,000 pages was crawled in virtual time, half a second a request."""
    sites, out, now = Sites(Politeness(delay=0.0)), StringIO(), 0.0
    links = [Sighting(f"http://h.example/{number}") for number in range(1000)]
    sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", sitemaps=(), **bounds), now)
    told = ProgressLine(sites, now, out)
    while not isinstance(one := sites.next(now), Done):
        if isinstance(one, Fetch):
            now += 0.5
            answer = Outcome(Result.OK, now - 0.5, now, 200, digest="sha1:x")
            sites.finished(one, answer, links if one.url.endswith("example/") else ())
        else:
            now = max(now, one.until)
        told.show(now)
    return out.getvalue().splitlines()


def seconds_left(told):
    hours, minutes, seconds = map(int, told.partition(" left")[0].rpartition(", ")[2].split(":"))
    return 3600 * hours + 60 * minutes + seconds


def test_no_more_time_is_foretold_than_the_budget_leaves_and_what_is_dropped_counts_in_no_rate():
    for bounds, ends in (({"max_time": 120.0}, 120.0), ({"max_requests": 240}, 120.0)):
        told = [one for one in crawled(**bounds) if " left" in one and "not known" not in one]
        assert len(told) > 5
        for number, one in enumerate(told, 1):
            assert seconds_left(one) <= ends - 9 * number + 15, one  # a line each 10 s at least
            assert float(one.partition(" pages, ")[2].partition("/s")[0]) < 3.0, one
        assert told[0].endswith(" left of max_time") == ("max_time" in bounds)


def test_what_a_budget_drops_is_not_told_as_visited():
    sites = Sites(Politeness())
    capture = sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", max_requests=9), 0.0).capture
    capture.life.begin()
    capture.owed.first.clear()
    capture.counts.known(999)
    capture.counts.visited(captured=True, pages=4)
    for _ in range(600):  # as where there is no room for them
        capture.counts.dropped += 1
        capture.counts.visited(captured=False)
    assert Snapshot.of(sites).share == "4/400"


def test_on_a_narrow_terminal_it_stays_one_line():
    sites, out = Sites(Politeness()), Terminal()
    sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", sitemaps=()), 0.0)
    line = ProgressLine(sites, 0.0, out)
    for second in range(1, 4):
        line.show(float(second), "its disk has no room")
        (row,) = out.rows
        assert row.startswith("sitemaps 0/1 pages,")
    line.clear()
    assert [row.strip() for row in out.rows] == [""]


def test_a_pause_is_named_and_left_out_of_the_rate():
    frontier, out = Sites(Politeness()), StringIO()
    capture = frontier.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", sitemaps=()), 0.0).capture
    line = ProgressLine(frontier, 0.0, out)
    capture.counts.pages = 1000
    capture.owed.first.clear()
    capture.life.begin()
    for second in range(1, 21):
        capture.counts.visits += 2
        line.show(float(second))
    for second in range(21, 301):
        line.show(float(second), "its disk has no room")
    for second in range(301, 311):
        capture.counts.visits += 2
        line.show(float(second))
    told = out.getvalue().splitlines()
    assert told[1].startswith("visit 40/1000 pages, 2.0/s")
    assert set(told[2:-1]) == {"visit 40/1000 pages, paused (its disk has no room)"}
    assert told[-1].startswith("visit 60/1000 pages, 2.0/s")


def test_the_rate_is_that_of_this_run():
    speed, by_a_former_run = Speed(), 83
    looks = (0, 0), (9, 0), (10, 1), (11, 4)
    assert [speed.at(time, by_a_former_run + made) for time, made in looks] == [0.0, 0.0, 1.0, 2.0]


def test_sitemaps_are_no_phase_once_pages_are_visited():
    """Nothing is left to choose while a page is shown by a browser, and its robots.txt is read anew."""
    frontier = Sites(Politeness())
    spec = CaptureSpec("h", ("http://h.example/",), strategy="bfs:revisits=none", sitemaps=())
    capture = frontier.open(spec, 0.0).capture
    assert Snapshot.of(frontier).phase == "sitemaps"
    frontier.finished(frontier.next(0.0), Outcome(started=0.0, ended=0.1, result=Result.GONE, status=404), ())
    assert isinstance(frontier.next(2.0), Fetch)
    capture.owed.before_visits("h")
    assert Snapshot.of(frontier).phase == "visit"


def test_the_phase_of_many_sites_is_that_of_most_pages():
    frontier = Sites(Politeness())
    slow, *others = (
        frontier.open(CaptureSpec(f"h{k}", (f"http://h{k}.example/",), strategy="bfs", sitemaps=()), 0.0).capture
        for k in range(3)
    )
    for one in others:
        one.counts.pages = 10
        one.owed.first.clear()
        one.life.begin()
    assert Snapshot.of(frontier).phase == "visit", "whose robots.txt is asked for once more holds up one site"
    slow.counts.pages = 99
    assert Snapshot.of(frontier).phase == "sitemaps"


def test_files_and_sitemaps_that_are_left_are_reckoned_by_downloads_not_by_pages():
    """Of 600 files that the last page embeds, no page comes: the speed of pages says nothing of them."""
    sites, out, now = Sites(Politeness(delay=0.0)), StringIO(), 0.0
    pages = [Sighting(f"http://h.example/{number}") for number in range(30)]
    files = [Sighting(f"http://h.example/{number}.png", Kind.RESOURCE) for number in range(600)]
    sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs:revisits=none", sitemaps=()), now)
    told, lines = ProgressLine(sites, now, out), {}
    while not isinstance(one := sites.next(now), Done):
        assert isinstance(one, Fetch)
        now += 0.5
        links = pages if one.url.endswith("example/") else files if one.url.endswith("/29") else ()
        sites.finished(one, Outcome(Result.OK, now - 0.5, now, 200, digest="sha1:x"), links)
        told.show(now)
        lines[now] = told.text(now)
    for then, text in lines.items():
        if 60.0 < then < now - 20.0:
            assert seconds_left(text) == pytest.approx(now - then, rel=0.2), text


def shown(politeness, answers, pages=40, waits=5):
    """The last line of a crawl in virtual time, of a host that answers so: 10 s into a wait."""
    frontier, out = Sites(politeness), StringIO()
    links = [Sighting(f"http://h.example/{number}") for number in range(pages - 1)]
    frontier.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs:revisits=none", sitemaps=()), 0.0)
    line, now, step = ProgressLine(frontier, 0.0, out), 0.0, 0
    while waits:
        decision = frontier.next(now)
        if isinstance(decision, Fetch):
            outcome = Outcome(started=now, ended=now + 0.1, **{"result": Result.OK, "status": 200, **answers(step)})
            frontier.finished(decision, outcome, links if decision.url.endswith("example/") else ())
            step += 1
            line.show(now)
        elif waits := waits - 1:
            now = decision.until
    line.show(now + 10.0)
    return out.getvalue().splitlines()[-1]


def test_the_time_left_knows_the_delay_that_robots_txt_asks_for():
    said = shown(Politeness(), lambda step: {"robots": "User-agent: *\nCrawl-delay: 60"} if step == 0 else {})
    pages, left = said.partition("/40")[0].removeprefix("visit "), said.rpartition(", ")[2]
    least = (40 - int(pages) - 1) * 60
    hours, minutes, seconds = map(int, left.removesuffix(" left").split(":"))
    assert least <= hours * 3600 + minutes * 60 + seconds <= 1.2 * least
    assert "next request in 0:00:50" in said


def test_the_time_left_knows_a_retry_after():
    polite = Politeness(delay=0.0, obey_robots=False, attempts=9)
    busy = {"result": Result.FAILED, "status": 503, "retry_after": 1800.0}
    said = shown(polite, lambda _: busy, pages=1, waits=1)
    assert said == "visit 0/1 pages, 0.0/s, next request in 0:29:50, at least 0:29:50 left"


def test_the_time_left_knows_back_offs():
    polite = Politeness(delay=0.0, obey_robots=False, attempts=9, back_off=600.0)
    said = shown(polite, lambda _: {"result": Result.FAILED, "status": 500}, pages=1, waits=1)
    assert said.endswith("at least 0:09:50 left")


def test_where_robots_txt_is_asked_for_again_nobody_knows_what_is_left():
    """One of two sites is visited meanwhile, so that there is a speed."""
    sites, out = Sites(Politeness(delay=1.0, back_off=60.0)), StringIO()
    for name in ("busy", "other"):
        sites.open(CaptureSpec(name, (f"http://{name}.example/",), strategy="bfs:revisits=none", sitemaps=()), 0.0)
    line, now = ProgressLine(sites, 0.0, out), 0.0
    links = [Sighting(f"http://other.example/{number}") for number in range(20)]
    while now < 40.0:
        decision = sites.next(now)
        if isinstance(decision, Fetch):
            outcome = Outcome(started=now, ended=now + 0.1, result=Result.OK, status=200)
            if "busy" in decision.url:
                outcome = outcome._replace(result=Result.FAILED, status=503)
            sites.finished(decision, outcome, links if decision.url.endswith("other.example/") else ())
        else:
            now += 1.0
            line.show(now)
    told = out.getvalue().splitlines()[-1]
    assert ", at least 0:00:" in told
    assert told.endswith(" left, waits for busy.example: no robots.txt yet, asked for again")


def test_what_the_rest_takes_is_asked_of_all_sites_once_for_each_look(monkeypatch):
    sites, asked = Sites(Politeness()), []
    for name in ("a", "b"):
        sites.open(CaptureSpec(name, (f"http://{name}.example/",), strategy="bfs", sitemaps=()), 0.0)
    monkeypatch.setattr(progress, "at_least", lambda _sites, _left, now: asked.append(now) or 0.0)
    line = ProgressLine(sites, 0.0, StringIO())
    for now in (10.0, 10.5, 20.0):
        line.show(now)  # every tenth second is written
        assert line.text(now) == line.text(now)  # for whoever watches from outside
    assert asked == [10.0, 10.5, 20.0]


@pytest.mark.parametrize("strategy", ["bfs", "bfs:revisits=none"])
def test_urls_to_come_are_counted_alike_on_small_sites_and_large(monkeypatch, strategy):
    sites = Sites(Politeness(delay=0.0, obey_robots=False))
    links = [Sighting(f"http://{host}.example/{number}") for number in range(9) for host in ("h", "www.h")]
    frontier = sites.open(CaptureSpec("h", ("http://h.example/",), strategy=strategy, sitemaps=()), 0.0)
    now, found = 0.0, []
    while isinstance(fetch := sites.next(now), Fetch):
        monkeypatch.setattr(progress, "FEW", 500)
        small = progress._unfinished(frontier)
        monkeypatch.setattr(progress, "FEW", 0)
        assert progress._unfinished(frontier) == small
        found.append(sum(small.values()))
        now += 1.0
        sites.finished(fetch, Outcome(Result.OK, now, now, 200, digest="sha1:x"), links if len(found) == 1 else ())
    assert found[1] >= 17
    assert found[-1] == 1


def test_while_pages_are_still_found_the_time_left_is_no_more_than_the_least():
    sites, out = Sites(Politeness()), StringIO()
    capture = sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs", sitemaps=()), 0.0).capture
    line = ProgressLine(sites, 0.0, out)
    capture.owed.first.clear()
    capture.life.begin()
    for second in range(1, 42):
        capture.counts.pages, capture.counts.visits = min(100 * second, 2000), second
        sites._shared.last = second
        line.show(float(second))
    told = [text.rpartition("/s, ")[2] for text in out.getvalue().splitlines()]
    assert [text.endswith(" left or more: pages are still found") for text in told] == [True, True, False, False]
    assert all(text.endswith(" left") for text in told[2:])


def test_of_a_site_that_is_kept_up_it_says_so_and_how_long_it_will_be():
    sites, now = Sites(Politeness(delay=0.0, obey_robots=False, apart=False)), 0.0
    terms = {"mode": "continuous", "lasts": 900.0, "looks": 400.0}
    sites.open(CaptureSpec("h", ("http://h/",), "sharc-selective", sitemaps=(), **terms), now)
    told, phases = ProgressLine(sites, now, StringIO()), []
    while now < 900.0:
        if isinstance(one := sites.next(now), Fetch):
            outcome = Outcome(Result.OK, now, now + 0.1, 200, digest="sha1:a")
            sites.finished(one, outcome, [Sighting("http://h/1")])
            now += 0.1
        else:
            now = max(one.until, now + 0.001) if one.until < 900.0 else 900.0
        told.show(now)
        phases.append(told.text(now))
    (kept,) = [text for text in phases if text.startswith("kept up: 2 pages, 40 looks, ")][:1]
    assert kept == "kept up: 2 pages, 40 looks, 0:09:09 left", kept
    assert Snapshot.of(sites).phase == "kept up"


def a_hundred_pages() -> tuple[Sites, list[Sighting]]:
    """An open capture without delays, and the links that its seed leads to."""
    sites = Sites(Politeness(delay=0.0, obey_robots=False))
    sites.open(CaptureSpec("h", ("http://h.example/",), strategy="bfs:revisits=none", sitemaps=()), 0.0)
    return sites, [Sighting(f"http://h.example/{number}") for number in range(100)]


def test_a_wait_that_a_host_asks_for_is_no_slowness():
    """Ten pages in a second each, then half an hour; as much is foretold all the while, and after it."""
    sites, links = a_hundred_pages()
    told, asked, foretold, now = ProgressLine(sites, 0.0, StringIO()), 0, [], 0.0
    while asked < 15:
        if isinstance(one := sites.next(now), Fetch):
            asked, now = asked + 1, now + 1.0
            answer = Outcome(Result.OK, now - 1.0, now, 200, digest="sha1:x")
            if asked == 10:
                answer = Outcome(Result.FAILED, now - 1.0, now, 503, retry_after=1800.0)
            sites.finished(one, answer, links if asked == 1 else ())
        else:
            now = min(one.until, now + 1.0)
        told.show(now)
        if now >= 60.0 and (isinstance(one, Fetch) or now % 300.0 == 0.0):
            foretold.append((now, seconds_left(told.text(now))))
    assert len(foretold) > 9
    assert all(left <= max(1810.0 - instant, 0.0) + 180.0 for instant, left in foretold), foretold


def test_short_waits_that_a_host_asks_for_again_and_again_are_its_speed():
    """Of each 20 answers, a second each, one asks for 30 seconds: no less is foretold than it takes, or little."""
    sites, links = a_hundred_pages()
    told, asked, foretold, now = ProgressLine(sites, 0.0, StringIO()), 0, [], 0.0
    while not isinstance(one := sites.next(now), Done):
        if isinstance(one, Fetch):
            asked, now = asked + 1, now + 1.0
            answer = Outcome(Result.OK, now - 1.0, now, 200, digest="sha1:x")
            if asked % 20 == 10:
                answer = Outcome(Result.FAILED, now - 1.0, now, 429, retry_after=30.0)
            sites.finished(one, answer, links if asked == 1 else ())
        else:
            now = min(one.until, now + 1.0)
        told.show(now)
        if asked in (52, 62, 72):
            foretold.append((now, seconds_left(told.text(now))))
    assert foretold
    assert all(left >= 0.75 * (now - at) for at, left in foretold), (now, foretold)
