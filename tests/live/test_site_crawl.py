"""The main job: a capture of a living site, judged as the site itself would."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.report.claim import sentence
from tests.certificate.test_certificate import SCHEMA
from tests.report.by_hand import load_facts


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def records(warcs, *kinds):
    for warc in warcs:
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type in kinds:
                    yield record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record


@pytest.fixture(scope="module")
def captured(run_crawl, tmp_path_factory):
    """One capture, looked at from all sides: what the crawl left, and the server."""
    with serve(LivingSite(seed=7, pages=60, scale=9000.0, slow=0.05)) as server:
        folder = tmp_path_factory.mktemp("living")
        done = run_crawl(folder, url=server.url, strategy="sharc-selective", delay="0.01")
        assert done.code == 0, done.err
        yield done, server


def test_the_capture_is_whole_judged_and_true(captured):
    done, server = captured
    site = server.site

    def truth(url, start, end):
        path = path_of(url)
        return site.changes(path, start, end) if path in site.paths or path in site.resources else None

    (facts,) = load_facts(done.folder, truth)
    assert facts.ended is not None
    judged = [page for page in facts.pages if page.truth is not None and page.verdict != "unknown"]
    assert len(judged) > 60
    for page in judged:
        close = [at for at in page.true_changes for v in (page.visit, page.revisit) if v and abs(at - v.started) < 1.0]
        if not close:
            assert (page.verdict == "coherent") == page.truth, page
    assert any(page.verdict == "changed" for page in judged), "a site that lives this fast changes"
    pages = {path_of(page.url) for page in facts.pages if page.visit and page.visit.status == 200}
    listed = {path for path in site.paths if not path.startswith("/private/")}
    assert listed <= pages, "every page of the site is captured"
    assert set(site.resources) <= pages, "and what the pages need"


def test_every_decision_is_taken_after_the_page_before_was_handled(captured):
    done, _ = captured
    (facts,) = load_facts(done.folder)
    made = sorted(
        (visit.started, visit.ended, visit.decided)
        for page in facts.pages
        for visit in (page.visit, page.revisit)
        if visit
    )
    assert all(after[2] >= before[1] for before, after in pairwise(made))


def test_the_warc_holds_every_visit_and_is_sound(captured):
    done, server = captured
    asked = Counter(path_of(request.target) for request in server.log)
    stored = Counter(path_of(url) for kind, url, _ in records(done.warcs, "response", "revisit"))
    assert stored == asked
    assert len(list(records(done.warcs, "request"))) == sum(asked.values())
    check = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *map(str, done.warcs)], check=False)
    assert check.returncode == 0
    for warc in done.warcs:
        with gzip.open(warc) as stream:
            while stream.read(1 << 20):
                pass


def test_private_pages_stay_private_and_unchanged_pages_are_revisit_records(captured):
    done, server = captured
    assert not any(request.target.startswith("/private/") for request in server.log)
    profiles = {
        record.rec_headers.get_header("WARC-Profile").rpartition("/")[2]
        for _, _, record in records(done.warcs, "revisit")
    }
    assert profiles == {"server-not-modified", "identical-payload-digest"}
    assert any(request.conditional for request in server.log)


def test_every_statement_of_the_certificate_can_be_proved(captured):
    done, _ = captured
    verification = verify(done.folder)
    assert verification.findings == []
    assert [*map(sentence, verification.claims)] == [done.capture["claim"]["sentence"]]
    document = json.loads((done.folder / "certificate.json").read_text())
    Draft202012Validator(SCHEMA).validate(document)
    assert document["digest"] in done.out


def test_the_summary_says_what_a_person_wants_to_know(captured):
    done, _ = captured
    assert "pages were in this state together at" in done.out
    assert "report.html" in done.out
    assert "warc.gz" in done.out


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["sharc-online", "bfs:revisits=fifo", "dfs"])
def test_other_strategies_capture_the_whole_site_too(crawl, living_site, strategy):
    done = crawl(url=living_site.url, strategy=strategy, delay="0")
    assert done.code == 0, done.err
    pages = {page["url"] for page in done.capture["pages"] if page["visit"] and page["visit"]["status"] == 200}
    assert len(pages) >= 30


def test_the_feeds_that_a_front_page_names_are_pages_of_the_capture(crawl, static, tmp_path):
    """Those of its other pages are not: blogs have one of the comments on each post."""
    site = tmp_path / "site" / "en"
    site.mkdir(parents=True)
    alternate = "<link rel=alternate type=application/{}+xml href={}.xml>"
    (site / "index.html").write_text(f"{alternate.format('rss', 'news')}<a href=post.html>post</a>")
    (site / "post.html").write_text(f"{alternate.format('atom', 'comments')}<a href=/en/>front page</a>")
    for name in ("news", "comments"):
        (site / f"{name}.xml").write_text("<rss><channel><item><link>/en/linked.html</link></item></channel></rss>")
    (site / "linked.html").write_text("named by the feed alone")
    with static(site.parent) as url:
        done = crawl(url=f"{url}en", delay="0.01")  # which redirects to en/
    assert done.code == 0, done.err
    verdicts = {page["url"].removeprefix(url): page["verdict"] for page in done.capture["pages"]}
    assert verdicts.pop("en") is None, "redirected"
    assert verdicts == dict.fromkeys(["en/", "en/post.html", "en/news.xml", "en/linked.html"], "coherent")
    assert "comments.xml" not in (done.folder / "report.json").read_text()


@pytest.mark.long
def test_several_sites_are_captured_side_by_side(crawl, living_site):
    with serve(LivingSite(seed=8, pages=20, slow=0.1), host="127.0.0.2") as other:
        done = crawl(url=f"{living_site.url},{other.url}", delay="0.02")
        assert done.code == 0, done.err
        captures = done.captures
        assert len(captures) == 2
        assert all(capture["times"]["reference"] for capture in captures)
        starts = [capture["times"]["started"] for capture in captures]
        ends = [capture["times"]["ended"] for capture in captures]
        assert max(starts) < min(ends), "neither waits for the other"
        names = {warc.name.split("-20")[0] for warc in done.warcs}
        assert len(names) == 2
        verification = verify(done.folder)
        assert verification.findings == []
        assert len(verification.claims) == 2
