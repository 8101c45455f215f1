"""A crawl that runs, watched in a browser: the page grows with it, gives it orders, and tells its end."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.cli.control import give
from sharc_crawler.control import ORDERS
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.web import WatchServer
from tests.acceptance.browser import CHROMIUM, browser
from tests.live.test_interruptions import select_nothing, start

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def told(watched: Watched) -> dict[str, object]:
    watched.look()
    return facts(watched, time.time())


@pytest.mark.long
def test_a_crawl_is_watched_paused_and_let_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "capture"
    with serve(LivingSite(seed=5, pages=20)) as site, browser(tmp_path / "profile") as tab:
        crawl = start(folder, site.url, delay="0.1")
        while not (folder / ORDERS).exists():
            assert crawl.poll() is None, crawl.communicate()
            select_nothing(0.05)
        server = WatchServer(partial(told, Watched(folder)), order=partial(give, folder))
        threading.Thread(target=server.serve, daemon=True).start()
        try:
            tab.open(server.url)
            tab.wait_for("document.querySelectorAll('rect.first').length > 3")
            tab.value("document.querySelector('[data-order=pause]').click()")
            tab.wait_for("document.getElementById('headline').textContent.includes('paused')")
            tab.value("document.querySelector('[data-order=resume]').click()")
            tab.wait_for(
                "document.querySelectorAll('rect.again').length > 3 && document.querySelector('line.T') !== null"
            )
            crawl.communicate(timeout=240)
            tab.wait_for("document.getElementById('headline').textContent.startsWith('The crawl is over: finished')")
            assert tab.value("document.getElementById('orders').hidden"), "there is nothing to order any more"
        finally:
            server.close()


@pytest.mark.slow
def test_no_table_is_cut_on_a_telephone_a_fleets_columns_say_what_they_count_and_trouble_passes(tmp_path: Path) -> None:
    hosts = {"host": "127.0.28.1:18328", "requests": 12_345, "pace": "every 1 min 20 s", "errors": 12}
    lines = {"hosts": [{**hosts, "last_error": "ResponseNeverReceived: status 404"}], "last": [], "pages": []}
    sites = [{"site": "h.example", "phase": "done", "pages": 9, "visits": 17, "revisits": None}]
    one = {"site": "127.0.28.1:18328", "phase": "visit", "pages": 9, "visits": 3, "revisits": 2}
    crawl = [{**one, "reference": "2026-01-01T10:10:10Z"}]
    told: dict[str, Any] = {"headline": "crawl", "counts": "", "ended": "", "captures": crawl, **lines}
    trouble: list[Exception] = []

    def answer() -> dict[str, Any]:
        if trouble:
            raise trouble[0]
        return told

    server = WatchServer(answer)
    threading.Thread(target=server.serve, daemon=True).start()
    try:
        with browser(tmp_path / "profile") as tab:
            tab.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
            tab.open(server.url)
            tab.wait_for("document.title === 'crawl'")
            cut = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length"
            assert tab.value(cut) == 0
            told = {"headline": "fleet", "counts": "", "ended": "", "captures": sites, "workers": []}
            tab.wait_for("document.title === 'fleet'")
            heads = "[...document.querySelectorAll('[data-of=captures] th')].filter((one) => !one.hidden)"
            assert tab.value(f"{heads}.map((one) => one.textContent).join()") == "site,phase,visits,pages"
            assert tab.value("document.querySelector('#sites').textContent") == "h.exampledone179"
            headline = "document.getElementById('headline').textContent"
            trouble.append(StoreUnavailable("the fleet's database: it starts up"))
            tab.wait_for(f'{headline} === "the fleet\'s database: it starts up"')
            trouble[0] = ZeroDivisionError("nothing is answered at all")
            tab.wait_for(f"{headline}.startsWith('sharc watch does not answer')")
            trouble.clear()
            tab.wait_for(f"{headline} === 'fleet'")
    finally:
        server.close()
