"""State that is lost beside its WARC files is said to be, and made again of them when that is wanted."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from itertools import chain
from urllib.parse import urlsplit

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, listings, serve
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes import subsites
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.instants import iso
from sharc_crawler.live.failures.exit_codes import INTERRUPTED
from sharc_crawler.live.former.rebuilding import rebuild
from sharc_crawler.live.reading.document import detector_of
from sharc_crawler.model import Kind, Result, Slot
from sharc_crawler.storage.beside import load_state
from tests.live.former.crawls import ended, exchanges_made, finish, killed, revisits_made, visits_made, whole
from tests.live.serving import Answering, serving


def lose_state(folder):
    (folder / "frontier.db").unlink()


def empty_state(folder):
    os.truncate(folder / "frontier.db", 0)


def damage_state(folder):
    text = bytearray((folder / "frontier.db").read_bytes())
    text[100 : len(text) // 2] = random.Random(5).randbytes(len(text) // 2 - 100)
    (folder / "frontier.db").write_bytes(text)


def damage_pages(folder):
    """Deep within: it opens, and cannot be loaded."""
    with sqlite3.connect(folder / "frontier.db") as state:
        state.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = state.execute("SELECT rootpage FROM sqlite_master WHERE name = 'page'").fetchone()
    state.close()
    text = bytearray((folder / "frontier.db").read_bytes())
    text[4096 * (root - 1) : 4096 * root] = random.Random(5).randbytes(4096)
    (folder / "frontier.db").write_bytes(text)


def asked_twice(folder):
    """How many 304s were tested: each is a request more than its visit."""
    return sum(
        not visit.finished and visit.outcome.result is Result.NOT_MODIFIED for visit in load_state(folder).visits
    )


def visited(folder):
    """What is known of each URL: when it was downloaded for good, and what came."""
    state = load_state(folder)
    return Counter(
        (
            state.pages[visit.page].key,
            visit.outcome.result,
            visit.outcome.digest,
            iso(visit.outcome.started),
        )
        for visit in state.visits
        if visit.finished and visit.attempt
    )


def around_reference(state):
    """When the last visit of a page began, and the first revisit: T lies between the two."""
    made = [visit for visit in state.visits if visit.attempt and state.pages[visit.page].kind is Kind.PAGE]
    return (
        max(visit.outcome.started for visit in made if visit.slot is not Slot.SECOND),
        min(visit.outcome.started for visit in made if visit.slot is Slot.SECOND),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "lose", "log"),
    [
        pytest.param(visits_made(12), lose_state, True, marks=pytest.mark.long),
        (visits_made(12), damage_state, False),
        pytest.param(visits_made(12), damage_pages, True, marks=pytest.mark.long),
        pytest.param(revisits_made(6), empty_state, True, marks=pytest.mark.long),
        pytest.param(revisits_made(6), damage_state, True, marks=pytest.mark.long),
        pytest.param(revisits_made(6), lose_state, False, marks=pytest.mark.long),
    ],
)
def test_state_that_is_lost_is_said_to_be_and_made_again_when_that_is_wanted(tmp_path, when, lose, log):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=24, scale=1e-3, slow=0.05)) as server:
        killed(folder, server.url, when)
        before, known = visited(folder), load_state(folder)
        lose(folder)
        for path in folder.glob("frontier.db-*"):
            path.unlink()
        if not log:
            for path in folder.glob("crawl*"):
                path.unlink()
        files = {path.name: path.read_bytes() for path in whole(folder)}
        asked = len(server.log)
        code, out = finish(folder, server.url)
        assert code in (2, 3), out
        assert "resume=rebuild" in out
        assert "Traceback" not in out
        assert len(server.log) == asked, "nothing is fetched"
        assert {path.name: path.read_bytes() for path in whole(folder)} == files, "nothing is touched"
        code, out = finish(folder, server.url, resume="rebuild")
        assert code == 0, out
        requests = len(server.log) - asked
    assert verify(folder).findings == []
    after = visited(folder)
    assert sum((before - after).values()) <= 1, "what had been visited counts as it did"
    (capture,) = load_state(folder).captures.values()
    assert sum("was made again at" in note for note in capture.notes) == 1
    (report,) = json.loads((folder / "report.json").read_text())["captures"]
    assert report["coherence"]["captured"] == 24
    assert report["coherence"]["coherent"] == 24
    missing = sum(after.values()) - sum(before.values()) + asked_twice(folder)
    assert requests <= missing + 2, "no more than was missing is fetched"
    if (told := known.captures[0].reference) is not None:
        first, last = around_reference(known)
        assert first - 0.001 <= capture.reference <= last + 0.001, "after the last visit's start, before any revisit's"
        assert not log or abs(capture.reference - told) < 0.5, "where decisions are told, T is as it was"
    numbers = [json.loads(line)["number"] for line in (folder / "crawl.jsonl").read_text().splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_state_is_made_again_of_the_one_file_that_a_killed_crawl_left_open(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        killed(folder, server.url, visits_made(4), settings=["SHARC_BACK_OFF=0.1"])
        assert [path.suffix for path in whole(folder)] == [".open"], "as of any crawl below a gigabyte"
        for path in folder.glob("frontier.db*"):
            path.unlink()
        # the same command resumes it where it is killed, too
        killed(folder, server.url, visits_made(8), settings=["SHARC_BACK_OFF=0.1"], resume="rebuild")
        code, out = finish(folder, server.url, resume="rebuild")
        again = finish(folder, server.url, resume="rebuild")
    assert code == 0, out
    assert (again[0], "a capture that is complete" in again[1]) == (2, True), again
    assert verify(folder).findings == []
    assert sum("was made again at" in note for note in load_state(folder).captures[0].notes) == 1


@pytest.mark.long
def test_state_is_not_made_again_where_it_can_be_read_or_there_is_nothing_to_make_it_of(tmp_path):
    folder = tmp_path / "capture"
    code, out = finish(folder, "http://127.0.0.1:9/", resume="rebuild")
    assert (code, "holds no WARC files; leave it out to begin" in out) == (2, True), out
    folder.mkdir(exist_ok=True)
    (folder / "frontier.db").write_bytes(bytes(range(256)) * 40)
    code, out = finish(folder, "http://127.0.0.1:9/", resume="rebuild")
    assert (code, "holds no WARC files; choose another folder" in out) == (2, True), out
    lose_state(folder)
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        killed(folder, server.url, visits_made(3))
        code, out = finish(folder, server.url, resume="rebuild")
        assert (code, "can be read; leave it out" in out) == (2, True), out
        lose_state(folder)
        code, out = finish(folder, "http://127.0.0.2:9/", resume="rebuild")
        assert (code, "holds WARC files of" in out, "Traceback" in out) == (2, True, False), out
        code, out = finish(folder, server.url, resume="rebuild")
        assert code == 0, out


OTHERS = {
    "attested": {"strategy": "sharc-attested", "audit": "0.5"},
    "continuous": {"mode": "continuous", "for": "1h", "requests": "360000", "max_requests": "160", "sitemap": "off"},
}


@pytest.mark.long
@pytest.mark.parametrize("log", [True, pytest.param(False, marks=pytest.mark.long)], ids=["log", "no log"])
@pytest.mark.parametrize(
    ("given", "made"),
    [
        pytest.param("attested", 12, marks=pytest.mark.long),
        pytest.param("attested", 30, marks=pytest.mark.long),  # the audit has begun
        ("continuous", 70),  # looks have
    ],
)
def test_the_state_of_other_ways_to_capture_a_site_is_made_again(tmp_path, given, made, log):
    folder, more = tmp_path / "capture", OTHERS[given]
    with serve(LivingSite(seed=5, pages=24, scale=2.0, slow=0.05)) as server:
        killed(folder, server.url, visits_made(made), **more)
        before = visited(folder)
        lose_state(folder)
        for path in () if log else folder.glob("crawl*"):
            path.unlink()
        asked = len(server.log)
        code, out = finish(folder, server.url, resume="rebuild", **more)
        assert code == 0, out
        requests = len(server.log) - asked
    assert verify(folder).findings == []
    after = visited(folder)
    left = before - after
    most = max(made - 23, 1) if given == "attested" else 1  # what came after T is made again
    assert sum(left.values()) <= most, "what had been visited counts as it did"
    assert requests < sum(after.values()) - sum((before & after).values()) + asked_twice(folder) + 3
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    assert capture["coherence"]["captured"] == 24


class OneSitemap(LivingSite):
    """All pages are listed in one sitemap: it is worth reading once more on the way to T."""

    def _listing(self, path, base, now):
        if path != listings.INDEX:
            return super()._listing(path, base, now)
        return listings.sitemap(path, chain(*(self._entries(name, base, now) for name in listings.SITEMAPS.values())))


def sitemaps_read(state):
    return {
        round(visit.outcome.started, 3): visit.slot
        for visit in state.visits
        if visit.finished and state.pages[visit.page].kind is Kind.SITEMAP
    }


@pytest.mark.long
@pytest.mark.parametrize("log", [True, False], ids=["log", "no log"])
def test_the_state_of_a_capture_that_read_the_sitemap_on_the_way_is_made_again(tmp_path, log):
    folder = tmp_path / "capture"
    more = {
        "strategy": "sharc-attested",
        "audit": "0.1",
        "rates": "constant:rate=0.5",
        "delay": "0.1",
    }  # log: a second later
    with serve(OneSitemap(seed=5, pages=130, scale=100.0)) as server:
        killed(folder, server.url, visits_made(75), **more)
        before, known = visited(folder), load_state(folder)
        assert known.captures[0].reference is None
        read = sitemaps_read(known)
        assert [*read.values()] == [Slot.ONLY, Slot.SECOND], "at the start, and after two fifths of the visits"
        lose_state(folder)
        for path in () if log else folder.glob("crawl*"):
            path.unlink()
        code, out = finish(folder, server.url, resume="rebuild", **more)
        assert code == 0, out
    assert verify(folder).findings == []
    after, state = visited(folder), load_state(folder)
    assert not log or sum((before - after).values()) <= 1, "what had been visited counts as it did"
    again = sitemaps_read(state)
    late = len(again) - 3 - log
    assert late in (0, 1), "and at T, and at the end; after four fifths, too, where visits take long by then"
    assert state.captures[0].reference > max(read)
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    assert capture["coherence"]["captured"] == 130
    assert capture["audit"]["lies"] == 0


@pytest.mark.long
@pytest.mark.parametrize("when", [visits_made(66), revisits_made(12)], ids=["half way", "after T"])
def test_the_state_of_a_capture_that_read_the_sitemap_for_second_looks_is_made_again(tmp_path, when):
    folder = tmp_path / "capture"
    with serve(OneSitemap(seed=5, pages=80, scale=100.0)) as server:
        killed(folder, server.url, when)
        before, known = visited(folder), load_state(folder)
        assert len(sitemaps_read(known)) > 1
        lose_state(folder)
        asked = len(server.log)
        code, out = finish(folder, server.url, resume="rebuild")
        assert code == 0, out
        requests = len(server.log) - asked
    assert verify(folder).findings == []
    after, state = visited(folder), load_state(folder)
    assert sum((before - after).values()) <= 1, "what had been visited counts as it did"
    assert requests <= sum(after.values()) - sum(before.values()) + asked_twice(folder) + 2
    told = known.captures[0].reference
    assert told is None or abs(state.captures[0].reference - told) < 0.5


def as_new(one, other):
    """Were they seen at the same time, and may they be there since the same? A log's times are of milliseconds."""
    return abs(one.seen - other.seen) < 0.01 and abs((one.since or 0) - (other.since or 0)) < 0.01


