"""A host that was down: the same command tries again, in the same folder."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import ThreadingHTTPServer

from sharc_crawler.certificate.verify import verify
from tests.live.conftest import _Quiet
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
    assert "robots.txt could not be had" in down.out
    assert "the same command tries again, in the same folder" in down.out
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
