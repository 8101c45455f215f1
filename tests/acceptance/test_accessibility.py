"""Pages for people, examined by axe-core in a browser: nothing that it calls serious, light and dark."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sharc_crawler.collection.page import render
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.web import WatchServer
from tests.acceptance.browser import CHROMIUM, browser
from tests.report.by_hand import rendered
from tests.report.made_up import capture
from tests.watch.test_tally import append, entry, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.acceptance.browser import Tab

AXE = Path(os.environ.get("SHARC_AXE") or Path(__file__).parents[2] / ".venv-axe/node_modules/axe-core/axe.min.js")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (.ci/run does)"),
]
CAPTURE = {
    "seed": "http://h.example/",
    "folder": "captures/h.example/20260101T000000Z",
    "time": "2026-01-01T00:00:00Z",
    "problem": None,
    "complete": True,
    "certified": True,
    "bytes": 12_345,
    "left": 0,
    "left_by_budget": None,
    "totals": {"captured": 9, "coherent": 7, "changed": 1, "unknown": 1, "not_captured": 0},
    "statement": "7 of 9 pages were in this state together.",
    "changes": None,
    "former": None,
    "report": True,
    "strategy": "sharc-selective",
    "reference": "2026-01-01T00:10:00Z",
}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(params=["light", "dark"])
def scheme(tab: Tab, request: pytest.FixtureRequest) -> None:
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": request.param}])


def findings(tab: Tab, url: str) -> list[tuple[str, str, list[Any]]]:
    """Rule, impact and places of all that axe finds wrong."""
    tab.open(url)
    tab.value(AXE.read_text(encoding="utf-8"))
    tab.value("axe.run().then((found) => { window.found = found.violations }, (error) => { window.found = error })")
    tab.wait_for("window.found !== undefined")
    return tab.value("found.map((one) => [one.id, one.impact, one.nodes.map((node) => node.target)])")


@pytest.mark.usefixtures("scheme")
def test_a_report(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(rendered(capture(60, 15.0))["report.html"], encoding="utf-8")
    assert findings(tab, (tmp_path / "report.html").as_uri()) == []


@pytest.mark.usefixtures("scheme")
def test_a_collection(tab: Tab, tmp_path: Path) -> None:
    site = {"name": "h.example", "site": "http://h.example/", "captures": [CAPTURE]}
    found = {"generator": {"name": "sharc-crawler", "version": "0"}, "title": "news", "sites": [site]}
    (tmp_path / "index.html").write_text("".join(render(found)), encoding="utf-8")
    assert findings(tab, (tmp_path / "index.html").as_uri()) == []


@pytest.mark.usefixtures("scheme")
def test_a_crawl_that_is_watched_and_takes_orders(tab: Tab, tmp_path: Path) -> None:
    append(tmp_path / "crawl.jsonl", entry(1), entry(2, "http://h.example/a", result="failed", error="refused"))
    status(tmp_path)
    watched = Watched(tmp_path)
    watched.look()
    server = WatchServer(lambda: facts(watched, 103.0), order=lambda _name, _seconds: None)
    serving = threading.Thread(target=server.serve, daemon=True)
    serving.start()
    try:
        tab.open(server.url)
        tab.wait_for("document.title.startsWith('visit')")
        assert findings(tab, server.url) == []
    finally:
        server.close()
        serving.join()