@pytest.mark.long
def test_the_state_of_an_instant_crawl_is_made_again(tmp_path):
    folder = tmp_path / "capture"
    more = {"mode": "instant", "every": "1s", "for": "1h"}
    with serve(LivingSite(seed=5, pages=24, scale=2.0, slow=0.02, news=3600)) as server:
        killed(folder, f"{server.url}news/", visits_made(8), **more)
        before, known = visited(folder), load_state(folder)
        lose_state(folder)
        asked = len(server.log)
        polled = exchanges_made(before.total() + 3)
        code, out = ended(signal.SIGTERM, folder, f"{server.url}news/", polled, resume="rebuild", **more)
        assert code == INTERRUPTED, out
        again = Counter(request.target for request in list(server.log)[asked:])
    after, state = visited(folder), load_state(folder)
    assert sum((before - after).values()) <= 1, (
        "what had been visited counts as it did",
        before - after,
        after - before,
    )
    assert state.captures[0].started <= known.captures[0].started, "what appeared since then is new, as it was"
    news = {row.page: row.url for row in known.pages}
    now = {state.pages[row.page].url: row for row in state.novelties.values()}
    same = [one for page, one in known.novelties.items() if news[page] in now and as_new(one, now[news[page]])]
    late = [one for one in known.novelties.values() if one not in same]
    assert {page.url for page in known.pages if page.page in known.novelties} <= now.keys(), "what was new is known"
    # and since when: of the last polls the log has no line yet, and a WARC record only says when they began
    last = max((one.seen for one in same), default=-math.inf)
    assert last <= min((one.seen for one in late), default=math.inf)
    made = {one.page for one in known.visits}
    done = {urlsplit(news[page]).path for page in known.novelties if page in made}
    assert sum(again[path] for path in done) <= 1, "nothing that was captured is fetched again"


