"""``sharc keep``: a real collection over loopback, kept by a process of its own, which is killed on its way."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.confirming import waits
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.collection import confirming, keeper
from sharc_crawler.collection.attempts import LOCK, NAME, Tries, hold_collection, read_tries, write_tries
from sharc_crawler.collection.folder import CollectedCapture, Collection, is_over
from sharc_crawler.collection.keeper import CollectionKeeper, KeptSite, kept_sites, moved_to
from sharc_crawler.collection.terms import FILE
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Kind, Outcome, Result
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.collection.forked import forked
from tests.frontier.cut_off import run_answered
from tests.live import warm
from tests.live.conftest import static  # noqa: F401

QUICKLY = "settings: {SHARC_BACK_OFF: '0.2', SHARC_ATTEMPTS: '1'}\n"


#: the command, but it looks again each second for what somebody else had running, and its processes are forked
KEEP = """
from types import SimpleNamespace
from sharc_crawler.cli import main
from sharc_crawler.collection import keeper
from tests.collection.forked import forked
keeper.LOOK, keeper.subprocess = 1.0, SimpleNamespace(Popen=forked, DEVNULL=None)
main()
"""


def keeping(folder, *options):
    (folder.parent / "keep.py").write_text(KEEP)
    env = {**os.environ, "PYTHONPATH": str(warm.ROOT), warm.SHARED: str(warm._forker()[1])}
    return warm.Scrapy(["keep", str(folder), *options], folder.parent, env, group=True, program="keep.py")


def refused(folder):
    """It ends before it keeps anything: no process is needed."""
    done = CliRunner().invoke(main, ["keep", str(folder)])
    return done.exit_code == 2


def once(folder):
    """As ``sharc keep --once``: what is due is captured, by processes; what is said of it."""
    said = []
    with hold_collection(folder):
        CollectionKeeper(folder, 1, said.append).run(once=True)
    return "\n".join(said)


def until(what, seconds=240):
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


@pytest.fixture
def warmed(monkeypatch):
    for module in (keeper, confirming):
        monkeypatch.setattr(module, "subprocess", SimpleNamespace(Popen=forked, DEVNULL=None))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


@pytest.mark.slow
def test_sites_are_captured_when_they_are_due_and_a_kill_loses_nothing(folder):
    with (
        serve(LivingSite(seed=6, pages=20, scale=1.0, slow=0.02)) as one,
        serve(LivingSite(seed=7, pages=20, scale=1.0, slow=0.02)) as two,
    ):
        terms = f"{QUICKLY}defaults: {{delay: 0.05, every: 4s}}\nsites:\n- {{url: '{one.url}', name: one}}\n"
        (folder / FILE).write_text(f"{terms}- {{url: '{two.url}', name: two, every: 1d}}\n- https://c.example/: no\n")
        assert refused(folder)
        (folder / FILE).write_text(f"{terms}- {{url: '{two.url}', name: two, every: 1d}}\n")
        process = keeping(folder, "--at-once", "2")
        collection = Collection(folder)
        until(lambda: len(list(collection.captures("one"))) == 1 and list(collection.captures("two")))
        assert refused(folder), "it is kept already"
        process.kill()
        process.communicate()
        process = keeping(folder)
        until(lambda: sum(is_over(one.folder) for one in collection.captures("one")) >= 2)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0, said
    assert len(list(collection.captures("two"))) == 1, "due once a day; what was cut off went on"
    captures = [one.folder for one in collection.captures("one") if is_over(one.folder)]
    assert [verify(last, captures).findings for last in captures] == [[]] * len(captures)
    starts = [one.time for one in collection.captures("one")]
    assert all(later - earlier >= 4 for earlier, later in pairwise(starts))


@pytest.mark.usefixtures("warmed")
def test_a_failing_site_rests_and_somebody_is_told(folder, tmp_path):
    told = tmp_path / "told.txt"
    script = tmp_path / "tell.py"
    script.write_text(f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read())")
    (folder / FILE).write_text(
        f"{QUICKLY}notify: {sys.executable} {script}\n"
        "sites:\n- {url: 'http://127.0.0.1:9/', name: gone, every: 1h, delay: 0}\n"
    )
    once(folder)
    tries = read_tries(folder)["gone"]
    assert (tries.failures, tries.code) == (1, 4)
    assert "gone of" in told.read_text() and "exit code 4: not captured 1 × robots.txt" in told.read_text()
    (site,) = kept_sites(Collection(folder))
    assert 800 < site.due - time.time() < 1000, "it goes on after a quarter of an hour"
    once(folder)
    assert read_tries(folder)["gone"].failures == 1, "it rests"
    status = CliRunner().invoke(main, ["keep", str(folder), "--status", "--json"])
    assert json.loads(status.output)[0]["failures"] == 1
    shown = CliRunner().invoke(main, ["keep", str(folder), "--status"]).output
    assert "failed 1 ×" in shown
    assert "not complete, goes on in" in shown


@pytest.mark.long
@pytest.mark.usefixtures("warmed")
def test_a_site_that_is_hardly_there_any_more_is_told_of(folder, tmp_path, static):  # noqa: F811
    site = tmp_path / "site"
    site.mkdir()
    for name in ("index", "a", "b", "c", "d"):
        (site / f"{name}.html").write_text(name + "".join(f"<a href={one}.html>{one}</a>" for one in "abcd"))
    with static(site) as url:
        site_terms = f"sites:\n- {{url: '{url}', name: s, every: 1s, delay: 0, sitemap: off}}\n"
        (folder / FILE).write_text(f"{QUICKLY}keep: {{all: 1s}}\n{site_terms}")
        once(folder)
        once(folder)
        (first, second) = Collection(folder).captures()
        for name in ("index", *"abcd"):
            (site / f"{name}.html").write_text("<form>Log in")
        said = once(folder)
        assert f"{second.folder} is thinned out" in said
        assert "s: shrunk: Its last capture has 1 page, each content counted once, the one before had 5" in said
        for name in "abcd":
            (site / f"{name}.html").unlink()
        said = once(folder)
    assert "s: shrunk: Its last capture has 1 page, the one before had 5" in said
    left = [one.folder for one in Collection(folder).captures()]
    assert len(left) == 3 and left[0] == first.folder, "others refer to the first; the second held nothing of its own"
    assert verify(left[2], left[:2]).findings == []


def test_a_site_that_is_captured_at_another_address_since_its_last_capture_is_told_once(tmp_path):
    def answered(fetch, now):
        moved = {"location": "http://b.example/"} if fetch.url == "http://a.example/" else {}
        gone = fetch.kind is Kind.ROBOTS
        result = Result.REDIRECTED if moved else Result.GONE if gone else Result.OK
        return Outcome(result, now, now, 301 if moved else 404 if gone else 200, f"sha1:{fetch.url}", **moved), ()

    frontier = Frontier(Politeness(delay=0.0), MemoryStore())
    capture = frontier.open(CaptureSpec("a.example", ("http://a.example/",)), 1e9)
    run_answered(frontier, 1e9, 99, answered)
    folders = [tmp_path / name for name in "abc"]
    for folder, notes in zip(folders, ([], capture.notes, capture.notes), strict=True):
        folder.mkdir()
        (folder / "report.json").write_text(json.dumps({"captures": [{"notes": list(notes)}]}))
    told = [moved_to(folders[:1]), moved_to(folders[:2]), moved_to(folders[1:])]
    assert told == ["", "http://b.example/", ""]


def test_a_log_in_page_after_a_failure_is_held_against_the_last_capture_with_pages(folder, monkeypatch):
    (folder / FILE).write_text("sites: [{url: 'http://a.example/', name: a}]\n")
    made = [CollectedCapture("a", float(number), folder / str(number)) for number in range(3)]
    for capture, pages in zip(made, (9, 0, 1), strict=True):
        capture.folder.mkdir()
        report = {"captures": [{"notes": [], "coherence": {"captured": pages}}]}
        (capture.folder / "report.json").write_text(json.dumps(report))
    monkeypatch.setattr(Collection, "captures", lambda *_: iter(made))
    said = []
    keeper = CollectionKeeper(folder, 1, said.append)
    keeper._captured("a", failures=1)
    assert "a: shrunk: Its last capture has 1 page, the one before had 9" in said[0]
    assert not said[1:], "it does not work again"
    tries = Tries(0.0, 1, 4, "not captured 1 × redirects to http://a.example/login")
    one = KeptSite(keeper._collection.terms.sites[0], None, None, Tries(), 0.0, unfinished=False, running=False)
    monkeypatch.setattr(CollectionKeeper, "_kept_sites", lambda _: [one])
    assert keeper._failure_text("a", tries).endswith("It may ask for a log-in.")


def test_a_capture_that_was_over_when_it_was_told_to_stop_is_complete(folder):
    (folder / FILE).write_text("sites: [{url: https://a.example/, name: a, every: 1d}]")
    said = []
    keeper = CollectionKeeper(folder, 1, said.append)
    keeper.stopping = True
    keeper._record_result("a", -2)
    place = keeper._collection.capture_folder("a", time.time() - 9)
    place.mkdir(parents=True)
    (place / ".running").touch()
    keeper._record_result("a", 5)
    assert said == ["a: stopped; it goes on another time"] * 2
    (place / ".running").unlink()
    (place / "frontier.db").write_text("over, as nothing goes on from it")
    keeper._record_result("a", 5)
    assert said[2] == "a: complete"
    keeper._over["a"] = place  # it is of before
    keeper._record_result("a", -2)
    assert said[-1] == "a: stopped; it goes on another time"
    second = keeper._collection.capture_folder("a", time.time())
    second.mkdir(parents=True)
    (second / ".running").touch()
    (second / "frontier.db").write_text("begun")
    keeper._record_result("a", 5)
    assert said[4:] == ["a: stopped; it goes on another time"], "the one before was over, this one is not"


@pytest.mark.usefixtures("warmed")
def test_a_damaged_history_is_told_with_the_way_out_and_the_service_goes_on(folder):
    (folder / FILE).write_text("sites: [{url: 'http://127.0.0.1:9/', name: a, every: auto}]\n")
    (folder / "history.db").write_bytes(b"garbage" * 999)
    said = once(folder)
    assert "cannot be opened as an observation store" in said
    assert f"the captures still tell all of it: sharc collection add {folder}-anew {folder}/captures/*/*" in said
    assert "failed 1 ×" in CliRunner().invoke(main, ["keep", str(folder), "--status"]).output
    assert not (folder / "captures").exists()


@pytest.mark.parametrize("damage", ["{", "[]", '{"a": [1]}', '{"a": {"ended": "x", "failures": "y"}}'])
def test_a_damaged_diary_says_nothing(folder, damage):
    (folder / NAME).write_text(damage)
    assert read_tries(folder) == {}


def test_a_service_that_can_write_nothing_down_tells_rests_and_goes_on(folder):
    (folder / FILE).write_text(f"{QUICKLY}sites: [{{url: 'http://127.0.0.1:9/', name: a, every: 1h, delay: 0}}]\n")
    (folder / NAME).mkdir()
    (folder / "logs").touch()
    said = []
    keeper = CollectionKeeper(folder, 1, said.append)
    keeper.run(once=True)
    keeper.run(once=True)
    text = "\n".join(said)
    assert text.count("a: failed (exit code 2): it cannot be begun") == 1, "then it rests"
    assert "what came of it cannot be written down" in text
    assert "1 failure in a row; the last with exit code 2: it cannot be begun" in text


def test_what_is_wrong_with_one_site_keeps_no_other(folder):
    """Its log was moved meanwhile, its store is of a module that nobody named, its certificate is none."""
    (folder / FILE).write_text("sites: [{url: https://a.example/, every: 1d}, {url: https://b.example/, every: 1d}]")
    collection, said = Collection(folder), []
    CollectionKeeper(folder, 1, said.append)._record_result("a.example", 1)
    assert "a.example: failed (exit code 1): it said nothing" in said[0]
    place = collection.capture_folder("a.example", time.time() - 60)
    place.mkdir(parents=True)
    (place / "frontier.db").write_text("of another store")
    (place / ".store").write_text("nowhere.Store")
    (place / "certificate.json").write_text('{"format": "sharc-certificate"}')
    assert [(one.site.name, one.unfinished) for one in kept_sites(collection)] == [
        ("a.example", True),  # the crawl says why it cannot go on
        ("b.example", False),
    ]
    assert waits(place) is None


def test_two_at_once_are_refused(folder):
    with hold_collection(folder), pytest.raises(UsageError, match="is kept by another `sharc keep` already"):
        hold_collection(folder)


def test_a_capture_that_the_clock_dated_ahead_puts_no_other_off(folder):
    (folder / FILE).write_text("sites: [{url: https://a.example/, name: a, every: 1d}]")
    collection, now = Collection(folder), time.time()

    def captured(time):
        place = collection.capture_folder("a", time)
        place.mkdir(parents=True)
        (place / "frontier.db").write_text("damaged, so it is over: nothing goes on from it")
        return place.name

    ahead = captured(now + 30 * 86_400)
    (one,) = kept_sites(collection)
    assert (one.last.folder.name, one.due) == (ahead, 0.0)
    shown = CliRunner().invoke(main, ["keep", str(folder), "--status"]).output
    assert "of the future" in " ".join(re.sub(r"[│\s]+", " ", shown).split())
    write_tries(folder, {"a": Tries(now + 30 * 86_400, 1, 1, "failed")})
    (one,) = kept_sites(collection)
    assert one.due <= now, "a failure that the clock dated ahead, too"
    write_tries(folder, {})
    made = captured(now - 60)
    (one,) = kept_sites(collection)
    assert one.last.folder.name == made
    assert now < one.due < now + 86_400


def test_a_clock_that_is_set_back_keeps_nothing_waiting(folder, monkeypatch):
    """It was two hours ahead when the service looked last."""
    (folder / FILE).write_text("sites: [{url: https://a.example/, name: a, every: 1d}]")
    kept, looks, ahead = CollectionKeeper(folder, 1, print), [], [7_200.0]
    monkeypatch.setattr(keeper, "LOOK", 0.05)
    monkeypatch.setattr(keeper, "ROUND", 0.01)
    monkeypatch.setattr(keeper, "time", SimpleNamespace(
        time=lambda now=time.time: now() + ahead[0], monotonic=time.monotonic, sleep=time.sleep
    ))  # fmt: skip

    def begin(found):
        looks.append(len(list(found)))
        ahead[0] = 0.0
        kept.stopping = len(looks) == 3
        return set()

    monkeypatch.setattr(kept, "_begin", begin)
    timer = threading.Timer(30, setattr, (kept, "stopping", True))  # if it waits
    timer.start()
    kept.run(once=False)
    timer.cancel()
    assert looks == [1, 1, 1]


def test_what_is_due_begins_where_a_service_runs_and_no_second_one_is_offered(folder):
    (folder / FILE).write_text("sites: [{url: 'http://127.0.0.1:9/', name: a, every: 1d}]\n")
    shown = [CliRunner().invoke(main, ["keep", str(folder), "--status"]).output]
    with hold_collection(folder):
        shown.append(CliRunner().invoke(main, ["keep", str(folder), "--status"]).output)
    begins, offered = "due now: begins, or waits for its turn", f"sharc keep {folder}"
    assert [("due now" in said, begins in said, offered in said) for said in map(_in_line, shown)] == [
        (True, False, True),
        (True, True, False),
    ]


def _in_line(said):
    """Without the breaks of a table that is narrow."""
    return " ".join(said.split())


def test_a_folder_that_cannot_be_written_to_is_said(folder):
    (folder / LOCK).mkdir()
    with pytest.raises(UsageError, match="cannot be written to: Is a directory"):
        hold_collection(folder)


def test_what_cannot_be_kept_is_said(folder):
    (folder / FILE).write_text("sites: [https://a.example/]")
    done = CliRunner().invoke(main, ["keep", str(folder)])
    assert (done.exit_code, "has every" in done.output) == (2, True)
    (folder / FILE).write_text("sites: [{url: https://a.example/, every: often}]")
    done = CliRunner().invoke(main, ["keep", str(folder)])
    assert done.exit_code == 2
    assert "sites[1].every='often' is no duration" in done.output


def test_intervals_below_an_hour_are_said_before_anything_else(folder, monkeypatch):
    """m is minutes, whoever meant months."""
    monkeypatch.setattr(CollectionKeeper, "run", lambda _, once: None)
    sites = "{url: https://a.example/, every: 12m}, {url: https://b.example/, every: yearly}"
    (folder / FILE).write_text(f"sites: [{sites}]")
    done = CliRunner().invoke(main, ["keep", str(folder)])
    assert done.output.startswith("a.example: a capture every 12 min\nNext: ")
    told = CliRunner().invoke(main, ["keep", str(folder), "--status"]).output
    assert "12 min" in told
    assert "365 days" in told


@pytest.mark.long
@pytest.mark.usefixtures("warmed")
def test_provisional_claims_are_confirmed_when_they_are_due(folder):
    with serve(LivingSite(seed=8, pages=20, scale=1e-3, slow=0.01)) as site:  # however long it takes, nothing changes
        for lag in (4, 16, 64, 256):  # on a busy machine a capture's last reading may be so late
            given = f"strategy: sharc-attested, lag: {lag}s, delay: 0.02, every: 1s"
            (folder / FILE).write_text(f"{QUICKLY}sites:\n- {{url: '{site.url}', name: one, {given}}}\n")
            once(folder)
            capture = list(Collection(folder).captures())[-1].folder
            if left := waits(capture):
                break
        assert left, (capture / "report.json").read_text()
        (folder / FILE).write_text(f"{QUICKLY}sites:\n- {{url: '{site.url}', name: one}}\n")
        until(lambda: left.due <= time.time(), 400)
        assert "is confirmed" in once(folder)
    found = verify(capture)
    assert found.findings == []
    assert found.confirmations[0]["confirmed"] > 0
    assert once(folder) == "", "nothing is due, no site is asked"


@pytest.mark.long
@pytest.mark.usefixtures("warmed")
def test_a_sitemap_that_is_as_before_is_in_each_capture(folder):
    """What is claimed by its lastmods is verified without the former captures."""
    with serve(LivingSite(seed=8, pages=20, scale=1e-3)) as site:
        given = "strategy: sharc-attested, lag: 256s, delay: 0, every: 1s"
        (folder / FILE).write_text(f"{QUICKLY}sites:\n- {{url: '{site.url}', name: one, {given}}}\n")
        for number in (1, 2):
            until(lambda number=number: once(folder) is not None and len(list(Collection(folder).captures())) == number)
    found = verify(list(Collection(folder).captures())[-1].folder)
    assert found.findings == []
    assert found.claims


@pytest.mark.usefixtures("warmed")
def test_a_site_that_has_moved_is_told_with_its_new_address(folder):
    class Moved(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(404 if self.path == "/robots.txt" else 301)
            self.send_header("Location", f"http://moved.invalid{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Moved) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        (folder / FILE).write_text(f"{QUICKLY}sites: [{{url: '{url}', name: a, every: 1h, delay: 0, sitemap: off}}]\n")
        said = once(folder)
        server.shutdown()
    assert "If the site has moved to http://moved.invalid/, give that as its url in collection.yaml" in said


LOADING = """
import time
print("it is being loaded", flush=True)
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.slow
def test_a_crawl_that_is_being_loaded_ends_with_its_keeper(tmp_path, monkeypatch):
    """Of 116 crawls that were sent SIGINT in their first 0.4 s, two had not ended after 15 s."""
    (tmp_path / "scrapy").mkdir()
    (tmp_path / "scrapy" / "__init__.py").touch()
    (tmp_path / "scrapy" / "__main__.py").write_text(LOADING)
    (tmp_path / FILE).write_text("sites: [{url: 'http://127.0.0.1:9/', every: 30d}]\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    kept = CollectionKeeper(tmp_path, 1, lambda _: None)
    runs = threading.Thread(target=kept.run, kwargs={"once": False}, daemon=True)
    runs.start()
    for _ in range(600):
        if any(log.stat().st_size for log in tmp_path.glob("logs/*.log")):
            break
        time.sleep(0.1)
    (process,) = kept._running.values()
    kept.stopping = True
    runs.join(20)
    process.kill()
    assert process.wait() == -signal.SIGTERM
