"""``sharc plan URL``: a site is asked what it says of itself, and no page of it is fetched."""

from __future__ import annotations

import json
import os
import time

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore
from tests.live.warm import SHARC, finished

URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


@pytest.fixture
def plan(tmp_path):
    """Run ``sharc plan …`` in a folder of its own that is no Scrapy project."""

    def run(*arguments, json_=True):
        words = ["plan", *map(str, arguments), *(["--json"] if json_ else [])]
        return finished(words, tmp_path, os.environ, program=SHARC)

    return run


def sitemap(*entries):
    return URLSET.format(
        "".join(f"<url><loc>{loc}</loc><changefreq>{freq}</changefreq></url>" for loc, freq in entries)
    )


def test_a_site_is_planned_from_its_robots_and_sitemaps_alone(plan, tmp_path):
    site = LivingSite(seed=7, pages=60)
    with serve(site) as server:
        fast = ("-s", f"SHARC_CHANGEFREQ={json.dumps(site.changefreqs)}", "-s", "DOWNLOAD_DELAY=0.5")
        begun = time.time()
        done = plan(server.url, "--delay", 0.1, "--strategy", "bfs,sharc-selective", *fast)
        asked = list(server.log)
    assert done.returncode == 0, done.stderr
    targets = [request.target for request in asked]
    assert targets[0] == "/robots.txt"
    assert len(targets) == len(set(targets)) >= 2
    assert all("sitemap" in target for target in targets[1:])
    assert asked[-1].time - begun > 0.5 * (len(asked) - 1), "a busy machine can only make it longer"
    found = json.loads(done.stdout)
    assert found["source"] == f"site {server.url}"
    assert 40 < found["pages"] <= 61
    assert found["delay"] == 0.1
    blind, best = found["plans"]
    assert blind["downloads"] == 2 * found["pages"]
    assert blind["seconds"] == pytest.approx(0.1 * (blind["downloads"] - 1))
    assert best["expected_coherent"] > blind["expected_coherent"]
    assert best["expected_coherent"] + best["expected_incoherent"] == pytest.approx(found["pages"])
    assert blind["expected_blur"] > 0
    assert list(tmp_path.iterdir()) == []  # nothing is kept


def test_an_index_a_closed_corner_and_a_slow_host_are_heeded(plan, static, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    with static(folder) as url:
        (folder / "robots.txt").write_text(
            f"User-agent: *\nDisallow: /closed/\nCrawl-delay: 0.7\nSitemap: {url}index.xml\n"
        )
        (folder / "index.xml").write_text(
            f"<sitemapindex><sitemap><loc>{url}one.xml</loc></sitemap><sitemap><loc>{url}two.xml</loc></sitemap></sitemapindex>"
        )
        (folder / "one.xml").write_text(sitemap((url, "yearly"), (f"{url}closed/a", "daily"), (f"{url}b", "daily")))
        (folder / "two.xml").write_text(sitemap((f"{url}c", "always"), (f"{url}d", "always"), (f"{url}e", "always")))
        done = plan(url, "--strategy", "sharc-selective", "-s", "DOWNLOAD_DELAY=0.1")
        told = plan(f"{url}two.xml", "--delay", 600, "--strategy", "sharc-selective", json_=False)
    assert done.returncode == told.returncode == 0, done.stderr + told.stderr
    found = json.loads(done.stdout)
    assert (found["pages"], found["delay"]) == (5, 0.7)
    assert found["notes"] == ["robots.txt closes 1 of the pages: they are left out"]
    assert "4 pages, 600 s between two downloads" in told.stdout  # the entry page, and those of this sitemap
    assert "1:00:00" in told.stdout  # seven downloads


def test_the_archives_history_tells_more_than_the_sitemap(plan, static, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    store = tmp_path / "archive.sqlite"
    with static(folder) as url:
        name = url.split("/")[2]
        (folder / "sitemap.xml").write_text(sitemap((url, "yearly"), (f"{url}a", "yearly")))
        with ObservationStore(store) as history:
            history.append(
                [Observation(name, Url(f"{url}{page}"), float(t), Result.OK) for page in "bc" for t in (1, 2)]
            )
        done = plan(url, "--history", store, "--strategy", "bfs", "--delay", 0.01)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == 4


def test_a_site_that_is_closed(plan, static, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    with static(folder) as url:
        done = plan(url, "-s", "DOWNLOAD_DELAY=0.1")
    assert done.returncode == 3
    assert "names no pages to plan with" in done.stderr
    assert "robots.txt disallows it" in done.stderr
    assert "give a sitemap, a history or a former report" in done.stderr
    assert "Traceback" not in done.stderr
    assert "archived" not in done.stderr, "it is no capture"


def test_why_lastmods_are_not_believed_is_said_and_what_software_shows(plan, static, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    with static(folder) as url:
        names = ["doku.php?id=a", *map("p{}".format, range(9))]
        entries = "".join(f"<url><loc>{url}{one}</loc><lastmod>2026-01-05</lastmod></url>" for one in names)
        (folder / "sitemap.xml").write_text(URLSET.format(entries))
        done = plan(url, "--strategy", "sharc-attested", "--delay", 0.01, json_=False)
    assert done.returncode == 0, done.stderr
    assert "not believed (9): nearly all values are equal" in " ".join(done.stdout.split())
    assert "this looks like DokuWiki" in done.stdout
    assert "_export" in done.stdout
    assert "-a delay=0.01" in done.stderr, "the capture that comes next is the one that was foreseen"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["ftp://example.org/"], "is not an http(s) URL"),
        (["http://example.org/"], "SHARC_OPERATOR is not set"),
        (["http://example.org/", "-s", "nothing"], "'nothing' is not of the form NAME=value"),
        (["http://127.0.0.1:9/", "--strategy", "bsf"], "did you mean 'bfs'"),
        (["nowhere.xml"], "'nowhere.xml' is no file, and no URL"),
        (["nowhere.xml", "-s", "A=1"], "belong to a URL"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_sent(arguments, what):
    done = CliRunner().invoke(main, ["plan", *arguments])
    assert done.exit_code == 2
    assert what in done.stderr
