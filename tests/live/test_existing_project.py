"""The example project as its README has it; in the long run against the wheel, too, in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import DataError
from sharc_crawler.report.next_steps import next_steps
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.folders import RUNNING, hold
from tests.live.example_sites import example_site
from tests.live.test_example_projects import ARCHIVED, PROJECTS, assert_same
from tests.live.test_example_projects import run as run_project
from tests.live.warm import finished

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "examples" / "existing_project"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a new environment that has the wheel, and what it depends on, but not this source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "env"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = environment / "lib" / version / "site-packages"
    # A path file's own path files are not read: the dependencies are there, the editable install is not.
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, "--target", str(site_packages), str(wheel)], check=True, capture_output=True)
    where = [str(python), "-c", "import sharc_crawler; print(sharc_crawler.__file__)"]
    found = subprocess.run(where, check=True, capture_output=True, text=True, cwd=folder).stdout
    assert str(environment) in found, "the wheel is what is tested"
    return python


@pytest.fixture(scope="module")
def site():
    with serve(LivingSite(seed=4, pages=30, scale=3000.0, slow=0.05)) as server:
        yield server


def crawl(server, folder, *settings) -> tuple[list[dict], str, list]:
    """Items, log and the server's requests of one crawl of the example's spider."""
    before = len(server.log)
    done = run(server, folder, *settings)
    assert done.returncode == 0, done.stderr
    items = (folder / "pages.jsonl").read_text()
    return [json.loads(line) for line in items.splitlines()], done.stderr, list(server.log)[before:]


def run(server, folder, *settings) -> subprocess.CompletedProcess[str]:
    """One crawl of the example's spider."""
    words = ["crawl", "pages", "-a", f"start={server.url}", "-O", str(folder / "pages.jsonl")]
    words += [text for setting in settings for text in ("-s", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    environment["PYTHONPATH"] = str(folder)
    return finished(words, PROJECT, environment, timeout=280)


@pytest.fixture(scope="module")
def plain(site, tmp_path_factory):
    """The project as it is: items, log and requests."""
    return crawl(site, tmp_path_factory.mktemp("plain"))


def test_its_callbacks_items_and_pipelines_work_and_nothing_is_doubled(plain):
    items, log, requests = plain
    assert "Traceback" not in log
    assert log.count("Nothing is archived: set SHARC_OUTPUT=FOLDER") == 1
    urls = Counter(item["url"] for item in items if "title" in item)
    assert len(urls) > 25
    assert sum(Counter(item["number"] for item in items).values()) == len(items)
    assert sorted(item["number"] for item in items) == list(range(1, len(items) + 1))
    assert any(item["depth"] >= 2 and item["found_on"] for item in items if "title" in item)
    canonical = Counter(item["url"].split("#")[0] for item in items if "title" in item)
    assert set(canonical.values()) == {1}, "also where a page is reached by redirects and directly"
    asked = Counter(request.target for request in requests)
    assert sum(request.conditional for request in requests) > 5, "revisits ask whether the page has changed"
    assert sum(count >= 2 for count in asked.values()) > 20
    assert not any(target.startswith("/private/") for target in asked), "ROBOTSTXT_OBEY is the project's"


def test_the_default_order_visits_each_page_once(site, tmp_path):
    items, _, requests = crawl(site, tmp_path, "SHARC_STRATEGY=sharc-online")
    assert len(items) > 25
    assert not any(request.conditional for request in requests)


def test_with_an_output_folder_there_are_warcs_and_a_report(site, tmp_path):
    folder = tmp_path / "kept"
    _, log, _ = crawl(site, tmp_path, f"SHARC_OUTPUT={folder}")
    assert "Nothing is archived" not in log
    assert (folder / "report.html").exists()
    assert list(folder.glob("*.warc.gz"))
    state = load_state(folder)
    assert len(state.judgements) > 20
    verification = verify(folder)
    assert verification.findings == []
    assert verification.pages > 20


def test_an_unfinished_crawl_is_not_gone_on_with_and_says_so(site, tmp_path):
    folder = tmp_path / "kept"
    stopped = run(site, tmp_path, f"SHARC_OUTPUT={folder}", "CLOSESPIDER_PAGECOUNT=5")
    assert "Stopped (closespider_pagecount), not complete: begin anew, in another folder (" in stopped.stderr
    with pytest.raises(DataError, match="its spider began without SHARC_RESUME=True, so capture it again, in another"):
        verify(folder)
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    (step,) = next_steps(capture)
    assert step.words == "It is not complete. With SHARC_RESUME=True the same command resumes it."
    again = run(site, tmp_path, f"SHARC_OUTPUT={folder}")
    assert again.returncode == 1
    assert "[sharc_crawler] ERROR: sharc: error: " in again.stderr
    assert "goes on only where it began with SHARC_RESUME=True; choose another folder" in again.stderr
    assert f"SHARC_OUTPUT='{folder}' holds an unfinished" in again.stderr, "as it was given"
    assert "Traceback" not in again.stderr


def test_a_crawl_whose_state_is_lost_is_not_begun_anew_beside_its_files(site, tmp_path):
    folder = tmp_path / "kept"
    run(site, tmp_path, f"SHARC_OUTPUT={folder}", "SHARC_RESUME=True", "CLOSESPIDER_PAGECOUNT=5")
    asked = len(site.log)
    state = folder / "frontier.db"
    lost = b"", b"", b"", bytes(range(256)) * 40, None
    for left, resume in zip(lost, ("True", "False", "rebuild", "True", "True"), strict=True):
        state.unlink() if left is None else state.write_bytes(left)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        refused = run(site, tmp_path, f"SHARC_OUTPUT={folder}", f"SHARC_RESUME={resume}")
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        if resume == "rebuild":
            assert "SHARC_RESUME='rebuild' is of the spider site alone" in refused.stderr
        elif left:
            assert "frontier.db" in refused.stderr
            assert "; choose another folder" in refused.stderr
            assert "rebuild" not in refused.stderr, "which is for the spider site"
        else:
            assert (
                f"SHARC_OUTPUT='{folder}' holds WARC files, and the state of their crawl is missing" in refused.stderr
            )
            assert "choose another folder, or one for each run: SHARC_OUTPUT=captures/" in refused.stderr
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == files, "nothing is touched"
    assert len(site.log) == asked, "nothing is fetched"


def test_a_folder_that_another_run_writes_is_named_by_its_setting_and_one_for_each_run_is_told(site, tmp_path):
    held = hold(tmp_path)
    refused = run(site, tmp_path, f"SHARC_OUTPUT={tmp_path}")
    held.close()
    assert refused.returncode != 0
    assert f"SHARC_OUTPUT='{tmp_path}' is being written by another crawl" in refused.stderr
    assert "SHARC_OUTPUT='captures/%(name)s/%(time)s' gives each run" in refused.stderr


def test_a_capture_of_which_nothing_was_downloaded_says_why(site, tmp_path):
    folder = tmp_path / "kept"
    run(site, tmp_path, f"SHARC_OUTPUT={folder}", "SHARC_ALLOWED_ADDRESSES=")
    with pytest.raises(DataError, match=r"nothing was captured \(.*SHARC_ALLOWED_ADDRESSES"):
        verify(folder)


@pytest.mark.long
def test_a_crawl_that_goes_on_takes_another_strategy(site, tmp_path):
    folder = tmp_path / "kept"
    terms = f"SHARC_OUTPUT={folder}", "SHARC_RESUME=True"
    begun = run(site, tmp_path, *terms, "SHARC_STRATEGY=bfs:revisits=none", "CLOSESPIDER_PAGECOUNT=5")
    assert (begun.returncode, "not complete: the same command resumes it\n" in begun.stderr) == (0, True), begun.stderr
    without = run(site, tmp_path, terms[0])
    assert "begun with SHARC_RESUME=True: give that again to go on" in without.stderr
    with sqlite3.connect(folder / "frontier.db") as state:
        state.execute('UPDATE capture SET spec = replace(spec, \'"spider": "pages"\', \'"spider": "theirs"\')')
    other = run(site, tmp_path, *terms)
    assert other.returncode == 1
    assert "by the spider theirs, which alone goes on with it" in other.stderr
    with sqlite3.connect(folder / "frontier.db") as state:
        state.execute("UPDATE capture SET spec = replace(spec, '\"theirs\"', '\"pages\"')")
    assert run(site, tmp_path, *terms, "SHARC_STRATEGY=sharc-selective").returncode == 0
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    assert capture["strategy"] == "sharc-selective"
    assert "begun with strategy=bfs:revisits=none" in capture["notes"]
    assert len(load_state(folder).judgements) > 20
    assert verify(folder).findings == []


def test_a_folder_that_a_crawl_could_never_find_again_is_refused(site, tmp_path):
    done = run(site, tmp_path, f"SHARC_OUTPUT={tmp_path}/%(time)s", "SHARC_RESUME=True")
    assert done.returncode == 1
    assert "leave %(time)s out of it" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_that_is_not_allowed_is_one_line(site, tmp_path):
    done = run(site, tmp_path, "SHARC_ALLOWED_ADDRESSES=", "SHARC_WARC=False")
    assert "Traceback" not in done.stderr
    refused = [line for line in done.stderr.splitlines() if "add its network to SHARC_ALLOWED_ADDRESSES" in line]
    assert len(refused) == 2, "of robots.txt, and of the page"
    assert "Nothing was downloaded: 2 requests, none to an address that may be asked" in done.stderr
    assert done.returncode == 1, "stock Scrapy would have brought its pages"
    assert "Nothing is archived" not in done.stderr, "meant so"
    assert "Next: " not in done.stdout + done.stderr, "there is no certificate to verify"


def test_revisits_reach_the_callbacks_where_asked_for(plain, site, tmp_path):
    once, _, _ = plain
    twice, _, _ = crawl(site, tmp_path, "SHARC_REVISIT_CALLBACKS=True", "HTTPERROR_ALLOW_ALL=True")
    assert len(twice) > len(once) * 1.2


@pytest.mark.long
def test_set_by_hand_without_the_add_on(site, tmp_path):
    by_hand = [
        "ADDONS={}",
        "SCHEDULER=sharc_crawler.live.scheduler.SharcScheduler",
        "CONCURRENT_REQUESTS_PER_DOMAIN=1",
        "DOWNLOAD_DELAY_JITTER=0",
    ]
    items, log, _ = crawl(site, tmp_path, *by_hand)
    assert "Traceback" not in log
    assert len(items) > 25
    for _ in range(2):  # without state a folder is anybody's
        items, _, _ = crawl(
            site,
            tmp_path,
            *ALONE,
            f"SHARC_OUTPUT={tmp_path / 'only-archive'}",
        )
        assert len(items) > 25
    left = sorted(path.name for path in (tmp_path / "only-archive").iterdir())
    assert sum(name.endswith(".warc.gz") for name in left) == 2, "one of each crawl"
    assert not [name for name in left if name.endswith(".open") or name == RUNNING]
    for command in ("report", "package", "verify"):
        done = CliRunner().invoke(main, [command, str(tmp_path / "only-archive")])
        assert done.exit_code in (2, 3), done.output
        assert "WARC files alone (ArchiveMiddleware)" in done.output


ALONE = ("ADDONS={}", 'DOWNLOADER_MIDDLEWARES={"sharc_crawler.live.middlewares.ArchiveMiddleware": 990}')


@pytest.mark.slow
@pytest.mark.parametrize("settings", [(), ALONE])
def test_a_writer_that_fails_stops_the_crawl_and_is_named(site, tmp_path, settings):
    (tmp_path / "bad.py").write_text(
        "from sharc_crawler.archive.warc import WarcWriter\n"
        "class Bad(WarcWriter):\n"
        "    def write(self, exchange):\n"
        "        raise RuntimeError('of its own')\n"
    )
    done = run(site, tmp_path, *settings, f"SHARC_OUTPUT={tmp_path / 'capture'}", "SHARC_WRITER=bad.Bad")
    assert (
        "The crawl stops: SHARC_WRITER='bad.Bad' raised RuntimeError: of its own. That is a fault of this"
        in done.stderr
    )
    assert (done.returncode, done.stderr.count(" ERROR: ")) == (1, 1), done.stderr


@pytest.mark.slow
def test_a_crawl_whose_end_cannot_be_written_has_failed(site, tmp_path):
    (tmp_path / "bad.py").write_text(
        "from sharc_crawler.archive.warc import WarcWriter\n"
        "class Bad(WarcWriter):\n"
        "    def close(self):\n"
        "        raise RuntimeError('of its own')\n"
    )
    done = run(site, tmp_path, f"SHARC_OUTPUT={tmp_path / 'capture'}", "SHARC_WRITER=bad.Bad")
    assert (
        "The end of the crawl cannot be written: SHARC_WRITER='bad.Bad' raised RuntimeError: of its own." in done.stderr
    )
    assert done.returncode == 1


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kind, _ in PROJECTS])
def test_projects_with_log_in_and_images_bring_the_same_from_the_wheel(python, tmp_path, name, kind):
    with example_site(kind) as (url, _):
        plain, ours = (
            run_project(
                Path(shutil.copytree(PROJECT.parent / name, tmp_path / which / name)), url, *settings, python=python
            )
            for which, settings in (("plain", ()), ("ours", ARCHIVED))
        )
    assert_same(ours, plain)
    assert list((tmp_path / "ours" / name / "capture").glob("*.warc.gz"))
