"""What a project's middlewares repeat and follow, and what its forms hold, is told in its reports."""

from __future__ import annotations

import http.server
import json
from collections import Counter
from types import SimpleNamespace

from scrapy import Request

from sharc_crawler.certificate.verify import verify
from sharc_crawler.live.project.middleware_notes import IN_CLEAR, hops_note, note_hops, repeats
from tests.live.conftest import captures_of
from tests.live.dropin_runs import ADDON, run
from tests.live.serving import Answering, serving

MEMBER = """
import scrapy


class Member(scrapy.Spider):
    name = "member"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective", "RETRY_TIMES": 2}

    async def start(self):
        for name in ("flaky", "broken", "old", "new", "plain"):
            yield scrapy.Request(self.url + name)
        yield scrapy.FormRequest(self.url + "login?back=1", formdata={"pw": "sesame"})

    def parse(self, response):
        yield {"url": response.url}
"""


def site() -> type[http.server.BaseHTTPRequestHandler]:
    asked: Counter[str] = Counter()

    class Site(Answering, http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            asked[name] += 1
            failed = name == "broken" or (name == "flaky" and asked[name] % 3)
            if name == "old":
                self.answer(b"", status=302, Location="led")
            elif name == "plain":
                self.answer(b"<html>made</html>", status=201, Location="nowhere")
            else:
                self.answer(f"<html>{name}</html>".encode(), status=503 if failed else 200)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(b"", status=302, Location="/member")

    return Site


def test_what_was_repeated_followed_and_sent_in_clear_is_told(tmp_path):
    (tmp_path / "poll.py").write_text(MEMBER)
    with serving(site()) as url:
        done = run(tmp_path, url, ADDON)
    (capture,) = captures_of(tmp_path / "capture")
    pages = {page["url"]: page for page in capture["pages"]}
    posted = pages[f"POST {url}login?back=1"]
    assert (posted["kind"], posted["visit"]["status"], posted["target"]) == ("resource", 200, f"{url}member")
    assert pages[f"{url}old"]["target"] == f"{url}led"
    assert {name: pages[url + name]["target"] for name in ("new", "plain", "flaky", "broken")} == dict.fromkeys(
        ("new", "plain", "flaky", "broken")
    ), "a Location that nobody followed is none"
    assert (pages[f"{url}flaky"]["visit"]["status"], pages[f"{url}flaky"]["visit"]["attempts"]) == (200, 1)
    # flaky: two before each of its downloads; broken, which has no revisit: two; old: at both of its downloads
    assert hops_note(6, 3) in capture["notes"]
    assert IN_CLEAR in capture["notes"]
    assert done.stderr.count(f"POST {url}login: {IN_CLEAR}") == 1, "without what its address holds"
    assert "sesame" not in done.stderr
    assert "in the WARC files as they were sent, passwords in" in " ".join(done.stderr.split())
    lines = [json.loads(line) for line in (tmp_path / "capture" / "crawl.jsonl").read_text().splitlines()]
    assert [line["location"] for line in lines if line["url"].endswith("/old")] == [f"{url}led"] * 2
    assert verify(tmp_path / "capture").findings == []


def test_a_retry_is_told_from_a_redirect_by_its_count():
    first = Request("http://h/a", meta={"retry_times": 1})
    assert repeats(first, first.replace(meta={"retry_times": 2}))
    assert not repeats(first, first.replace(meta={"retry_times": 1, "redirect_times": 1}))
    assert repeats(None, first)


def test_a_crawl_that_goes_on_counts_on_in_the_note_of_the_one_before(monkeypatch):
    monkeypatch.setenv("SHARC_DOCS", "https://docs.example:8080/v2")
    notes = ["another", hops_note(1000, 1)]
    capture = SimpleNamespace(notes=notes)

    def note(text, instead_of):
        notes[notes.index(instead_of)] = text

    note_hops(SimpleNamespace(capture=capture, note=note), SimpleNamespace(hops=3, repeated=2))
    assert notes == ["another", hops_note(1002, 2)]
