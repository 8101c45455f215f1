"""Instant crawls, live, of hubs whose dates mislead: all that appears is captured, and delays are bounds."""

from __future__ import annotations

import itertools
import json
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.instants import unix
from tests.live.serving import Answering, serving
from tests.live.warm import finished, site_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERY = 0.45  #: seconds between two new pages


class Hubs:
    """A site with one hub; a page appears on it every so often. ``ahead``: of its clock, seconds."""

    def __init__(self, ahead: float = 0.0, early: float = 0.0, bare: bool = False, html: bool = False) -> None:
        self.ahead, self.early, self.bare, self.html = ahead, early, bare, html
        self.began = time.time()
        self.polls: list[float] = []  # when the hub was asked
        self.broken = itertools.count()

    def born(self, number: int) -> float:
        return self.began + number * EVERY

    def numbers(self, now: float) -> range:
        return range(-5, int((now - self.began) / EVERY) + 1)

    def hub(self, now: float) -> tuple[str, str]:
        self.polls.append(now)
        if self.html:
            links = "".join(f'<a href="/page/{n}">{n}</a>' for n in self.numbers(now))
            return "text/html", f"<html><body>{links}</body></html>"
        return "application/xml", "".join(
            ["<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:n='x'>"]
            + [f"<url><loc>{self.url}page/{n}</loc>{self.news(n)}</url>" for n in self.numbers(now)]
            + ["</urlset>"]
        )

    def news(self, number: int) -> str:
        stated = datetime.fromtimestamp(self.born(number) + self.ahead - self.early, UTC)
        text = f"{stated:%Y-%m-%d}" if self.bare else f"{stated:%Y-%m-%dT%H:%M:%SZ}"
        return f"<n:news><n:publication_date>{text}</n:publication_date></n:news>"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        hubs = self

        class Handler(Answering, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                now = time.time()
                status, kind, text = 200, "text/html", f"<html><body>{self.path}</body></html>"
                if self.path == "/hub" and hubs.html and next(hubs.broken) % 4 == 1:
                    status, text = 503, "later"
                elif self.path == "/hub":
                    kind, text = hubs.hub(now)
                elif not self.path.startswith("/page/"):
                    status = 404
                self.answer(text.encode(), kind, status)

            def date_time_string(self, timestamp: float | None = None) -> str:
                return format_datetime(datetime.fromtimestamp(time.time() + hubs.ahead, UTC), usegmt=True)

        return Handler


def crawled(world: dict, folder: Path) -> Iterator[tuple[Hubs, dict]]:
    """Hubs and the report of an instant crawl of them; of longer ones, where a busy machine polls no hub twice."""
    for seconds in (3, 15, 75):
        hubs, output = Hubs(**world), folder / f"{seconds}"
        with serving(hubs.handler()) as url:
            hubs.url = url
            given = {"mode": "instant", "every": "0.7s", "for": f"{seconds}s", "delay": "0.02"}
            done = finished(site_words("SHARC_BACK_OFF=0.1", url=f"{url}hub", output=output, **given), folder)
        assert done.returncode == 0, done.stderr
        yield hubs, json.loads((output / "report.json").read_text())


@pytest.mark.matrix
@pytest.mark.parametrize(
    "world",
    [
        pytest.param({"early": 600.0}, id="dates early"),
        pytest.param({"ahead": -600.0}, id="clock behind", marks=pytest.mark.long),
        pytest.param({"ahead": 600.0}, id="clock ahead"),
        pytest.param({"bare": True}, id="bare dates", marks=pytest.mark.long),
        pytest.param({"html": True}, id="HTML alone, failing"),
    ],
)
def test_all_that_appears_is_captured_within_its_bounds(world, tmp_path):
    hubs, report = next(two for two in crawled(world, tmp_path) if len(two[0].polls) > 1)
    appeared = {n for n in hubs.numbers(hubs.polls[-1]) if n not in hubs.numbers(hubs.polls[0])}
    found = {int(page["url"].rpartition("/")[2]): page for page in report["pages"]}
    assert appeared <= set(found), "none is lost"
    started = unix(report["started"])
    for number in set(found) - appeared:  # dates are to the second: truth lies between bounds, as of all pages below
        after, before = unix(found[number]["not_before"]), unix(found[number]["not_after"])
        assert (after + before) / 2 >= started - 0.01, "none is more likely to be older than the crawl"
    for number, page in found.items():
        true = unix(page["captured"]) - hubs.born(number)
        assert page["delay_least"] - 0.01 <= true <= page["delay"] + 0.01
    early = sum(page["date"] == "early" for page in found.values())
    assert early == report["dates"].get("early", 0) == (len(found) if "early" in world else 0)
