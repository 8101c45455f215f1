"""What cannot work is said in one line before anything is sent, or reported at the end; the exit code tells."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.live.setup.places import make_folder
from sharc_crawler.live.setup.plan import check_place
from sharc_crawler.options.pages import help_text
from tests.live.warm import PROFILE, finished, site_words

USAGE, DATA, NOTHING_CAPTURED = 2, 3, 4


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("SHARC_STRATEGY=", "SHARC_STRATEGY='' names no strategy; name one, or leave it out"),
        ("SHARC_MIN_FREE=999999G", "SHARC_MIN_FREE=999999000000000 wants more; make room or choose another"),
        ("SHARC_STRATEGY_=bfs", "did you mean 'SHARC_STRATEGY'"),
        ("SHARC_MIN_FREE=lots", "SHARC_MIN_FREE='lots' is no number of bytes; write it as 500k, 500M or 20G"),
        ("SHARC_OPERATOR=nobody", "SHARC_OPERATOR='nobody' must be a web page or a mail address"),
        ("SHARC_OPERATOR=a@b.example\r\nX-Evil: 1", "must be a web page or a mail address"),
    ],
)
def test_wrong_settings_stop_before_the_first_request(crawl, setting, says):
    done = crawl(url="http://127.0.0.1:9/", settings=[setting])
    assert done.code == USAGE
    assert says in done.err
    assert not done.folder.exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("pass", "raised AttributeError: 'Mine' object has no attribute 'rates'."),
        ("def rates(self, sightings, now): raise OSError('no connection')", "raised OSError: no connection."),
        ("def rates(self, sightings, now): return []", "gave 0 answers for 1 page."),
        ("def rates(self, sightings, now): return [float('nan')]", "gave nan, not RateEstimate(rate, source) or None"),
    ],
)
def test_a_source_of_rates_that_is_none_is_named_before_the_first_request(crawl, tmp_path, body, says):
    (tmp_path / "mine.py").write_text(f"class Mine:\n    {body}\n")
    done = crawl(url="http://127.0.0.1:9/", settings=["SHARC_RATES=sitemap,mine.Mine"])
    assert (done.code, done.folder.exists()) == (USAGE, False)
    assert f"SHARC_RATES='mine.Mine' is no source of rates: the rate source Mine {says}" in done.err
    assert "That is a fault of this plug-in: mend it, or leave it out" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"url": "http://127.0.0.1:9/", "strategy": "sharc-selectiv"}, "did you mean 'sharc-selective'"),
        ({"seeds": "nowhere.txt"}, "seeds='nowhere.txt' cannot be read"),
    ],
)
def test_wrong_arguments_stop_before_the_first_request(crawl, arguments, says):
    done = crawl(**arguments)
    assert done.code == USAGE
    assert says in done.err
    assert done.err.startswith("sharc: error: ")
    assert "Traceback" not in done.err
    assert not done.folder.exists() or not any(done.folder.iterdir())


def test_an_unreachable_host_is_a_failed_capture(crawl):
    done = crawl(url="http://127.0.0.1:9/", settings=["SHARC_BACK_OFF=0.01"])
    assert done.code == NOTHING_CAPTURED
    assert "could not be read" in done.out
    assert "1 × robots.txt could not be read" in done.out
    assert "(connection refused)" in done.out


def test_an_output_that_cannot_be_made(crawl, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = crawl(url="http://127.0.0.1:9/", output=str(tmp_path / "file" / "folder"))
    assert done.code == USAGE
    assert "output=" in done.err


@pytest.fixture(scope="module")
def captured(run_crawl, tmp_path_factory):
    """A capture of a page, and where it came from."""
    with serve(LivingSite(seed=7, pages=60)) as server:
        yield run_crawl(tmp_path_factory.mktemp("captured"), url=server.url, limit="1", delay="0").folder, server.url


@pytest.fixture
def again(captured, crawl, tmp_path):
    """The same command, onto a copy of the capture; its folder."""
    folder, url = captured
    shutil.copytree(folder, tmp_path / "capture")
    return lambda: crawl(url=url, limit="1", delay="0"), tmp_path / "capture"


def test_a_folder_in_which_no_state_can_be_kept_is_named_with_the_way_out(crawl, tmp_path):
    (tmp_path / "capture" / ".frontier.lock").mkdir(parents=True)
    done = crawl(url="http://127.0.0.1:9/", output=str(tmp_path / "capture"))
    assert done.code == USAGE
    assert f"output='{tmp_path}/capture': the state cannot be kept there: Is a directory; mend that, or" in done.err


@pytest.mark.slow
def test_a_terminal_that_has_not_all_characters_is_told_all_the_same(tmp_path):
    settings = {"SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile", "PYTHONIOENCODING": "ascii:strict"}
    run = partial(
        subprocess.run, cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True, timeout=280
    )
    with serve(LivingSite(seed=3, pages=20)) as server:
        words = ["crawl", "site", "-a", f"url={server.url}", "-a", "delay=0", "-a", "output=c"]
        done = run([sys.executable, "-m", "scrapy", *words, "-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"])
    told = run([sys.executable, "-c", "from sharc_crawler.cli import main; main()", "report", "c"])
    assert (done.returncode, told.returncode) == (0, 0), done.stderr + told.stderr
    assert "1 ? robots.txt disallows it" in done.stdout


def test_an_output_that_holds_a_capture_is_not_overwritten(again):
    crawled, folder = again
    before = (folder / "report.json").read_bytes()
    done = crawled()
    assert done.code == USAGE
    assert "already holds a capture" in done.err
    assert (folder / "report.json").read_bytes() == before


def test_a_folder_that_is_being_written_is_left_alone(again):
    crawled, folder = again
    warc = min(folder.glob("*.warc.gz"))
    held = warc.rename(warc.with_name(warc.name + ".open"))
    with held.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        done = crawled()
    assert done.code == USAGE
    assert "is being written by another crawl" in done.err


def test_a_history_that_is_none_stops_before_a_folder_is_made(crawl, tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all " * 100)
    for dry_run in "01":
        done = crawl(url="http://127.0.0.1:9/", history=str(tmp_path / "notes.txt"), dry_run=dry_run)
        assert done.code == DATA
        assert done.err.startswith("sharc: error: history=")
        assert not done.folder.exists()


def test_a_site_without_sitemap_is_crawled_by_its_links(crawl, static, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<a href=two.html>two</a><img src=i.png>")
    (site / "two.html").write_text("two")
    (site / "i.png").write_bytes(b"png")
    with static(site) as url:
        done = crawl(url=url, delay="0")
    assert done.code == 0
    assert {page["url"].rpartition("/")[2] for page in done.capture["pages"]} == {"", "two.html", "i.png"}
    assert any("pages are found by links" in note for note in done.capture["notes"])


def test_a_sitemap_that_is_html_is_said_and_links_take_over(crawl, static, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<a href=two.html>two</a>")
    (site / "two.html").write_text("two")
    (site / "sitemap.xml").write_text("<!DOCTYPE html><html><body>Not found, sorry</body></html>")
    with static(site) as url:
        done = crawl(url=url, delay="0")
    assert done.code == 0
    assert len(done.capture["pages"]) == 2
    assert any("sitemap.xml" in note for note in done.capture["notes"])
    assert "HTML" in done.out


def test_a_dry_run_sends_nothing(crawl, living_site):
    done = crawl(url=f"{living_site.url}{'long/' * 20}end.html", dry_run="1", max_time="5m", max_bytes="2k")
    assert done.code == 0
    assert "Budget of each site: max_bytes=2k, max_time=5m" in done.out
    assert "nothing was sent" in done.out
    assert re.search(r"http://127\S+…\S*/end\.html ", done.out), "a URL is on one line"
    assert not done.folder.exists()
    assert not living_site.log


@pytest.mark.slow
def test_a_dry_run_is_shown_where_not_all_characters_are_to_be_had(tmp_path):
    words = site_words(url="http://127.0.0.1:9/", output=tmp_path / "städte", dry_run=1)
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE, "PYTHONIOENCODING": "ascii", "COLUMNS": "400"}
    line = [sys.executable, "-m", "scrapy", *words]
    done = subprocess.run(line, cwd=tmp_path, env=environment, timeout=280, capture_output=True, text=True)
    assert (done.returncode, "st?dte" in done.stdout) == (0, True), done.stderr


def test_a_dry_run_says_where_no_capture_could_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"output='\S+/file/new' cannot be made: \S+/file is a file; choose another"):
        check_place(tmp_path / "file" / "new")
    with pytest.raises(UsageError, match=r"output='\S+' cannot be made: \S+/file is a file; choose another folder"):
        make_folder(tmp_path / "new" / ".." / "file")
    check_place(tmp_path / "new" / "too")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_public_sites_need_an_operator_in_the_profile_of_the_package(crawl):
    done = crawl(url="https://www.example.org/")
    assert done.code == USAGE
    assert "SHARC_OPERATOR" in done.err


def test_private_addresses_are_refused_unless_named(crawl, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("# a list from somewhere\nhttp://127.0.0.1:9/\n")
    done = crawl(seeds=str(seeds))
    assert done.code == USAGE
    assert "SHARC_ALLOWED_ADDRESSES" in done.err
    seeds.write_text("http://[::1]:9/\n")
    assert "SHARC_ALLOWED_ADDRESSES=::1/128" in crawl(seeds=str(seeds)).err
    seeds.write_text("http://localhost:9/\n")
    allowed = ["SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", "SHARC_OPERATOR=a@b.example"]
    assert crawl(seeds=str(seeds), dry_run="1", settings=allowed).code == 0
    seeds.write_text("http://2130706433:9/\n")  # the same address in another spelling
    assert crawl(seeds=str(seeds)).code == USAGE


def scrapy(tmp_path, *words):
    return finished(words, tmp_path)


def test_the_help_of_crawl_lists_our_arguments(tmp_path):
    done = scrapy(tmp_path, "crawl", "site", "--help")
    assert done.returncode == 0, done.stderr
    assert help_text() in done.stdout


def test_a_spider_of_another_name_is_one_line_with_the_nearest(tmp_path):
    done = scrapy(tmp_path, "crawl", "sight", "-a", "url=http://127.0.0.1:9/")
    assert done.returncode == USAGE
    assert done.stderr == "sharc: error: spider='sight' is not known; did you mean 'site'? Allowed: site\n"


def test_what_a_scheduler_adds_is_passed_over_and_its_log_has_what_is_wrong(crawl, tmp_path):
    arguments = {"url": "http://127.0.0.1:9/", "dry_run": "1", "_job": "6a1f", "settings": ["LOG_FILE=job.log"]}
    assert crawl(**arguments).code == 0
    assert crawl(limit="many", **arguments).code == USAGE
    assert "ERROR: limit='many' must be a whole number" in (tmp_path / "job.log").read_text()


def test_an_argument_without_a_is_said_to_lack_it(tmp_path):
    done = scrapy(tmp_path, "crawl", "site", "url=http://127.0.0.1:9/", "-a", "delay=1")
    assert done.returncode == USAGE
    way_out = "scrapy crawl site -a url=http://127.0.0.1:9/"
    assert done.stderr == f"sharc: error: argument 'url=http://127.0.0.1:9/' stands without -a: {way_out}\n"


def test_where_there_is_no_project_the_way_out_is_said(tmp_path):
    program, elsewhere = Path(sys.executable).with_name("scrapy"), {"PATH": os.environ["PATH"]}
    words = [program, "crawl", "site", "-a", "url=http://127.0.0.1:9/a b"]
    done = subprocess.run(words, cwd=tmp_path, env=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == USAGE
    assert (
        "SCRAPY_SETTINGS_MODULE=sharc_crawler.live.profile scrapy crawl site -a 'url=http://127.0.0.1:9/a b'"
        in done.stderr
    )
    assert not list(tmp_path.iterdir())
