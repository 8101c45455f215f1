"""A log on a full disk, a pipe that is closed, no stderr at all: the capture is what it would be with a log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sharc_crawler.collection.folder import is_over
from sharc_crawler.live.failures import output_streams
from tests.live.warm import PROFILE, Scrapy, site_words

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


def test_what_cannot_be_written_is_dropped_and_what_was_closed_leads_nowhere(monkeypatch, capsys):
    class Full:
        encoding, told = "utf-8", 0

        def write(self, text):
            self.told += 1
            raise OSError(28, "No space left on device")

        flush = write

    full = Full()
    full.flush = lambda: full.write("")
    monkeypatch.setattr(sys, "stdout", full)
    monkeypatch.setattr(sys, "stderr", None)
    output_streams.unfailing()
    print("lost", flush=True)
    print("nowhere", file=sys.stderr, flush=True)
    assert (sys.stdout.encoding, full.told) == ("utf-8", 3)


@needs_full
@pytest.mark.slow
@pytest.mark.parametrize("lost", ["full", pytest.param("closed", marks=pytest.mark.long)])
def test_a_log_that_cannot_be_written_decides_no_captures_fate(lost, static, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<html><body>a page</body></html>")
    with static(site) as url, FULL.open("wb", buffering=0) as full:
        words = site_words(url=url, delay="0.01", collection=tmp_path / "k")
        if lost == "full":
            code, said = Scrapy(words, tmp_path, out=full).wait(280), b""
        else:
            line = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "scrapy", *words]
            environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE}
            done = subprocess.run(line, cwd=tmp_path, env=environment, timeout=280, capture_output=True)
            code, said = done.returncode, done.stdout
    assert code == 0, said
    (capture,) = (tmp_path / "k" / "captures").glob("*/*")
    assert is_over(capture)
    assert (capture / "certificate.json").is_file()
    assert not (capture / ".running").exists()
