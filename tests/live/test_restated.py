"""Where crawl and records are apart on single pages, these are unknown; all others keep what they were shown to be."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from itertools import count

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from tests.live.conftest import captures_of
from tests.live.serving import Answering, serving

PAGES = 8
DATED = 40  #: pages of the site that dates them
RESTLESS = "3"

STORE = """
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Verdict
from sharc_crawler.storage.sqlite import SqliteStore
class Careless(SqliteStore):
    def urls(self, capture):
        for row in super().urls(capture):
            name = row.page.key[-2:]
            if name == "/3":
                told = {"verdict": Verdict.COHERENT, "evidence": Evidence.BYTES, "reason": Reason.EQUAL_BYTES}
                row = row._replace(judgement=row.judgement and row.judgement._replace(**told))
            if name == "/4":
                row = row._replace(visits=tuple(
                    one._replace(outcome=one.outcome._replace(digest="sha1:" + 32 * "A")) for one in row.visits
                ))
            if name != "/5":
                yield row
"""

WRITER = """
from collections import Counter
from dataclasses import replace
from sharc_crawler.archive.warc import WarcWriter
class Altering(WarcWriter):
    seen = Counter()
    def write(self, exchange, packed=None):
        self.seen[exchange.url] += 1
        if exchange.url.endswith("/6") and self.seen[exchange.url] == 2:
            exchange = replace(exchange, response=bytes(exchange.response).replace(b"same", b"othe"))
        if exchange.url.endswith("/sitemap.xml"):
            exchange = replace(exchange, response=bytes(exchange.response).replace(b"2006-01-01", b"2099-01-01"))
        return super().write(exchange, packed)
"""


class Site(Answering, BaseHTTPRequestHandler):
    asked = count()

    def do_GET(self):
        if self.path in ("/robots.txt", "/sitemap.xml"):
            self.answer(b"", status=404)
            return
        text = next(self.asked) if self.path == f"/{RESTLESS}" else f"same {self.path}"
        links = "".join(f"<a href=/{n}>{n}</a>" for n in range(PAGES))
        self.answer(f"<p>{text}</p>{links}".encode())


class DatedSite(Answering, BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/sitemap.xml":
            base = f"http://{self.headers['Host']}"
            entries = "".join(
                f"<url><loc>{base}/{n}</loc><lastmod>{2000 + n % 10}-01-01</lastmod></url>" for n in range(DATED)
            )
            self.answer(f"<urlset>{entries}</urlset>".encode(), "application/xml")
        elif self.path == "/robots.txt":
            self.answer(b"", status=404)
        else:
            self.answer(f"<p>{self.path}</p><a href=/{DATED - 1}></a>".encode())


@pytest.fixture
def plug_ins(tmp_path, monkeypatch):
    (tmp_path / "apart.py").write_text(STORE + WRITER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SHARC_STORE", "apart.Careless")  # who reads the folder knows it


def run(command, folder, *words):
    done = CliRunner().invoke(main, [command, str(folder), *words])
    assert done.exit_code == 0, done.output
    return done.output


def of_pages(folder):
    (capture,) = captures_of(folder)
    return {page["url"].rpartition("/")[2]: (page["verdict"], page["code"]) for page in capture["pages"]}


@pytest.mark.parametrize(
    ("setting", "apart"),
    [
        ("SHARC_STORE=apart.Careless", {"3": "unknown", "4": "unknown", "5": None}),
        ("SHARC_WRITER=apart.Altering", {"6": "unknown"}),
    ],
    ids=["a store that changes rows", "a writer that changes answers"],
)
def test_pages_of_which_records_show_something_else_cost_no_other_page_its_claim(setting, apart, crawl, plug_ins):
    with serving(Site) as url:
        done = crawl(url=url, delay="0", settings=[setting])
    assert done.code == 0, done.err
    pages = of_pages(done.folder)
    assert {name: pages[name] for name in apart} == {name: (verdict, "refuted") for name, verdict in apart.items()}
    others = [verdict for name, (verdict, _) in pages.items() if name not in {*apart, RESTLESS}]
    assert set(others) == {"coherent"}
    told_and_proved(done, pages)


@pytest.mark.slow
def test_so_it_is_where_the_records_sitemaps_say_something_else(crawl, plug_ins):
    with serving(DatedSite) as url:
        done = crawl(url=url, delay="0", strategy="sharc-attested", settings=["SHARC_WRITER=apart.Altering"])
    assert done.code == 0, done.err
    pages = of_pages(done.folder)
    apart = {name for name, (_, code) in pages.items() if code == "refuted"}
    assert apart
    assert all(name.endswith("6") and pages[name][0] == "unknown" for name in apart)
    assert {verdict for name, (verdict, _) in pages.items() if name not in apart} == {"coherent"}
    told_and_proved(done, pages)


def told_and_proved(done, pages):
    """It is said in the terminal and in the report, and a report that is made again says the same."""
    assert "The WARC files do not support the crawl's verdicts on" in done.out
    assert "please report it" in (done.folder / "report.html").read_text()
    assert "Everything holds" in run("verify", done.folder)
    lines = (done.folder / "report-pages.jsonl").read_text()
    run("report", done.folder)  # its state keeps what was judged
    assert (done.folder / "report-pages.jsonl").read_text() == lines
    assert "Everything holds" in run("verify", done.folder)
    (told,) = json.loads(run("report", done.folder, "--json"))["captures"]
    assert told["coherence"]["coherent"] == sum(verdict == "coherent" for verdict, _ in pages.values())
