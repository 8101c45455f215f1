"""A disk that fills up: the crawl pauses, says why, and goes on when there is room; nothing is corrupt or lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.live.writing.space import LEAST
from sharc_crawler.storage.beside import load_state
from tests.live.conftest import captures_of
from tests.live.warm import Scrapy, site_words

SIZE = 12_000_000
LOOK_AGAIN = 1.0
#: ``scrapy``, but it looks again sooner, and says what it sees
SCRAPY = f"""
from scrapy.cmdline import execute
from sharc_crawler.live.writing import space

def seen(self, free=space.Space._free):
    print("free:", found := free(self), flush=True)
    return found

space.LOOK_AGAIN, space.Space.pause.__defaults__, space.Space._free = {LOOK_AGAIN}, ({LOOK_AGAIN},), seen
execute()
"""


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command for a small file system")
    if made.returncode:
        pytest.skip(f"a small file system cannot be mounted: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


SOON = "SHARC_BACK_OFF=0.1"  #: a page that fails at first is tried again

FIRST_STATES = """
import sys
from contextlib import suppress
from pathlib import Path
from sharc_crawler.errors import SharcError
from sharc_crawler.storage.sqlite import SqliteStore

full, other = map(Path, sys.argv[1:])
filler, left = full / "filler", 4 * 4096
while not SqliteStore.holds(full / "state"):
    filler.unlink(missing_ok=True)
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    with filler.open("ab") as file:
        file.truncate(filler.stat().st_size - left)
    left += 4 * 4096
    (full / "state").mkdir(exist_ok=True)
    with suppress(OSError, SharcError):
        SqliteStore(full / "state").close()
filler.unlink()
SqliteStore(other).close()
"""


def test_a_first_state_that_found_no_room_spoils_no_later_one(small_disk, tmp_path):
    words = [sys.executable, "-c", FIRST_STATES, str(small_disk), str(tmp_path)]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    assert load_state(small_disk / "state").captures == {}


@contextmanager
def crawl(disk, url, min_free):
    """``scrapy crawl site`` onto the disk, its output in a file beside it."""
    log = disk.parent / "log"
    (disk.parent / "looks.py").write_text(SCRAPY)
    words = site_words(f"SHARC_MIN_FREE={min_free}", SOON, url=url, output=disk / "capture", delay="0.01")
    with log.open("wb") as out:
        process = Scrapy(words, disk.parent, out=out, program="looks.py")
        try:
            yield process, log
        finally:
            process.kill()
            process.wait()


def wait_for(condition):
    deadline = time.monotonic() + 400
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def fill(disk, leave):
    """A file that takes all room but so many bytes, while the crawl goes on writing; never more."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        while (more := shutil.disk_usage(disk).free - leave) > 0:
            with suppress(OSError):  # the crawl wrote meanwhile: there is less
                os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, more)
    return ballast


def looks(log, least):
    """How often the crawl has seen that so much is free."""
    return sum(int(free) >= least for free in re.findall(r"^free: (\d+)$", log.read_text(), re.MULTILINE))


def pauses(folder):
    """Notes of them, as kept by now."""
    (capture,) = load_state(folder).captures.values()
    return [note for note in capture.notes if note.startswith("the crawl paused")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("min_free", "left"),
    [
        pytest.param(4_000_000, 3_000_000, id="short", marks=pytest.mark.long),
        pytest.param(0, 20_000, id="full"),
    ],
)
def test_the_crawl_pauses_and_goes_on_when_there_is_room(small_disk, min_free, left):
    with serve(LivingSite(seed=5, pages=40, slow=0.05)) as server, crawl(small_disk, server.url, min_free) as running:
        process, log = running
        wait_for(lambda: len(server.log) > 20)
        ballast = fill(small_disk, left)
        wait_for(lambda: "The crawl pauses" in log.read_text())
        if min_free:
            wait_for(lambda: len(pauses(small_disk / "capture")) == 1)  # on disk already: it may be killed
        asked = len(server.log)
        assert process.poll() is None, log.read_text()
        assert len(server.log) <= asked + 1, "nothing is fetched that cannot be kept"
        if not min_free:
            before = looks(log, LEAST // 4)
            os.truncate(ballast, ballast.stat().st_size - LEAST // 2)  # too little room is none
            wait_for(lambda: looks(log, LEAST // 4) > before + 1)
            assert "There is room again" not in log.read_text()
        ballast.unlink()
        assert process.wait(400) == 0, log.read_text()
    text, folder = log.read_text(), small_disk / "capture"
    assert "then it continues" in text
    assert "There is room again" in text
    assert "Traceback" not in text
    state = load_state(folder)
    finished = Counter(visit.page for visit in state.visits if visit.finished)
    assert set(finished) == {row.page for row in state.pages if row.state == 0}
    (capture,) = captures_of(folder)
    assert [note for note in capture["notes"] if note.endswith("its disk had no room")]
    assert all(", for " in note for note in pauses(folder)), "once it is over, how long it was"
    unjudged = [page | {"archived_as": None} for page in capture["pages"] if page["verdict"] is None]
    assert "archived" not in json.dumps(unjudged).replace('"archived_as"', "")
    assert not list(folder.glob("*.open"))
    for warc in folder.glob("*.warc.gz"):
        assert subprocess.run(["gzip", "-t", str(warc)]).returncode == 0
        with warc.open("rb") as stream:
            assert all(
                record.content_stream().read() is not None for record in ArchiveIterator(stream, check_digests="raise")
            )


def test_a_crawl_does_not_begin_where_there_is_no_room(small_disk):
    with crawl(small_disk, "http://127.0.0.1:9/", 2 * SIZE) as (process, log):
        assert process.wait(240) == 2
        assert "SHARC_MIN_FREE=24000000" in log.read_text()
