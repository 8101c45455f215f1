"""``sharc start``: three answers, a site that is asked, a collection."""

from __future__ import annotations

import os
import socket
from functools import partial

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.cli.start import estimate_lines
from sharc_crawler.collection.terms import read_terms
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.live.setup.survey import Survey
from tests.live.warm import SHARC, finished

ANSWERS = ("https://www.example.org/", "--operator", "crawls@library.example", "--time", "2h")


def survey(pages: int, step: float, asked: float = 0.0) -> Survey:
    urls = [f"https://www.example.org/{number}" for number in range(pages)]
    return Survey(urls, [0.0] * pages, [1.0] * pages, 0, [False] * pages, step, asked, 0, ())


def test_a_site_is_asked_and_a_collection_written(tmp_path):
    with serve(LivingSite(seed=7, pages=40)) as server:
        given = [server.url, "--operator", "crawls@library.example", "--time", "2h", "--to", "kept"]
        sharc = partial(finished, cwd=tmp_path, env=os.environ, program=SHARC)
        done = sharc(["start", *given, "-s", "DOWNLOAD_DELAY=0.05"])
        targets = {request.target for request in server.log}
        again = sharc(["start", server.url, "--to", "kept"])  # nothing is asked before it is refused
    assert done.returncode == 0, done.stderr
    assert all("robots" in target or "sitemap" in target for target in targets)
    assert "That fits into 2 h." in done.stdout
    assert "at least 3.5 s." in done.stdout
    assert "Embedded files (pictures, styles, scripts)" in done.stdout
    assert "left" not in done.stderr, "no page is captured yet"
    assert "scrapy crawl site -a collection=kept -s DOWNLOAD_DELAY=0.05" in done.stdout
    terms = read_terms(tmp_path / "kept")
    assert [(one.urls, dict(one.arguments)) for one in terms.sites] == [((server.url,), {"max_time": "2h"})]
    assert dict(terms.settings) == {"SHARC_OPERATOR": "crawls@library.example"}
    assert again.returncode == 2
    assert "the folder 'kept' holds a collection already. To capture it: SCRAPY_SETTINGS_MODULE=" in again.stderr
    assert "scrapy crawl site -a collection=kept. To begin another one: --to FOLDER" in again.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "url is not given"),
        (ANSWERS[:1], "operator is not given"),
        (ANSWERS[:3], "time is not given"),
        (("here", *ANSWERS[1:]), "'here'"),
        ((*ANSWERS[:2], "me", *ANSWERS[3:]), "operator='me'"),
        ((*ANSWERS[:4], "5 weeks"), "time='5 weeks'"),
        ((*ANSWERS[:4], "20"), "time='20' has no unit; write it as 20m (minutes) or 20h (hours)"),
        (("127.0.0.1:8977", *ANSWERS[1:]), "url='127.0.0.1:8977' says neither http nor https"),
        ((*ANSWERS, "-s", "DOWNLOAD_DELAY"), "setting='DOWNLOAD_DELAY'"),
    ],
)
def test_what_is_missing_or_cannot_be_used_is_named(words, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["start", *words])
    assert (done.exit_code, named in done.output) == (2, True), done.output
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_a_site_that_does_not_answer_is_no_collection(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:  # and closed: nothing listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    given = ["start", url, *ANSWERS[1:], "-s", "RETRY_TIMES=0"]
    done = finished(given, cwd=tmp_path, env=os.environ, program=SHARC)
    assert done.returncode == 3, done.stdout
    assert f"sharc: error: {url} cannot be captured as it is: {url}robots.txt could not be read" in done.stderr
    assert "Check the address" in done.stderr
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_what_does_not_fit_says_how_much_would():
    said = " ".join(estimate_lines("https://www.example.org/", survey(9000, 1.0), 7200.0))
    assert "9,000 pages" in said
    assert "5 h" in said
    assert "about 3,600 pages would" in said
    assert "spare somebody else's server" in said


def test_what_comes_on_top_may_not_fit_where_the_pages_do():
    for limit, fits in (
        (500.0, "That fits into 8 min 20 s."),
        (200.0, "The minimum fits into 3 min 20 s, the whole site may"),
    ):
        said = " ".join(estimate_lines("https://www.example.org/", survey(62, 1.0), limit))
        assert "at least 2 min 4 s." in said
        assert "8 min 16 s in all would not be unusual" in said
        assert fits in said


def test_a_delay_that_robots_txt_asks_for_is_not_to_be_changed():
    said = " ".join(estimate_lines("https://www.example.org/", survey(9000, 5.0, 5.0), 86_400.0))
    assert "robots.txt asks for 5 s" in said
    assert "spare somebody else's server" not in said
