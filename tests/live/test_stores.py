"""Stores as plug-ins, that of docs/stores.md among them, and their owners: real crawls, in processes of their own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.changes.masks import as_json
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import DataError
from sharc_crawler.live.writing.writer_process import Writers
from sharc_crawler.model import CaptureRef
from sharc_crawler.storage.beside import load_state
from sharc_crawler.testing.stores import FrontierStoreContract
from tests import docs_files
from tests.live.warm import SHARC, Scrapy, finished, site_words

USAGE, INTERRUPTED = 2, 5
LinesStore = docs_files.module("stores.md", "lines_store.py").LinesStore


class TestLinesStore(FrontierStoreContract):
    kind = LinesStore


@pytest.fixture
def installed(tmp_path):
    """The environment of a machine on which the third party's package is installed."""
    place = tmp_path / "site-packages"
    docs_files.install("stores.md", place)
    return {**os.environ, "PYTHONPATH": str(place), "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}


def start(environment, folder, url, *settings):
    words = site_words("SHARC_BACK_OFF=0.1", *settings, url=url, output=folder, delay=0.01)
    return Scrapy(words, folder.parent, environment)


def after(server, requests, process):
    goal, deadline = len(server.log) + requests, time.monotonic() + 240
    while len(server.log) < goal and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def sharc(environment, *arguments):
    return finished([*map(str, arguments)], Path.cwd(), environment, program=SHARC)


@pytest.mark.slow
def test_a_third_partys_store_is_crawled_with_killed_gone_on_with_and_reported_from(installed, tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20, slow=0.05)) as server:
        for requests in (8, 15):
            process = start(installed, folder, server.url, "SHARC_STORE=lines")
            after(server, requests, process)
            process.kill()
            process.communicate(timeout=280)
        refused = start(installed, folder, server.url)
        out, _ = refused.communicate(timeout=280)
        assert refused.returncode == USAGE, out
        assert "sharc: error: " in out
        assert "give SHARC_STORE=lines" in out
        process = start(installed, folder, server.url, "SHARC_STORE=lines")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        assert "resumes where it was: " in out
        assert "  interrupted  " in out
    assert not (folder / "frontier.db").exists()
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    assert capture["coherence"]["captured"] == 20
    assert verify(folder).findings == []
    (folder / "report.json").unlink()
    assert sharc(installed, "report", folder).returncode == 0
    assert json.loads((folder / "report.json").read_text())["captures"][0]["coherence"] == capture["coherence"]
    log = sharc(installed, "log", folder).stdout.splitlines()
    written = (folder / "crawl.jsonl").read_text().splitlines()
    assert [json.loads(line)["offset"] for line in log] == [json.loads(line)["offset"] for line in written]
    unknown = sharc(dict(os.environ), "log", folder)
    assert unknown.returncode == USAGE, "where it is not installed"
    assert "store='lines' is not known" in unknown.stderr


@pytest.mark.slow
def test_a_crawl_whose_state_another_has_taken_over_writes_and_asks_nothing_more(installed, tmp_path):
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=40, slow=0.05)) as server:
        process = start(installed, folder, server.url, "SHARC_STORE=lines")
        after(server, 10, process)
        LinesStore(folder)
        state, asked = (folder / "state.lines").read_bytes(), len(server.log)
        out, _ = process.communicate(timeout=280)
        assert process.returncode != 0, out
        assert "is another crawl's by now" in out
        assert "Traceback" not in out
        assert len(server.log) <= asked + 2, "one was on its way"
    assert (folder / "state.lines").read_bytes().startswith(state)
    assert not (folder / "report.json").exists()


def test_of_two_crawls_begun_at_once_with_one_output_one_goes_on(tmp_path):
    folder = tmp_path / "capture"
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    with serve(LivingSite(seed=5, pages=20, slow=0.2)) as server:
        both = [start(environment, folder, server.url) for _ in range(2)]
        told = {one.communicate(timeout=280)[0]: one.returncode for one in both}
    assert sorted(told.values()) == [0, USAGE], told
    refused = next(out for out, code in told.items() if code == USAGE)
    errors = [line for line in refused.splitlines() if line.startswith("sharc: error: ")]
    assert len(errors) == 1
    assert "is being written by another crawl" in errors[0]
    assert "Traceback" not in refused
    assert verify(folder).findings == []


def test_state_that_is_kept_nowhere_is_reported_from_all_the_same(tmp_path, crawl):
    with serve(LivingSite(seed=5, pages=20)) as server:
        done = crawl(url=server.url, delay="0.01", settings=["SHARC_STORE=memory"])
    assert done.code == 0, done.err
    assert done.capture["coherence"]["captured"] == 20
    assert verify(done.folder).findings == []
    assert not (done.folder / "frontier.db").exists()


def test_a_store_that_is_not_known_is_named_with_the_nearest(tmp_path, crawl):
    done = crawl(url="http://127.0.0.1:9/", settings=["SHARC_STORE=sqlit"])
    assert done.code == USAGE
    assert "SHARC_STORE" in done.err
    assert "did you mean 'sqlite'" in done.err


