"""Crawls of a site that are cut off as soon as their state is so, and go on."""

from __future__ import annotations

import signal
import time

from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.opening import holds_state
from tests.live.warm import Scrapy, site_words

SETTINGS = ("SHARC_BACK_OFF=0.1", "SHARC_WARC_SIZE=20000")


def start(folder, url, settings=SETTINGS, **more):
    return Scrapy(site_words(*settings, **{"url": url, "output": folder, "delay": "0.01", **more}), folder.parent)


def finish(folder, url, **more):
    process = start(folder, url, **more)
    out, _ = process.communicate(timeout=280)
    return process.returncode, out


def killed(folder, url, condition, **more):
    """A crawl that is killed as soon as its state is so."""
    _, out = ended(signal.SIGKILL, folder, url, condition, **more)
    assert _known(folder, condition), out


def ended(how, folder, url, condition, **more):
    """A crawl that is sent this signal as soon as its state is so."""
    process = start(folder, url, **more)
    deadline = time.monotonic() + 240
    while process.poll() is None and not (holds_state(folder) and _known(folder, condition)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    out, _ = process.communicate(timeout=280)
    return process.returncode, out


def _known(folder, condition):
    with open_state(folder) as store:
        return condition(store)


def visits_made(number):
    return lambda store: sum(1 for row in store.exchanges() if row.kind == "page" and row.finished) >= number


def revisits_made(number):
    return lambda store: sum(1 for row in store.exchanges() if row.slot == "second" and row.finished) >= number


def exchanges_made(number):
    return lambda store: sum(1 for row in store.exchanges() if row.finished) >= number


def whole(folder):
    """The closed WARC files, and the open one, by age."""
    return sorted(folder.glob("*.warc.gz*"), key=lambda path: path.name)
