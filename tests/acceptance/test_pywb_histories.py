"""Histories out of a real archive: pywb serves captures of the living site, and its true rates come out.

How to have pywb: pywb_server.py. Without it these tests are skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import gammaincinv

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.archive.surt import surt
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.demo import LivingSite
from sharc_crawler.demo.layout import FLAKY
from sharc_crawler.links.document import extract
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.updates import digest_change
from tests.acceptance.pywb_server import INSTALLED, MISSING, run, served
from tests.archive.readback import INFO, page
from tests.live import warm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not INSTALLED, reason=MISSING)

ROOT = "http://living.example"
START = 1_600_000_000.0
GAP = 600.0  #: seconds, median between captures of a page
CAPTURES = 40


@dataclass
class Archive:
    port: int
    site: LivingSite
    paths: list[str]  #: pages that change between once a gap and once in 20 gaps: what such captures can tell
    times: dict[str, np.ndarray]

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.port}/living/cdx"


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Iterator[Archive]:
    folder = tmp_path_factory.mktemp("pywb")
    site = LivingSite(seed=3, pages=60)
    paths = [path for path in site.paths if 1 / 20 < site.rate(path) * GAP < 1 and "?" not in path and path != FLAKY]
    rng = np.random.default_rng(1)
    times = {path: START + np.cumsum(np.maximum(60, rng.lognormal(np.log(GAP), 0.7, CAPTURES))) for path in paths}
    with WarcWriter(folder / "made", "living.example", "run1", INFO) as out:
        for time, path in sorted((time, one) for one in paths for time in times[one].tolist()):
            answer = site.respond("GET", path, {"host": "living.example"}, time)
            head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
            raw = f"HTTP/1.1 {answer.status} OK\r\n{head}\r\n".encode() + answer.body
            out.write(page(url=ROOT + path, response=raw, started=time))
    run(folder, "wb-manager", "init", "living")
    run(folder, "wb-manager", "add", "living", *map(str, (folder / "made").glob("*.warc.gz")))
    with served(folder) as port:
        yield Archive(port, site, paths, times)


def fetch(folder: Path, urls: list[str], server: str, *options: str) -> dict:
    (folder / "seeds.txt").write_text("\n".join(urls))
    words = ["seeds", "fetch", "seeds.txt", "--from", server, "-o", "out", "--rate", "60000", "--json", *options]
    done = warm.finished(words, folder, program=warm.SHARC)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)


@pytest.mark.long
def test_the_true_rates_come_out_within_the_stated_intervals(archive, tmp_path):
    urls = [ROOT + path for path in archive.paths]
    assert fetch(tmp_path, urls, archive.server)["fetched"] == len(urls) > 25
    found = read_history([tmp_path / "out"])
    captures = found.captures
    assert found.problems.count == 0
    assert sorted(captures.keys) == sorted(map(surt, urls))
    true = {surt(ROOT + path): (archive.site.rate(path), np.floor(archive.times[path])) for path in archive.paths}
    for number, key in enumerate(captures.keys):
        assert captures.times[captures.offsets[number] : captures.offsets[number + 1]].tolist() == true[key][1].tolist()
    pages = UpdateHistories(captures.urls, captures.offsets, captures.times, digest_change(captures))
    intervals, rates = pages.intervals(interpolated=False), np.array([true[key][0] for key in captures.keys])
    found = GammaPoisson().fit(intervals).estimate(intervals)
    low, high = (gammaincinv(found.shape, tail) * found.rate / found.shape for tail in (0.025, 0.975))
    inside = (low <= rates) & (rates <= high)
    assert inside.mean() >= 0.85, list(zip(low, rates, high, strict=True))  # of 95 %, of a few dozen pages
    plain = IrregularMle().estimate(intervals)
    assert (abs(plain.rate - rates) <= 2 * plain.spread).mean() >= 0.85
    assert abs(np.log(found.rate / rates)).mean() < 0.4


def test_mementos_come_as_they_were_stored(archive, tmp_path):
    paths = archive.paths[:2]
    tally = fetch(tmp_path, [ROOT + path for path in paths], archive.server, "--mementos")
    assert tally["mementos"] < len(paths) * CAPTURES  # one for each content
    captures = read_history([tmp_path / "out"], links=True).captures
    for number, url in enumerate(captures.urls):
        path = url.removeprefix(ROOT)
        rows = range(captures.offsets[number], captures.offsets[number + 1])
        assert len(rows) == CAPTURES
        for row, time in zip(rows, archive.times[path], strict=True):
            body = archive.site.respond("GET", path, {"host": "living.example"}, time).body
            assert captures.links[row] == set(extract(body, url, "text/html").links)


def test_a_website_comes_page_by_page_and_a_timemap_too(archive, tmp_path):
    (site, timemap) = (tmp_path / "site", tmp_path / "timemap")
    site.mkdir()
    timemap.mkdir()
    assert fetch(site, [ROOT + "/"], archive.server, "--level", "website")["fetched"] == 1
    captures = read_history([site / "out"]).captures
    assert len(captures.times) == len(archive.paths) * CAPTURES
    url = ROOT + archive.paths[0]
    fetch(timemap, [url, ROOT + "/never-captured"], archive.server.replace("/cdx", "/timemap/link/"))
    captures = read_history([timemap / "out"]).captures
    assert captures.urls == [url]
    assert captures.times.tolist() == np.floor(archive.times[archive.paths[0]]).tolist()
    assert not captures.digests.any()
