"""Sitemaps read once more for ``sharc confirm``."""

from __future__ import annotations

import os
import signal
import socket
import time

import pytest

from sharc_crawler.demo import LivingSite, serve
from tests.live.warm import Scrapy, finished

AGAIN = """
import sys
from pathlib import Path
from sharc_crawler.errors import SharcError
from sharc_crawler.live.setup.survey import read_again
capture = {"seeds": [sys.argv[1]], "settings": {"scope": "host"}}
try:
    read_again(capture, Path(sys.argv[2]), ["SHARC_OPERATOR=crawls@library.example"])
except SharcError as error:
    print(error)
"""


@pytest.mark.slow
def test_stopped_it_says_so_and_not_that_there_was_no_sitemap(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(120)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        (tmp_path / "again.py").write_text(AGAIN)
        process = Scrapy([url, str(tmp_path / "reading")], tmp_path, program="again.py")
        asked, _ = silent.accept()  # for robots.txt, which never comes
        process.send_signal(signal.SIGTERM)
        time.sleep(1)  # heard by then, mostly; else it asks once more, and waits until that has taken too long
        asked.close()
        said = process.communicate(timeout=300)[0]
    assert f"{url}: stopped before the sitemaps were read again; the same command begins anew" in said


def test_a_disk_that_takes_no_state_is_named_in_a_line(tmp_path):
    """``ulimit -f`` does what a full disk does."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))"
    (tmp_path / "again.py").write_text(AGAIN.replace("try:", f"{limit}\ntry:"))
    done = finished(["http://127.0.0.1:9/", str(tmp_path / "reading")], tmp_path, program="again.py")
    assert "reading': the state cannot be kept there: File too large; mend that" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


COUNTING = """
from sharc_crawler.rates.sources import HistoryRates
learned = []
HistoryRates._estimate = lambda *_: learned.append(1)
"""


@pytest.mark.slow
def test_no_rates_are_learned_of_pages_that_nobody_visits(tmp_path, static):
    (folder := tmp_path / "site").mkdir()
    with static(folder) as url:
        (folder / "robots.txt").write_text(f"Sitemap: {url}sitemap.xml\n")
        pages = (f"<url><loc>{url}{n}</loc><lastmod>2026-01-{n:02}</lastmod></url>" for n in range(1, 20))
        namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        (folder / "sitemap.xml").write_text(f"<urlset {namespace}>{''.join(pages)}</urlset>")
        (tmp_path / "again.py").write_text(f"{COUNTING}{AGAIN}print('learned:', len(learned))\n")
        done = finished([url, str(tmp_path / "reading")], tmp_path, program="again.py")
    assert list((tmp_path / "reading").glob("*.warc.gz")), done.stdout + done.stderr
    assert "learned: 0" in done.stdout


@pytest.mark.slow
def test_no_want_of_room_for_a_crawl_holds_it_up(tmp_path):
    """What it keeps is small."""
    crowded = f"from sharc_crawler.live.profile import *\nSHARC_MIN_FREE = {10**18}\n"
    (tmp_path / "crowded.py").write_text(f"{crowded}SHARC_ALLOWED_ADDRESSES = '127.0.0.0/8'\n")
    (tmp_path / "again.py").write_text(AGAIN)
    env = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crowded", "PYTHONPATH": str(tmp_path)}
    with serve(LivingSite(seed=3, pages=20)) as server:
        process = Scrapy([server.url, str(tmp_path / "reading")], tmp_path, env, program="again.py")
        said = process.communicate(timeout=280)[0]
    assert process.returncode == 0, said
    assert list((tmp_path / "reading").glob("*.warc.gz")), said
