"""A site that is kept up, captured for real: ``-a mode=continuous``."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from urllib.parse import urlsplit

from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.cli.demo import site_truth
from sharc_crawler.collection.certifying import certify_at
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.instants import unix
from sharc_crawler.storage.beside import load_state
from tests.live import warm

PAGES = 20


def words(url, base, **more):
    given = {"collection": str(base / "kept"), "url": url, "delay": "0", "sitemap": "off", "mode": "continuous"}
    given |= {"for": "1h", "requests": "360000", "max_requests": f"{13 * PAGES}"}
    return warm.site_words("SHARC_BACK_OFF=0.2", **{**given, **more})


def looks(folder):
    """Visits of each page, revisits apart."""
    state = load_state(folder)
    pages = {row.page: urlsplit(row.url).path for row in state.pages if row.kind == "page"}
    return Counter(pages[row.page] for row in state.visits if row.page in pages and row.slot != "second")


def arrived(server, download):
    """When a request that a certificate names reached the server, by its log."""
    target, sent = download["uri"].removeprefix(server.url.rstrip("/")), unix(download["date"])
    return min(one.time for one in server.log if one.target == target and one.time > sent - 1e-3)


def test_a_capture_that_is_kept_up_is_certified_at_its_end_and_at_any_instant_before(tmp_path):
    site = LivingSite(seed=6, pages=PAGES, scale=200.0, slow=0.02)
    with serve(site) as server:
        running = warm.Scrapy(words(server.url, tmp_path), tmp_path)
        begun = tmp_path / "kept" / "collection.yaml"
        while not (found := list(Collection(tmp_path / "kept").captures()) if begun.is_file() else []):
            time.sleep(0.1)
        folder = found[0].folder
        while looks(folder).total() < 3 * PAGES:
            time.sleep(0.1)
        running.send_signal(signal.SIGKILL)  # it goes on where it was
        running.wait(240)
        before = looks(folder)
        done = warm.finished(words(server.url, tmp_path), tmp_path, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert is_over(folder)
    after = looks(folder)
    assert after >= before
    assert after.total() > 4 * PAGES
    assert verify(folder).findings == []
    capture = json.loads((folder / "certificate.json").read_text())["capture"]
    captured = capture["totals"]["captured"]
    assert captured >= PAGES - 2
    assert capture["reference"]["instant"] > capture["started"]
    collection = Collection(tmp_path / "kept")
    middle = (unix(capture["started"]) + unix(capture["reference"]["instant"])) / 2
    (path,) = certify_at(collection, middle)
    then = json.loads(path.read_text())
    assert then["totals"]["captured"] >= captured - 1, "all were seen before and after"
    assert then["totals"]["coherent"] > 0
    with path.with_name(then["pages"]["name"]).open() as lines:
        judged = [entry for line in lines if (entry := json.loads(line)).get("after")]
    assert {"page", "resource"} <= {entry["kind"] for entry in judged}, "what pages embed, too"
    for entry in judged:
        changes = list(site_truth(site)(entry["url"], *(arrived(server, entry[part]) for part in ("before", "after"))))
        assert (entry["verdict"] == "changed") == bool(changes), entry
    assert CliRunner().invoke(main, ["verify", str(collection.folder)]).exit_code == 0


def test_what_cannot_be_kept_up_is_refused_before_anything_is_sent(tmp_path):
    url = "http://127.0.0.1:9/"
    for more, told in (
        ({"requests": ""}, "needs requests="),
        ({"for": ""}, "needs for="),
        ({"strategy": "sharc-online"}, "makes single visits"),
        ({"subsites": "path"}, "has several"),
        ({"upkeep": "cohernt"}, "coherent"),
        ({"browser": "always"}, "leave it out"),
    ):
        given = [one for one in words(url, tmp_path, **more) if one not in ("for=", "requests=")]
        given = [one for place, one in enumerate(given) if not (one == "-a" and given[place + 1 : place + 2] == ["-a"])]
        done = warm.finished(given, tmp_path, timeout=280)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "kept").exists()
