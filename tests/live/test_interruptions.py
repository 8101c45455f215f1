"""Whatever ends a crawl, the same command resumes it; nothing is lost and little is repeated."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.live.clock import Clock
from sharc_crawler.model import Phase, Result
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.live.conftest import captures_of
from tests.live.warm import Scrapy, finished, site_words

PROFILE = "sharc_crawler.live.profile"
USAGE, INTERRUPTED = 2, 5


def start(folder, url, *settings, **more) -> Scrapy:
    arguments = {"url": url, "output": folder, "delay": "0.01", **more}
    return Scrapy(site_words("SHARC_BACK_OFF=0.1", *settings, **arguments), folder.parent, group=True)


def stop_after(process, server, requests: int, number: int) -> None:
    """Send a signal once the server has answered so many more requests."""
    goal, deadline = len(server.log) + requests, time.monotonic() + 240
    while len(server.log) < goal and process.poll() is None and time.monotonic() < deadline:
        select_nothing(0.005)
    process.send_signal(number)


def select_nothing(seconds: float) -> None:
    """Wait without spinning."""
    import select

    select.select([], [], [], seconds)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.long)])
def test_killed_again_and_again(tmp_path, kills):
    dice = random.Random(3)
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        for _ in range(kills):
            process = start(folder, server.url)
            stop_after(process, server, dice.randrange(5, 35), signal.SIGKILL)
            process.wait(240)  # whoever wrote its files may still be there when the next run begins
        process = start(folder, server.url)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        asked = Counter(request.target for request in server.log)
    state = load_state(folder)
    finished = Counter(visit.page for visit in state.visits if visit.finished)
    assert set(finished) == {row.page for row in state.pages if row.state == 0}, "all that was found was fetched"
    assert max(finished.values()) == 2
    (capture,) = state.captures.values()
    assert 1 <= len(capture.interruptions) <= kills
    stored = Counter()
    for warc in folder.glob("*.warc.gz*"):
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type in ("response", "revisit"):
                    stored[record.rec_headers.get_header("WARC-Target-URI")] += 1
    assert not list(folder.glob("*.open"))
    assert verify(folder).findings == []
    repeated = sum(asked.values()) - sum(finished.values())
    unfinished = sum(not visit.finished for visit in state.visits)
    assert 0 <= repeated <= kills + unfinished, "one request was in flight each time"
    urls = {row.page: row.url for row in state.pages}
    answered = Counter(urls[visit.page] for visit in state.visits if visit.outcome.result is not Result.REFUSED)
    assert answered - stored == Counter(), "what was answered is in the archive; robots.txt refuses one page"


@pytest.mark.long
def test_a_capture_part_by_part_goes_on_in_the_part_in_which_it_was_killed(tmp_path):
    folder = tmp_path / "capture"
    parts = {"subsites": "links", "rates": "constant:rate=0.2"}
    with serve(LivingSite(seed=5, pages=40, slow=0.05)) as server:
        for requests in (25, 70):
            process = start(folder, server.url, **parts)
            stop_after(process, server, requests, signal.SIGKILL)
            process.communicate(timeout=280)
        process = start(folder, server.url, **parts)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    verification = verify(folder)
    assert verification.findings == []
    state = load_state(folder)
    finished = Counter(visit.page for visit in state.visits if visit.finished)
    assert set(finished) == {row.page for row in state.pages if row.state == 0}, "all that was found was fetched"
    assert max(finished.values()) == 2
    (capture,) = captures_of(folder)
    listed = capture["subsites"]
    assert len(listed) > 1, "constant rates of this height cannot be captured together"
    assert len({part["reference"] for part in listed}) == len(listed)
    assert sum(part["coherence"]["captured"] for part in listed) == capture["coherence"]["captured"]
    for part in listed:
        own = [page for page in capture["pages"] if page["subsite"] == part["name"] and page["kind"] == "page"]
        assert all(page["visit"]["started"] <= part["reference"] for page in own if page["verdict"])
        assert all(page["revisit"]["started"] >= part["reference"] for page in own if page["revisit"])
    assert f"in {len(listed)} parts, each at its own instant" in out


def test_ctrl_c_ends_cleanly_with_a_report_and_the_same_command_goes_on(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=40, slow=0.05)) as server:
        process = start(folder, server.url)
        stop_after(process, server, 20, signal.SIGINT)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == INTERRUPTED, out
        (capture,) = captures_of(folder)
        verdicts = Counter(page["verdict"] for page in capture["pages"] if page["kind"] == "page")
        assert verdicts["unknown"] >= 1, "what is in the archive counts as captured"
        assert (
            f"Stopped by Ctrl-C or SIGTERM, not complete: the same command resumes it, with -a output={folder}\n" in out
        )
        other = start(folder, server.url, hops="7")
        err, _ = other.communicate(timeout=280)
        assert other.returncode == USAGE
        assert "begun with hops=50, not 7" in err
        process = start(folder, server.url, strategy="bfs", exclude="docs")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        assert "resumes where it was: " in out
        assert "  interrupted  1 time, for " in out
        assert "interrupt" in (folder / "report.html").read_text().lower()
        (capture,) = captures_of(folder)
        assert {"begun with strategy=sharc-selective", "begun with exclude=(none)"} <= set(capture["notes"])
        missing = [page for page in capture["pages"] if page["reason"] == "excluded by 'docs'"]
        assert len(missing) >= 3, "what was queued is left"
        assert all("docs" in page["url"] for page in missing)
        assert verify(folder).findings == []


class _Hanging(BaseHTTPRequestHandler):
    """A page with a link to one that does not answer before it may."""

    may, asked = threading.Event(), threading.Event()

    def do_GET(self):
        if self.path == "/hang":
            self.asked.set()
            self.may.wait(240)
        body = b"<a href=/hang>x</a>"
        self.send_response(404 if self.path.startswith(("/robots", "/sitemap")) else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM])
def test_a_second_signal_waits_for_nothing_and_the_same_command_goes_on(tmp_path, number):
    folder = tmp_path / "capture"
    _Hanging.may.clear()
    _Hanging.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hanging) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        process = start(folder, url)
        assert _Hanging.asked.wait(240)
        os.killpg(process.pid, number)  # as a terminal does: whoever writes files must hear the crawl, not that
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)  # what is in flight is waited for
        os.killpg(process.pid, number)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == INTERRUPTED, out
        assert f"sharc: stopped; the same command resumes it, with -a output={folder}\n" in out
        _Hanging.may.set()
        process = start(folder, url)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        server.shutdown()
    (capture,) = captures_of(folder)
    assert capture["coherence"]["coherent"] == 2


_HANGING_WRITER = """
import ctypes, os
from sharc_crawler.archive.warc import WarcWriter
class Hanging(WarcWriter):
    def write(self, exchange):
        open("hangs", "w").close()
        ctypes.PyDLL(None).pause()  # no other thread of this process runs meanwhile
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere code that lets no thread run goes on")
@pytest.mark.parametrize(
    "numbers", [[signal.SIGINT, signal.SIGINT], pytest.param([signal.SIGKILL], marks=pytest.mark.long)]
)
def test_a_writer_that_never_returns_ends_with_its_crawl_and_is_named(tmp_path, numbers):
    (tmp_path / "mine.py").write_text(_HANGING_WRITER)
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20)) as server:
        process = start(folder, server.url, "SHARC_WRITER=mine.Hanging")
        while not (tmp_path / "hangs").exists():
            assert process.poll() is None
            select_nothing(0.01)
        for number in numbers:
            with suppress(subprocess.TimeoutExpired):
                process.send_signal(number)
                process.wait(0.5)
        out, _ = process.communicate(timeout=280)  # what it printed ends when its last process does
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == INTERRUPTED, out
            assert "stopped; SHARC_WRITER='mine.Hanging' had not returned, 1 unsaved visit will be retried" in out
            assert f"the same command resumes it, with -a output={folder}\n" in out
        out, _ = (process := start(folder, server.url)).communicate(timeout=280)
        assert process.returncode == 0, out
    assert verify(folder).findings == []


