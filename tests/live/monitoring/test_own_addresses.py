"""A crawl says what makes its addresses, once, with what leaves them out; asked at each doubling, at no other time."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from sharc_crawler.addresses.software import KNOWN
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.monitoring.own_addresses import SAMPLE
from sharc_crawler.live.monitoring.progress import ProgressLine
from sharc_crawler.model import Outcome, Result, Sighting
from sharc_crawler.report.left_out import exclusions
from sharc_crawler.report.next_steps import next_steps
from sharc_crawler.state.spec import CaptureSpec

WIKI = next(one for one in KNOWN if one.name == "MediaWiki")


def growing(own=0.8, rounds=4, others=(), made="index.php?action=history&title=P", **more):
    """A site of which 500 pages more are found in each of the seconds; ``own``: the share of its software's."""
    sites, out = Sites(Politeness(delay=0.0)), StringIO()
    capture = sites.open(
        CaptureSpec("h", ("http://h/",), strategy="bfs:revisits=none", sitemaps=(), **more), 0.0
    ).capture
    for other in others:
        sites.hold(
            sites.open(CaptureSpec(other, (f"http://{other}/",), strategy="bfs", sitemaps=()), 0.0).capture.spec.site
        )
    line, found = ProgressLine(sites, 0.0, out), 0
    for second in range(1, rounds + 1):
        numbers = range(max(found - 100, 0), found := found + 500)  # some of which others have named
        paths = [f"{made}{one}" if one % 10 < 10 * own else f"wiki/P{one}" for one in numbers]
        answer = Outcome(
            started=float(second), ended=second + 0.1, result=Result.OK, status=200, digest=f"sha256:{second}"
        )
        sites.finished(sites.next(float(second)), answer, [Sighting(f"http://h/{path}") for path in paths])
        line.show(float(second))
    return capture, out.getvalue()


def test_it_is_said_once_with_the_very_expression():
    capture, told = growing()
    [note] = [note for note in capture.notes if note.startswith("MediaWiki: ")]
    assert note.startswith(f"MediaWiki: 240 of the {SAMPLE} addresses found last are of its making")
    assert told.count(note) == 1
    assert f"-a exclude='{WIKI.exclude}'\n" in told


def test_addresses_are_known_in_whatever_order_the_site_writes_their_parameters():
    _, told = growing(made="index.php?title=Main&action=history&page=")
    assert "MediaWiki: 240 of the" in told


@pytest.mark.parametrize("more", [{"own": 0.2}, {"exclude": (WIKI.exclude,)}])
def test_nothing_is_said_of_few_or_of_what_is_excluded(more):
    capture, told = growing(**more)
    assert "MediaWiki" not in told
    assert not any("MediaWiki" in note for note in capture.notes)


def test_of_many_sites_it_is_said_which_one_it_is():
    capture, told = growing(others=("a", "b"))
    assert "h: MediaWiki: 240 of the 300" in told
    assert [note for note in capture.notes if note.startswith("MediaWiki: ")]


def test_what_is_excluded_already_stays_so():
    _, told = growing(exclude=("print=",))
    assert f"-a exclude='print=|{WIKI.exclude}'\n" in told


def test_it_is_looked_at_once_for_each_doubling_and_never_on_the_way(monkeypatch):
    asked = []
    module = sys.modules["sharc_crawler.live.monitoring.own_addresses"]
    monkeypatch.setattr(module, "recognised", lambda urls: asked.append(len(urls)))
    growing(rounds=17)
    assert asked == [SAMPLE] * 4, "at 501, 1,501, 3,501 and 7,501 pages: not fewer than twice as many as before"


def test_the_report_has_a_next_step_until_it_is_excluded():
    capture, _ = growing(rounds=1)
    ended = {"ended": None, "reference": None}
    report = {"times": ended, "coherence": {}, "settings": {}, "seeds": ["http://h/"], "notes": capture.notes}
    assert next_steps(report)[1].command == f"-a exclude='{WIKI.exclude}'"
    assert "The same command resumes without them" in next_steps(report)[1].words
    assert "A new capture leaves them out" in next(exclusions(report | {"times": {"ended": 1.0}}))[0]
    assert len(next_steps(report | {"settings": {"exclude": f"print=, {WIKI.exclude}"}})) == 1