class OneNews(Answering, BaseHTTPRequestHandler):
    """Its sitemap names one page, which is new by its date."""

    def do_GET(self):
        url = f"http://{self.headers['Host']}/new"
        born = datetime.fromtimestamp(time.time() + 5, UTC).isoformat()
        text = {
            "/robots.txt": f"Sitemap: {url}s.xml",
            "/hub": "<html><body>news</body></html>",
            "/news.xml": f"{XMLNS}<url><loc>{url}</loc><n:news><n:publication_date>{born}</n:publication_date></n:news>"
            "</url></urlset>",
            "/new": "<html><body>today's</body></html>",
        }.get(self.path)
        self.answer((text or "").encode(), "text/html", 200 if text else 404)


XMLNS = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:n='x'>"


@pytest.mark.long
def test_the_state_of_an_instant_crawl_whose_first_visit_came_after_other_polls_is_made_again(tmp_path):
    """As on a busy machine, where a strategy is long in the making, and hubs are polled meanwhile."""
    folder = tmp_path / "capture"
    with serving(OneNews) as url:
        more = {"mode": "instant", "every": "0.3s", "for": "1h"}
        code, out = ended(signal.SIGTERM, folder, f"{url}hub", exchanges_made(5), **more)
        assert code == INTERRUPTED, out
    log = folder / "crawl.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (page,) = [line for line in lines if line["kind"] == "page"]
    assert page is not lines[-1], "the hub was polled after it"
    page["decided"] = page["time"] = lines[-1]["time"]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    specs = [row.spec for row in load_state(folder).captures.values()]
    state = rebuild(folder, specs, Politeness(), Parts(), detector_of("content", ()), "now").state
    made = [visit.outcome.result for visit in state.visits if state.pages[visit.page].kind is Kind.PAGE]
    assert made == [Result.OK]