@pytest.mark.long
def test_ctrl_c_while_files_are_finished_is_heard_and_the_same_command_finishes_them(tmp_path):
    folder, file = tmp_path / "capture", tmp_path / "history.db"
    ObservationStore(file).close()
    with serve(LivingSite(seed=5, pages=20)) as server, closing(sqlite3.connect(file, isolation_level=None)) as other:
        process = start(folder, server.url, f"SHARC_HISTORY={file}")
        stop_after(process, server, 1, signal.SIGCONT)
        other.execute("BEGIN IMMEDIATE")  # the writer waits for its turn, at the end
        store = SqliteStore(folder, reading=True)
        while not all(row.phase is Phase.DONE for row in store.captures().values()):
            assert process.poll() is None
            select_nothing(0.01)
        store.close()
        select_nothing(0.5)
        process.send_signal(signal.SIGINT)
        code = process.wait(240)
        other.execute("ROLLBACK")
        out, _ = process.communicate(timeout=280)
        assert code == INTERRUPTED, out
        assert "the same command resumes it" in out
        process = start(folder, server.url, f"SHARC_HISTORY={file}")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    assert verify(folder).findings == []


@pytest.mark.long
def test_ctrl_c_before_the_first_page_ends_as_cleanly(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20)) as server:
        process = start(folder, server.url)
        begun = time.monotonic()
        while not (folder / "frontier.db").exists():
            assert process.poll() is None
            assert time.monotonic() < begun + 240
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == INTERRUPTED, out
        assert "Traceback" not in out
        assert "the same command resumes it" in out
        process = start(folder, server.url)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    assert verify(folder).findings == []


#: ``scrapy``, as Python starts where a shell has closed its streams
CLOSED = """
import os, sys
os.close(0), os.close(1)
sys.stdin = sys.stdout = None
from scrapy.cmdline import execute
execute()
"""


