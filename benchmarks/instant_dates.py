"""What an instant crawl makes of dates that mislead: real crawls over loopback, judged by what each poll was shown.

    python benchmarks/instant_dates.py [--seeds 3] [--minutes 2]

The living site's newsroom, 3,000 articles an hour, hubs every 6 seconds: one crawl for each kind of site, all kinds at
once, one seed after the other. *Appeared*: articles that some poll of a hub was shown and the hub's first one was not.
Each is captured, or named by the report (with what became of it), or lost. *Within*: of the captured, those whose true
delay lies between the two bounds of the report.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.cli.demo import PROFILE
from sharc_crawler.demo import LivingSite, newsroom, serve
from sharc_crawler.demo.answers import http_date, parse_http_date
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.demo.answers import Response

MINUTES, HOUR = 60.0, 3600.0
STATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT")
ARTICLE = re.compile(r"/newsroom/[a-z]+/\d+\.html")
SLACK = 0.01  #: seconds by which what the report rounds may differ


@dataclass(frozen=True)
class Manner:
    """How a site dates, and what it is asked for."""

    name: str
    hub: str = newsroom.SITEMAP
    ahead: float = 0.0  #: of the server's clock
    dated: float = 0.0  #: of the dates, beyond the clock
    form: str = ""  #: of the dates; empty: as they are
    failing: float = 0.0  #: share of answers that are 503 or 429


MANNERS = (
    Manner("honest"),
    Manner("dates ten minutes early", dated=-10 * MINUTES),
    Manner("dates ten minutes late", dated=10 * MINUTES),
    Manner("clock ten minutes behind", ahead=-10 * MINUTES),
    Manner("clock ten minutes ahead", ahead=10 * MINUTES),
    Manner("bare dates", form="%Y-%m-%d"),
    Manner("two hours ahead, no zone", dated=2 * HOUR, form="%Y-%m-%dT%H:%M:%S"),
    Manner("feed, clock behind", hub=newsroom.FEED, ahead=-10 * MINUTES),
    Manner("HTML alone", hub=newsroom.FRONT),
    Manner("HTML, 15 % fail", hub=newsroom.FRONT, failing=0.15),
    Manner("dates early, 15 % fail", dated=-10 * MINUTES, failing=0.15),
)


class Dating:
    """The living site, which dates in such a manner; it notes which articles each list showed."""

    def __init__(self, site: LivingSite, manner: Manner) -> None:
        self._site, self._manner = site, manner
        self.shown: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def respond(self, method: str, target: str, headers: Mapping[str, str], now: float) -> Response:
        """The site's answer, dated otherwise."""
        answer, manner = self._site.respond(method, target, headers, now), self._manner
        refused = random.Random(f"{target} {now}").random() < manner.failing and target != "/robots.txt"
        if refused:
            answer = replace(answer, status=random.Random(now).choice((429, 503)), body=b"")
        text = answer.body.decode("latin-1")  # whatever it is
        if target.endswith(".xml"):
            text = STATED.sub(self._stated, text)
        if answer.status == 200 and (found := frozenset(ARTICLE.findall(text))) and not ARTICLE.fullmatch(target):
            self.shown[target].append(found)
        other = {"Date": http_date(now + manner.ahead), "Content-Length": str(len(text))}
        named = tuple((name, other.get(name, value)) for name, value in answer.headers if name != "Last-Modified")
        return replace(answer, headers=named, body=text.encode("latin-1"))

    def _stated(self, found: re.Match[str]) -> str:
        rfc = parse_http_date(found[0])
        true = unix(found[0]) if rfc is None else rfc
        said = datetime.fromtimestamp(true, UTC) + timedelta(seconds=self._manner.ahead + self._manner.dated)
        return http_date(said.timestamp()) if rfc else f"{said:{self._manner.form or '%Y-%m-%dT%H:%M:%SZ'}}"

    def appeared(self) -> set[str]:
        """Articles that a hub came to show while it was polled."""
        return {path for lists in self.shown.values() for later in lists[1:] for path in later - lists[0]}


def crawled(seed: int, manner: Manner, minutes: float) -> Counter[str]:
    """One crawl: what appeared, and what became of it."""
    site = Dating(living := LivingSite(seed=seed, pages=50, news=3000.0), manner)
    began = time.time()
    with serve(site) as server, tempfile.TemporaryDirectory() as folder:  # type: ignore[arg-type] # as one answers
        given = {"url": f"{server.url[:-1]}{manner.hub}", "mode": "instant", "every": "6s", "for": f"{minutes}m"}
        given |= {"delay": "0.02", "output": f"{folder}/capture"}
        arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
        subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, "-s", "SHARC_BACK_OFF=0.2"],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
            check=True,
            capture_output=True,
        )
        report = json.loads(Path(folder, "capture/report.json").read_text())
        return judged(report, site.appeared(), server.url[:-1], born(living, began))


def born(site: LivingSite, since: float) -> dict[str, float]:
    """When each article was published."""
    return {one.path: one.published for one in site.newsroom.articles(since - 2 * HOUR, time.time())}


def judged(report: Mapping[str, Any], appeared: set[str], base: str, born: Mapping[str, float]) -> Counter[str]:
    """The counts of one crawl."""
    pages = {page["url"].removeprefix(base): page for page in report["pages"]}
    captured = {path for path, page in pages.items() if page["captured"]}
    named = {url.removeprefix(base) for url in report["left"]["perhaps_new"]} | set(pages)
    bounded = [pages[path] | {"path": path} for path in captured if pages[path]["delay"] is not None]
    within = sum(
        (page["delay_least"] or 0) - SLACK <= unix(page["captured"]) - born[page["path"]] <= page["delay"] + SLACK
        for page in bounded
    )
    found = {"appeared": appeared, "captured": appeared & captured, "named": appeared & named - captured}
    counts = {name: len(paths) for name, paths in found.items()} | {"lost": len(appeared - captured - named)}
    older = sum(born[path] < unix(report["started"]) - 1 for path in captured)
    return Counter(counts | {"bounded": len(bounded), "within": within, "older": older})


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=2.0)
    options = parser.parse_args()
    totals: defaultdict[str, list[Counter[str]]] = defaultdict(list)
    for seed in range(101, 101 + options.seeds):
        with ThreadPoolExecutor(len(MANNERS)) as pool:
            done = pool.map(partial(crawled, seed, minutes=options.minutes), MANNERS)
            for manner, found in zip(MANNERS, done, strict=True):
                totals[manner.name].append(found)
    heads = ("appeared", "captured", "named", "lost", "older")
    print(f"| site | {' | '.join(heads)} | delay within its bounds |\n|---|{'--:|' * (len(heads) + 1)}")
    for name, runs in totals.items():
        cells = [f"{sum(run[head] for run in runs):,}" for head in heads]
        within = f"{sum(run['within'] for run in runs):,} of {sum(run['bounded'] for run in runs):,}"
        print(f"| {name} | {' | '.join(cells)} | {within} |")


if __name__ == "__main__":
    main()
