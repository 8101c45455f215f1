"""What is in the way of one site of a crawl ends that site alone: the others are captured to their end."""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import ExitStack

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.storage.folders import site_folders
from tests import docs_files
from tests.live.warm import PROFILE, Scrapy, site_words
from tests.strategies import bad

FAILED = 1
SMALL, LARGE = bad.Overwhelmed.MOST - 10, bad.Overwhelmed.MOST + 10


@pytest.fixture
def three():
    """One for each fate, on three addresses."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(serve(LivingSite(seed=3, pages=pages, slow=0.02), host=f"127.0.0.{number}"))
            for number, pages in enumerate((SMALL, LARGE, SMALL), 2)
        ]


def test_a_strategy_that_breaks_and_a_folder_that_is_taken_over_end_their_sites_alone(three, tmp_path):
    shutil.copy(bad.__file__, tmp_path)
    (tmp_path / "lines_store.py").write_text(docs_files.files("stores.md")["lines_store.py"])
    output = tmp_path / "capture"
    urls = ",".join(server.url for server in three)
    words = site_words(
        "SHARC_STORE=lines_store.LinesStore", url=urls, output=output, delay=0.05, strategy="bad.Overwhelmed"
    )
    process = Scrapy(words, tmp_path, {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE}, apart=True)
    deadline = time.monotonic() + 240
    while len(three[2].log) < 8 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    names, (whole, broken, taken) = list(site_folders(output)), site_folders(output).values()
    docs_files.module("stores.md", "lines_store.py").LinesStore(taken)
    state, asked = (taken / "state.lines").read_bytes(), len(three[2].log)
    out, err = process.communicate(timeout=280)

    assert process.returncode == FAILED, err
    assert "Traceback" not in out + err
    assert err.count("The capture of ") == 2
    assert f"The capture of {names[1]} stops: strategy='bad.Overwhelmed' is stopped: it raised" in err
    assert f"The capture of {names[2]} stops, and writes nothing more: " in err
    assert (taken / "state.lines").read_bytes() == state
    assert len(three[2].log) <= asked + 2, "what was on its way"
    assert not (taken / "report.json").exists()

    assert verify(whole).findings == []
    told = {site["folder"]: site for site in json.loads((output / "index.json").read_text())["sites"]}
    assert [told[folder.name]["complete"] for folder in (whole, broken, taken)] == [True, False, False]
    assert "too many pages" in told[broken.name]["claim"]
    assert "another crawl's by now" in told[taken.name]["claim"]
    (capture,) = json.loads((broken / "report.json").read_text())["captures"]
    assert any("is stopped: it raised RuntimeError: too many pages" in note for note in capture["notes"])
    assert capture["coherence"]["captured"] > 0