def test_a_crawl_whose_streams_are_closed_is_complete(tmp_path, static):
    (tmp_path / "closed.py").write_text(CLOSED)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<a href=/two.html>two</a>")
    (tmp_path / "site" / "two.html").write_text("two")
    with static(tmp_path / "site") as url:
        done = finished(site_words(url=url, output="capture", delay=0), tmp_path, program="closed.py")
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.lower(), done.stderr
    assert verify(tmp_path / "capture").findings == []


@pytest.mark.long
def test_a_crawl_that_nobody_listens_to_is_complete_all_the_same(tmp_path):
    with serve(LivingSite(seed=5, pages=20)) as server:
        given = ("url=" + server.url, f"output={tmp_path / 'capture'}", "delay=0")
        arguments = " ".join(f"-a '{one}'" for one in given)
        done = subprocess.run(
            f"'{sys.executable}' -m scrapy crawl site {arguments} -s SHARC_BACK_OFF=0.1 <&- >&-",
            shell=True, env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE}, cwd=tmp_path, stderr=subprocess.PIPE,
            timeout=280, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stderr.decode().lower()  # how far it is, where the machine is busy
    assert "error" not in said and "traceback" not in said, said


@pytest.mark.long
def test_killed_before_the_end_was_written_the_same_command_writes_it(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20)) as server:
        out, _ = start(folder, server.url).communicate(timeout=280)
        assert "were in this state together" in out
        asked = len(server.log)
        (folder / ".running").touch()  # what a kill leaves behind, between the last page and the report
        (folder / "report.json").unlink()
        warc = min(folder.glob("*-00000-*.warc.gz"))
        with warc.rename(f"{warc}.open").open("ab") as stream:
            stream.write(b"torn")
        process = start(folder, server.url)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        assert (folder / "report.json").exists()
        assert warc.exists()
        assert not list(folder.glob("*.open"))
        assert len(server.log) == asked, "nothing was left to fetch"
        again = start(folder, server.url)
        out, _ = again.communicate(timeout=280)
        assert again.returncode == USAGE
        assert "complete" in out


def is_writer_of(crawl: int, child: int) -> bool:
    """Crawls of other tests, which come and go, have the same forker."""
    with suppress(OSError):
        return Path(f"/proc/{child}/comm").read_text() == "writer_process\n" and os.getpgid(child) == crawl
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_where_the_process_that_writes_is_killed_the_crawl_goes_on_and_says_so(tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        process = start(folder, server.url)
        deadline = time.monotonic() + 240
        while len(server.log) < 10 and time.monotonic() < deadline:
            select_nothing(0.005)
        forker = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1]
        forked = Path(f"/proc/{forker}/task/{forker}/children").read_text().split()
        (writer,) = (one for one in map(int, forked) if is_writer_of(process.pid, one))
        os.kill(writer, signal.SIGKILL)
        out, _ = process.communicate(timeout=280)
    assert process.returncode == 0, out
    assert out.count("the process that writes WARC files ended (signal 9); restarted. ") == 2, "a note, too"
    (capture,) = captures_of(folder)
    assert sum("No recorded visit is lost" in note for note in capture["notes"]) == 1
    assert verify(folder).findings == []


@pytest.mark.long
def test_a_clock_set_back_between_two_runs_disorders_nothing(tmp_path):
    folder, day = tmp_path / "capture", 86_400
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        process = start(folder, server.url)
        stop_after(process, server, 25, signal.SIGKILL)
        process.communicate(timeout=280)
        with sqlite3.connect(folder / "frontier.db") as db:  # the first run's clock was a day ahead
            db.execute("UPDATE visit SET decided = decided + ?, started = started + ?, ended = ended + ?", (day,) * 3)
            db.execute("UPDATE capture SET started = started + ?", (day,))
        process = start(folder, server.url)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 1, out
        assert "none: the records do not support it" in out, "they bear the true dates: the state alone was altered"
    state = load_state(folder)
    starts = [visit.outcome.started for visit in state.visits]
    assert starts == sorted(starts)
    (capture,) = state.captures.values()
    assert all(before <= after for before, after in capture.interruptions)
    assert any("set back" in note for note in capture.notes)
    firsts = [visit.outcome.started for visit in state.visits if visit.slot == "first"]
    assert max(firsts) <= capture.reference <= min(v.outcome.started for v in state.visits if v.slot == "second")


def test_a_step_of_the_system_clock_moves_nothing_while_a_crawl_runs(monkeypatch):
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert before <= clock.now() < before + 60
    assert clock.until(before + 600) > 500


STOPPED_AS_IT_LOADS = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "scrapy.commands.shell":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
from scrapy.cmdline import execute
execute(["scrapy", "crawl", "site"])
"""


@pytest.mark.slow
def test_ctrl_c_while_modules_are_loaded_is_told_in_a_line(tmp_path):
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE}
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_AS_IT_LOADS], capture_output=True, text=True, cwd=tmp_path, env=environment,
        timeout=240, check=False,
    )  # fmt: skip
    told = "sharc: stopped before it began; give the same command again\n"
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", told)