def test_other_detectors_and_writers_are_named_by_settings(tmp_path, crawl):
    (tmp_path / "mine.py").write_text(
        "from sharc_crawler.archive.warc import WarcWriter\n"
        "class Numbered(WarcWriter):\n"
        "    def write(self, exchange):\n"
        "        with open('written', 'a') as file:\n"
        "            file.write(exchange.url + '\\n')\n"
        "        return super().write(exchange)\n"
        "class Size:\n"
        "    def fingerprint(self, body, media_type):\n"
        "        return f'size {len(body)}'\n"
    )
    settings = ["SHARC_WRITER=mine.Numbered", "SHARC_DETECTOR=mine.Size"]
    with serve(LivingSite(seed=5, pages=20)) as server:
        done = crawl(url=server.url, delay="0.01", settings=settings)
    assert done.code == 0, done.err
    assert verify(done.folder).findings == []
    state = load_state(done.folder)
    sizes = {v.outcome.fingerprint for v in state.visits if state.pages[v.page].kind == "page" and v.outcome.digest}
    assert len(sizes) > 1
    assert all(size.startswith("size ") for size in sizes if size)
    assert server.url in (tmp_path / "written").read_text()


@pytest.mark.slow
def test_careless_stores_and_writers_are_named(tmp_path, crawl):
    (tmp_path / "mine.py").write_text(
        "from sharc_crawler.archive.warc import WarcWriter\n"
        "from sharc_crawler.storage.sqlite import SqliteStore\n"
        "class Silent(WarcWriter):\n"
        "    def write(self, exchange, packed=None):\n"
        "        return None if 'robots' in exchange.url else super().write(exchange, packed)\n"
        "class Forgetful(SqliteStore):\n"
        "    def urls(self, capture):\n"
        "        raise KeyError(capture)\n"
    )
    with serve(LivingSite(seed=5, pages=20)) as server:
        done = crawl(url=server.url, delay="0.01", settings=["SHARC_WRITER=mine.Silent", "SHARC_STORE=mine.Forgetful"])
    assert "SHARC_STORE='mine.Forgetful' raised KeyError: 0 (in urls). That is a fault of this plug-in" in done.err
    assert "The crawl stops: SHARC_WRITER='mine.Silent' answered with NoneType, not CaptureRef." in done.err
    assert (done.code, "Traceback" in done.err) == (INTERRUPTED, False), done.err


FAILING = """
from sharc_crawler.archive.warc import WarcWriter
class Writer:
    def __init__(self, *given):
        self._made = WarcWriter(*given)
    def stored(self):
        return self._made.stored()
    def close(self):
        self._made.close()
    def write_revisit(self, exchange, original):
        return self._made.write_revisit(exchange, original)
    def write(self, exchange):
        return {write}
    def sync(self):
        {sync}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "sync", "said"),
    [
        ("1 / 0", "self._made.sync()", "raised ZeroDivisionError: division by zero"),
        ("str(self._made.write(exchange))", "self._made.sync()", "answered with str, not CaptureRef"),
        ("self._made.write(exchange)", "raise OSError('of its own')", "raised OSError: of its own"),
    ],
)
@pytest.mark.matrix
def test_a_writer_that_fails_stops_the_crawl_and_no_site_is_blamed(tmp_path, crawl, write, sync, said):
    (tmp_path / "mine.py").write_text(FAILING.format(write=write, sync=sync))
    with serve(LivingSite(seed=5, pages=20)) as server:
        done = crawl(url=server.url, delay="0.01", settings=["SHARC_WRITER=mine.Writer"])
        assert f"The crawl stops: SHARC_WRITER='mine.Writer' {said}. That is a fault of this plug-in." in done.err
        assert (done.code, "Traceback" in done.err, "had failed" in done.out) == (INTERRUPTED, False, False), done.err
        assert "being written by another" not in done.err
        again = crawl(url=server.url, delay="0.01")
    assert (again.code, verify(done.folder).findings) == (0, []), again.err


LOSING = """
import dataclasses
from sharc_crawler.storage.sqlite import SqliteStore
class Losing(SqliteStore):
    done = False
    def commit(self, batch):
        if {when}:
            batch, self.done = dataclasses.replace(batch, {what}), {once}
        super().commit(batch)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"when": "len(batch.visits) == 1 and batch.visits[0].page > 9 and not self.done", "what": "visits=[]"},
            "lost what was committed: 1 visit of http://",
        ),
        (
            {"when": "any(row.ended for row in batch.captures.values())", "what": "captures={}"},
            "lost what was committed: that capture 0 is done (in captures)",
        ),
    ],
)
def test_a_store_that_loses_rows_is_named_and_nothing_is_called_complete(tmp_path, crawl, changes, says):
    (tmp_path / "mine.py").write_text(LOSING.format(once=True, **changes))
    with serve(LivingSite(seed=5, pages=20)) as server:
        done = crawl(url=server.url, delay="0.01", settings=["SHARC_STORE=mine.Losing"])
        assert f"SHARC_STORE='mine.Losing' {says}" in done.err
        assert (done.code, "Traceback" in done.err) == (INTERRUPTED, False), done.err
        (tmp_path / "mine.py").write_text("from sharc_crawler.storage.sqlite import SqliteStore as Losing\n")
        again = crawl(url=server.url, delay="0.01", settings=["SHARC_STORE=mine.Losing"])
        assert "fault of sharc-crawler" not in again.err
        if again.code:
            again = crawl(url=server.url, delay="0.01", resume="rebuild", settings=["SHARC_STORE=mine.Losing"])
    assert (again.code, verify(done.folder).findings) == (0, []), again.err


