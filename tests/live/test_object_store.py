"""A crawl whose capture lies in an object store: what counts is there whatever happens to the machine."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.storage.beside import load_state
from sharc_crawler.watch.tally import read_status
from tests.live.warm import PROFILE, SHARC, Scrapy, finished, site_words
from tests.object_store import object_store


def scrapy(store, folder, url, objects, **more):
    words = site_words("SHARC_BACK_OFF=0.1", url=url, output=folder, objects=objects, delay="0.02", **more)
    env = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE, **store.environment}
    return Scrapy(words, folder.parent, env, group=True)


def until(server, requests, process):
    deadline = time.monotonic() + 240
    while len(server.log) < requests and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()[0]


def beats(folder, process):
    """The crawl looked for orders twice: it runs, and could have asked for something."""
    for _ in range(2):
        before = read_status(folder)
        while read_status(folder) in (before, {}) and process.poll() is None:
            time.sleep(0.02)


@pytest.mark.slow
def test_nothing_that_counts_is_on_the_machine_alone(tmp_path):
    folder, lost, back = (tmp_path / name for name in ("capture", "lost", "back"))
    with object_store(tmp_path / "s3") as store, serve(LivingSite(seed=5, pages=30, slow=0.02)) as server:
        objects = store.url("captures/one")
        process = scrapy(store, folder, server.url, objects)
        until(server, 12, process)
        with store.away():  # it waits, and loses nothing
            beats(folder, process)
            asked = len(server.log)
            beats(folder, process)
            assert len(server.log) <= asked + 1, "nothing is asked for while what came is not safe"
        until(server, asked + 12, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        shutil.copytree(folder, lost)
        _fetched(store, objects, back)
        counted = [visit.outcome.capture for visit in load_state(lost).visits if visit.outcome.capture]
        assert len(counted) > 12
        for ref in counted:
            assert (back / ref.file).stat().st_size >= ref.offset + ref.length
        other = scrapy(store, tmp_path / "other", server.url, objects)
        out, _ = other.communicate(timeout=280)
        assert other.returncode == 2, out
        assert "sharc fetch" in out
        process = scrapy(store, folder, server.url, objects)
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        shutil.rmtree(folder)
        shutil.rmtree(back)
        _fetched(store, objects, back)
    assert verify(back).findings == []
    assert not list(back.glob("*.part-*"))
    assert (back / "report.html").exists()


@pytest.mark.slow
@pytest.mark.long
def test_a_lost_machine_s_capture_goes_on_in_its_store_once_it_was_fetched(tmp_path):
    folder = tmp_path / "capture"
    with object_store(tmp_path / "s3") as store, serve(LivingSite(seed=5, pages=20)) as server:
        objects = store.url("captures/one")
        process = scrapy(store, folder, server.url, objects)
        until(server, 8, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        shutil.rmtree(folder)
        _fetched(store, objects, folder)
        process = scrapy(store, folder, server.url, objects, resume="rebuild")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
        shutil.rmtree(folder)
        _fetched(store, objects, folder)
    assert verify(folder).findings == []


def _fetched(store, objects, folder):
    words = ["fetch", objects, str(folder)]
    done = finished(words, folder.parent, {**os.environ, **store.environment}, program=SHARC)
    assert done.returncode == 0, done.stderr
