"""A host that was down: the same command tries again, in the same folder."""

from __future__ import annotations

import json
import threading
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sharc_crawler.certificate.verify import verify
from tests.live.conftest import _Quiet
from tests.live.serving import Answering, serving
from tests.ports import free_port

COMPLETE, USAGE, NOTHING = 0, 2, 4


def test_the_same_command_captures_a_host_that_is_up_again(tmp_path, crawl):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<a href=b.html>b</a>")
    (tmp_path / "site" / "b.html").write_text("b")
    host, port = "127.81.7.3", free_port()  # that no other test's server listens on
    again = partial(crawl, url=f"http://{host}:{port}/", delay="0.01", settings=["SHARC_BACK_OFF=0.05"])
    down = again()
    assert down.code == NOTHING, down.err
    assert "robots.txt could not be read" in down.out
    assert "Run the same command to try again in the same folder" in down.out
    digest = json.loads((down.folder / "certificate.json").read_bytes())["digest"]
    with ThreadingHTTPServer((host, port), partial(_Quiet, directory=str(tmp_path / "site"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = again()
        server.shutdown()
    assert done.code == COMPLETE, done.err
    assert done.capture["coherence"]["coherent"] == 2
    assert sum("tried again at" in note for note in done.capture["notes"]) == 1
    notes = " ".join(done.capture["notes"])
    assert "nothing on it is fetched" not in notes, "it was read"
    assert f"its certificate of before ({digest}) was withdrawn" in notes
    assert not verify(done.folder).findings
    results = [json.loads(line)["result"] for line in (done.folder / "crawl.jsonl").read_text().splitlines()]
    assert results.count("failed") == 7, "the attempts made stay on record"
    assert again().code == USAGE, "now it is complete"


def test_a_site_that_answers_with_nothing_is_not_tried_again(tmp_path, crawl, static):
    (tmp_path / "empty").mkdir()
    with static(tmp_path / "empty") as url:
        once = partial(crawl, url=f"{url}gone.html", delay="0.01")
        assert once().code == NOTHING
        assert once().code == USAGE


class _Ailing(Answering, BaseHTTPRequestHandler):
    """robots.txt is busy once, and the page fails at its first three answers."""

    def do_GET(self) -> None:
        self.server.seen = seen = getattr(self.server, "seen", Counter())
        seen[self.path] += 1
        failing = seen[self.path] <= {"/robots.txt": 1, "/": 3}.get(self.path, 0)
        status = 404 if self.path == "/sitemap.xml" else 200
        self.answer(b"" if self.path == "/robots.txt" else b"<p>a page", status=503 if failing else status)


def test_a_spent_budget_begins_anew_and_rules_that_came_late_are_kept(crawl):
    with serving(_Ailing) as url:
        again = partial(crawl, url=url, delay="0.01", max_requests="6", settings=["SHARC_BACK_OFF=0.05"])
        ailing = again()
        assert ailing.code == NOTHING, ailing.err
        assert "Run the same command to try again" in ailing.out
        well = again()
    assert well.code == COMPLETE, well.err
    assert well.capture["coherence"]["coherent"] == 1
    assert not verify(well.folder).findings
