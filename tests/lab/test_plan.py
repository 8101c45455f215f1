"""What is known of a site before it is crawled, and what a capture of it would come to."""

from __future__ import annotations

import gc
import gzip
import json
import math
import zipfile
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.cli.plan import COSTLY, _show
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.lab import prospect as module
from sharc_crawler.lab.driver import Simulation
from sharc_crawler.lab.plan import MANY, foresee
from sharc_crawler.lab.prospect import OUR_PAGES, Prospect, from_file
from sharc_crawler.links.entries import Entry
from sharc_crawler.model import Change, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.report.packaging import package
from sharc_crawler.report.write import write as write_report
from sharc_crawler.storage.observations import ObservationStore
from tests.certificate.made import certified
from tests.lab.small import write_history

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://h/</loc><changefreq>daily</changefreq></url>
<url><loc>http://h/a</loc><changefreq>yearly</changefreq></url>
</urlset>"""
REPORT = b'{\n "format": "sharc-report",\n "captures": [{}]\n}\n'
PAGES = [
    {"url": "http://h/", "kind": "page", "rate": 2.0, "verdict": "changed", "visit": {}, "reason": ""},
    {"url": "http://h/gone", "kind": "page", "rate": 2.0, "verdict": None, "visit": {}, "reason": "404"},
    {"url": "http://h/shut", "kind": "page", "rate": 2.0, "verdict": None, "visit": None, "reason": "no"},
    {"url": "http://h/next", "kind": "page", "rate": 1.0, "verdict": None, "visit": None, "reason": ""},
    {"url": "http://h/i.png", "kind": "resource", "rate": 0.0},
]
LINES = "".join(f"{json.dumps(page)}\n" for page in PAGES).encode()


def write(folder: Path, body: bytes, name: str = "source") -> Path:
    path = folder / name
    path.write_bytes(body)
    return path


def test_a_sitemap_is_let_go_before_its_pages_are_rated(tmp_path, monkeypatch):
    chain, alive = module.default_chain(), []

    def rates(sightings, now):
        alive.append(sum(isinstance(one, Entry) for one in gc.get_objects()))
        return chain.rates(sightings, now)

    monkeypatch.setattr(module, "default_chain", lambda: SimpleNamespace(rates=rates))
    assert from_file(write(tmp_path, SITEMAP), now=0.0).urls
    assert alive == [0]


def test_from_a_sitemap_gzipped_or_not(tmp_path):
    for body in (SITEMAP, gzip.compress(SITEMAP)):
        found = from_file(write(tmp_path, body), now=0.0)
        assert found.urls == ["http://h/", "http://h/a"]
        assert found.rates[0] * DAY == pytest.approx(1.0)
        assert found.rates[1] < found.rates[0] / 300


def test_from_a_report_of_a_former_capture(tmp_path):
    found = from_file(write(tmp_path, LINES), now=0.0)
    assert (found.urls, found.rates.tolist()) == (["http://h/", "http://h/next"], [2.0, 1.0])  # not what it missed
    assert found.shapes.tolist() == [math.inf, math.inf]


def test_from_a_history(tmp_path):
    found = from_file(write_history(tmp_path), now=0.0)
    assert found.urls == ["/", "/a", "/c"]  # /b has vanished
    assert np.isfinite(found.rates).all()
    assert found.rates[1] == found.rates.max()


def test_from_an_archives_history(tmp_path):
    path = tmp_path / "archive.sqlite"
    changes = (Change.CHANGED, Change.UNCHANGED)
    day = [Observation("a", Url("http://a/"), t * DAY, Result.OK, change=changes[t % 2]) for t in range(20)]
    with ObservationStore(path) as store:
        store.append([*day, Observation("a", Url("http://a/gone"), 1.0, Result.GONE)])
    found = from_file(path, now=20 * DAY)
    assert found.urls == ["http://a/"]
    assert 0.1 < found.rates[0] * DAY < 2
    with ObservationStore(path) as store:
        store.append([Observation("b", Url("http://b/"), 0.0, Result.OK)])
    assert from_file(path, now=20 * DAY, site="b").urls == ["http://b/"]
    with pytest.raises(UsageError, match=r"holds 2 sites: say which with --site \(a, b"):
        from_file(path, now=0.0)
    with pytest.raises(UsageError, match="site='c' is not known"):
        from_file(path, now=0.0, site="c")


def test_the_command_on_the_folder_of_a_capture(tmp_path):
    empty = CliRunner().invoke(main, ["plan", str(tmp_path)])
    assert empty.exit_code == 2
    assert f"sharc report {tmp_path} writes it" in empty.stderr
    write(tmp_path, REPORT, "report.json")
    write(tmp_path, LINES, "report-pages.jsonl")
    done = CliRunner().invoke(main, ["plan", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["pages"] == 2


CDX = b""" CDX N b a m s k r M S V g
h)/ 20200101000000 http://h/ text/html 200 A - - 1 0 f
h)/ 20200201000000 http://h/ text/html 200 B - - 1 0 f
h)/ 20200301000000 http://h/ text/html 200 C - - 1 0 f
h)/a 20200101000000 http://h/a text/html 200 A - - 1 0 f
h)/a 20200201000000 http://h/a text/html 200 A - - 1 0 f
h)/a 20200301000000 http://h/a text/html 200 A - - 1 0 f
h)/i.png 20200101000000 http://h/i.png image/png 200 A - - 1 0 f
"""


def test_from_an_index_of_captures(tmp_path):
    headless = CDX.partition(b"\n")[2]
    for body in (CDX, gzip.compress(CDX), headless, headless.replace(b"\n", b"\r\n")):
        found = from_file(write(tmp_path, body, "index.cdx"), now=1585699200.0)
        assert found.urls == ["http://h/", "http://h/a"]
        assert found.rates[0] > 3 * found.rates[1]


@pytest.mark.slow
def test_from_a_capture_of_ours_as_one_file_or_as_its_archives(tmp_path):
    facts = certified(tmp_path, max_size=4_000)
    write_report([facts], tmp_path)
    packed = package(tmp_path, [facts])
    report = from_file(tmp_path / "report.json", now=0.0)
    assert report.urls == from_file(packed, now=0.0).urls
    assert report.rates.tolist() == from_file(packed, now=0.0).rates.tolist()
    (tmp_path / "report.json").unlink()
    warc = max(tmp_path.glob("*.warc.gz"), key=lambda file: file.stat().st_size)
    for source in (packed, warc, tmp_path):
        done = CliRunner().invoke(main, ["plan", str(source), "--json", "--strategy", "bfs"])
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["pages"] > 0
    foreign = tmp_path / "foreign.wacz"  # without a report of ours
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(foreign, "w") as new:
        for name in old.namelist():
            if not name.startswith("report/"):
                new.writestr(name, old.read(name))
    assert len({*from_file(foreign, now=0.0).urls} & {*report.urls}) > 2


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"PK\x03\x04cut off", "is no whole WACZ file"),
        (b"WARC/1.1\r\nnothing", "no usable capture"),
        (b"<sitemapindex><sitemap><loc>http://h/s.xml</loc></sitemap></sitemapindex>", "is an index of 1 sitemaps"),
        (b"<html><body>Not found</body></html>", "source: "),
        (b"", "source: empty"),
        (b"{}", "is no report of a capture"),
        (REPORT, "is no report of a capture"),
        (gzip.compress(SITEMAP)[:40], "cannot be unpacked to its end"),
        (gzip.compress(SITEMAP)[:20] + b"\xff" * 40, "cannot be unpacked to its end"),
    ],
)
def test_files_that_name_no_pages(tmp_path, body, what):
    with pytest.raises(DataError, match=what):
        from_file(write(tmp_path, body), now=0.0)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_package(tmp_path, method):
    path = tmp_path / "source.wacz"
    with zipfile.ZipFile(path, "w", method) as package:
        package.writestr(OUR_PAGES, '{"kind": "page"}\n' * 99)
    data = bytearray(path.read_bytes())
    data[60:70] = b"\xff" * 10
    path.write_bytes(data)
    with pytest.raises(DataError, match="is no whole WACZ file"):
        from_file(path, now=0.0)


def prospect(*rates, attested=False):
    pages, size = [f"/{page}" for page in range(len(rates))], len(rates)
    return Prospect("given", pages, np.array(rates), np.full(size, math.inf), np.full(size, attested))


def test_the_papers_example_foreseen():
    # Examples 9 to 11: pages on intervals 0, 2, 4, 6, 8
    found = foresee(prospect(0.20, 0.25, 0.30, 0.35, 0.40), "sharc-selective", delay=1.0, start=100.0)
    assert (found.downloads, found.seconds, found.unknown) == (9, 8.0, 0)
    assert found.hopeless == ("/2", "/3")
    best = 1 + math.exp(-0.25 * 2) + math.exp(-0.20 * 4) + math.exp(-0.30 * 6) + math.exp(-0.35 * 8)
    assert found.expected_coherent == pytest.approx(best)
    assert found.hopeless_incoherent == pytest.approx(2 - math.exp(-0.30 * 6) - math.exp(-0.35 * 8))
    assert found.expected_coherent + found.expected_incoherent == pytest.approx(5)


def test_single_visits_promise_blur_and_no_coherence():
    found = foresee(prospect(0.0, 1.0, 2.0, 3.0, 4.0, 5.0), "sharc-offline", delay=1.0, start=0.0)
    assert found.expected_blur == pytest.approx(22.7 / 6)  # Example 2
    assert (found.unknown, found.expected_coherent, found.expected_incoherent) == (6, 0.0, 0.0)


def test_where_lastmods_attest_single_visits_are_foreseen():
    told = prospect(*[0.01] * 9, attested=True)
    found = foresee(told, "sharc-attested", delay=1.0, start=0.0)
    assert (found.unknown, found.hopeless) == (0, ())
    assert (found.downloads, found.seconds) == (9 + 3 + 5, 16.0)  # the sitemap thrice; five are audited
    T = 10  # the second reading comes after all visits
    assert found.expected_coherent == pytest.approx(sum(math.exp(-0.01 * (T - d)) for d in range(1, T)))
    untold = foresee(prospect(*[0.01] * 9), "sharc-attested", delay=1.0, start=0.0)
    assert untold.expected_coherent < found.expected_coherent
    assert found.expected_coherent > foresee(told, "sharc-selective", delay=1.0, start=0.0).expected_coherent


def test_rates_of_a_sitemap_are_those_of_a_long_capture_too():
    """A later reading of the sitemap asks no source again: there is none in a plan."""
    told = prospect(*[0.5 / DAY, 0.001 / DAY] * 100, attested=True)
    found = foresee(told, "sharc-attested", delay=0.07 * DAY, start=0.0)
    assert found.expected_coherent + found.expected_incoherent == pytest.approx(200)


def test_a_sitemap_attests_what_it_says_had_changed_before_today(tmp_path):
    day = "<url><loc>http://h/{}</loc><lastmod>1970-01-0{}</lastmod></url>"
    body = f"<urlset>{day.format('a', 1)}{day.format('b', 3)}<url><loc>http://h/c</loc></url></urlset>"
    assert from_file(write(tmp_path, body.encode()), now=2.5 * DAY).attested.tolist() == [True, False, False]


def test_the_command(tmp_path):
    source = write(tmp_path, SITEMAP)
    done = CliRunner().invoke(main, ["plan", str(source), "--delay", "3600", "--strategy", "bfs, sharc-selective"])
    assert done.exit_code == 0, done.output
    assert "3:00:00" in done.stdout
    done = CliRunner().invoke(main, ["plan", str(source), "--json"])
    found = json.loads(done.stdout)
    assert found["pages"] == 2
    selective, attested = found["plans"][-2:]
    assert (selective["strategy"], attested["strategy"]) == ("sharc-selective", "sharc-attested")
    assert found["plans"][0]["seconds"] == 3.0


def test_the_command_lists_hopeless_pages(tmp_path):
    urls = "".join(f"<url><loc>http://h/{i}</loc><changefreq>always</changefreq></url>" for i in range(40))
    source = write(tmp_path, f"<urlset>{urls}</urlset>".encode().replace(b">always", b">hourly", 20))
    done = CliRunner().invoke(main, ["plan", str(source), "--delay", "60", "--strategy", "sharc-selective"])
    assert done.exit_code == 0, done.output
    assert "sharc-selective gives up http://h/2" in done.stdout


def test_pages_given_up_of_which_none_is_expected_to_change_are_not_listed(capsys):
    rates, shapes = np.array([0.002, 0.001, 0.001]), np.array([1.0, 0.5, 5.0])  # two as rare, one of them better known
    prospect = Prospect("made", [f"http://h/{place}" for place in range(3)], rates, shapes, np.zeros(3, np.bool_))
    plan = foresee(prospect, "sharc-optimal", 1.0, 0.0)
    assert plan.hopeless
    assert 0 < plan.hopeless_incoherent < COSTLY
    _show(prospect, 1.0, [], [plan])
    assert "gives up" not in capsys.readouterr().out


@pytest.mark.parametrize("address", ["http://[bad", "http://[bad/sitemap.xml", "ftp://a.example/", "https://"])
def test_the_command_on_what_is_no_address(address):
    done = CliRunner().invoke(main, ["plan", address])
    assert (done.exit_code, done.exception.__class__) == (2, SystemExit), done.output
    assert f"url={address!r} is not an http(s) URL" in done.stderr


def test_the_command_on_a_file_that_is_nothing(tmp_path):
    done = CliRunner().invoke(main, ["plan", str(write(tmp_path, b"nothing"))])
    assert done.exit_code == 3
    assert "neither XML nor a list of addresses" in done.stderr


def test_what_nothing_tells_is_counted_as_guessed(tmp_path):
    told = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://h/%d</loc>%s</url></urlset>'
    assert from_file(write(tmp_path, told % (1, b"")), now=0.0).guessed == 1
    assert from_file(write(tmp_path, told % (1, b"<changefreq>daily</changefreq>")), now=0.0).guessed == 0
    guesses = b"".join(json.dumps(page | {"rate_source": "prior"}).encode() + b"\n" for page in PAGES)
    assert from_file(write(tmp_path, guesses), now=0.0).guessed == 2


def test_a_plan_of_guesses_says_so_first(tmp_path):
    guesses = b"".join(json.dumps(page | {"rate_source": "prior"}).encode() + b"\n" for page in PAGES)
    done = CliRunner().invoke(main, ["plan", str(write(tmp_path, guesses)), "--strategy", "bfs"])
    assert done.stdout.lstrip().startswith("Coherence and blur below cannot be relied on: all rates are guesses")
    known = CliRunner().invoke(main, ["plan", str(write(tmp_path, LINES)), "--strategy", "bfs"])
    assert "relied on" not in known.output
    assert "Downloads are those of pages alone: pictures, styles and scripts come on top" in known.output


def test_pages_of_several_hosts_are_said_to_be_planned_as_one_site(tmp_path):
    urls = "".join(f"<url><loc>http://{host}/</loc></url>" for host in "dabc")
    source = write(tmp_path, f"<urlset>{urls}</urlset>".encode())
    done = CliRunner().invoke(main, ["plan", str(source), "--strategy", "bfs"])
    assert "Note: pages of 4 hosts (a, b, c, …) are planned as one site." in done.stdout


def test_a_capture_of_many_pages_that_was_foreseen_is_let_go_before_the_next():
    size = MANY + 1
    prospect = Prospect("t", [f"http://h/{n}" for n in range(size)], np.ones(size), np.ones(size), np.zeros(size, bool))
    gc.disable()
    try:
        foresee(prospect, "bfs", 1.0, 0.0)
        left = [one for one in gc.get_objects() if isinstance(one, Simulation)]
    finally:
        gc.enable()
    assert not left