@pytest.mark.parametrize(
    "ref",
    [CaptureRef("a.warc", 7.0, 5), CaptureRef("../a.warc", 7, 5), CaptureRef("a.warc", 7, -1), CaptureRef("", 0, 1)],
)
def test_a_place_that_is_none_is_a_fault_of_its_writer(tmp_path, ref):
    writers = Writers(str(tmp_path), "run", dict.fromkeys(("software", "operator", "robots", "strategy"), ""), {}, None)
    assert writers.checked(CaptureRef("a.warc", 7, 5))
    said = r"SHARC_WRITER='.*' answered with \(.*\), not with a name without a folder, and whole"
    with pytest.raises(DataError, match=said):
        writers.checked(ref)


def test_what_makes_no_detector_is_named_and_what_breaks_at_the_start_is_shown(tmp_path, crawl):
    (tmp_path / "mine.py").write_text(
        "class Bare:\n"
        "    def fingerprint(self, body, media_type):\n"
        "        return None\n"
        "class Needy(Bare):\n"
        "    def __init__(self, more):\n"
        "        pass\n"
        "class Broken(Bare):\n"
        "    def __init__(self):\n"
        "        raise RuntimeError('of its own')\n"
        "class Writer:\n"
        "    def __init__(self, folder):\n"
        "        pass\n"
        "class Lacking:\n"
        "    def __init__(self, *given):\n"
        "        pass\n"
        "    def write(self, exchange):\n"
        "        pass\n"
    )
    (tmp_path / "wreck.py").write_text("raise RuntimeError('of its own')\n")
    (tmp_path / "masks.json").write_text(json.dumps(as_json([])))
    url = "http://127.0.0.1:9/"
    needy = crawl(url=url, settings=["SHARC_DETECTOR=mine.Needy"])
    assert (needy.code, "SHARC_DETECTOR='mine.Needy' does not make a detector: TypeE" in needy.err) == (
        USAGE,
        True,
    )
    bare = crawl(url=url, masks="masks.json", settings=["SHARC_DETECTOR=mine.Bare"])
    assert (bare.code, "one that knows no masks goes without masks=" in bare.err) == (USAGE, True)
    other = crawl(url=url, settings=["SHARC_DETECTOR=json.JSONDecoder"])
    assert (other.code, "make a detector: AttributeError: 'JSONDecoder' object has no" in other.err) == (USAGE, True)
    broken = crawl(url=url, dry_run="1", settings=["SHARC_DETECTOR=mine.Broken"])
    assert (broken.code, "not make a detector: RuntimeError: of its own" in broken.err) == (USAGE, True)
    for port, said in (("STORE", "is no store: it lacks captures"), ("WRITER", "cannot be imported")):
        none = crawl(url=url, dry_run="1", settings=[f"SHARC_{port}=mine.{'Bare' if port == 'STORE' else 'Absent'}"])
        assert (none.code, said in none.err) == (USAGE, True)
    lacking = crawl(url=url, settings=["SHARC_WRITER=mine.Lacking"])
    said = "SHARC_WRITER='mine.Lacking' is no writer: it lacks close, stored, sync, write_revisit ("
    assert (lacking.code, said in lacking.err) == (USAGE, True)
    short = crawl(url=url, settings=["SHARC_WRITER=mine.Writer"])
    assert (short.code, "makes no writer of folder, site, run, info, options, former: too many" in short.err) == (
        USAGE,
        True,
    )
    wreck = crawl(url=url, settings=["SHARC_DETECTOR=wreck.Detector"])
    assert (wreck.code, "cannot be imported: wreck cannot run: of its own" in wreck.err) == (USAGE, True)


def test_a_module_that_a_folder_alone_names_is_not_run(tmp_path):
    (tmp_path / "theirs.py").write_text("open('run', 'w').close()\nclass Store: pass\n")
    folder = tmp_path / "capture"
    folder.mkdir()
    (folder / ".store").write_text("theirs.Store\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    for words in (["report", "capture"], ["log", "capture"], ["package", "capture"]):
        done = finished(words, tmp_path, environment, program=SHARC)
        assert done.returncode == USAGE, done.stderr
        assert "if it is yours, set SHARC_STORE=theirs.Store" in done.stderr
    crawl = finished(site_words(url="http://127.0.0.1:9/", output=folder), tmp_path, environment)
    assert crawl.returncode == USAGE, crawl.stderr
    assert not (tmp_path / "run").exists()
    finished(["report", "capture"], tmp_path, {**environment, "SHARC_STORE": "theirs.Store"}, program=SHARC)
    assert (tmp_path / "run").exists(), "its owner says so"