@pytest.mark.long
def test_the_state_of_a_site_that_was_captured_part_by_part_is_made_again(tmp_path, monkeypatch):
    folder, parts = tmp_path / "capture", "path:share=1"
    with serve(LivingSite(seed=5, pages=24, scale=1e-3)) as server:
        code, out = finish(folder, server.url, subsites=parts)
        assert code == 0, out
        before = load_state(folder)
        assert len(before.subsites) > 1
        with monkeypatch.context() as weighed_anew:  # at another pace, say
            weighed_anew.setattr(subsites, "_best", lambda parts, outlook, least: (parts[-1], 0.0))
            specs = [row.spec for row in before.captures.values()]
            made = rebuild(folder, specs, Politeness(), Parts(), detector_of("content", ()), "now").state
        assert [row.name for row in made.subsites.values()] == [row.name for row in before.subsites.values()]
        assert len(made.judgements) == len(before.judgements)
        lose_state(folder)
        asked = len(server.log)
        code, out = finish(folder, server.url, subsites=parts, resume="rebuild")
        assert code == 0, out
        assert len(server.log) - asked < asked / 10, "which part came next is recorded, and not weighed anew"
    after = load_state(folder)
    one, other = before.subsites[0, 0], after.subsites[0, 0]
    assert (one.name, round(one.reference, 3)) == (other.name, round(other.reference, 3))
    assert [row.name for row in after.subsites.values()] == [row.name for row in before.subsites.values()]
    assert judged(after) == judged(before)
    assert verify(folder).findings == []


def judged(state):
    return {state.pages[one.page].url: (one.verdict, one.evidence) for one in state.judgements}
