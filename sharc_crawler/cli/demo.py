"""``sharc demo``: serve the living site."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import to_file, written
from sharc_crawler.cli._services import until_stopped
from sharc_crawler.cli._table_options import row
from sharc_crawler.demo import DemoServer, LivingSite, newsroom, serve
from sharc_crawler.plural import counted
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.write import write

if TYPE_CHECKING:
    from sharc_crawler.demo.server import Request
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.model import Instant
    from sharc_crawler.report.pages import Truth

_FILE = click.Path(path_type=Path)


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free one.")
@click.option("--pages", default=300, show_default=True, help="Number of pages.")
@click.option("--seed", default=1, show_default=True, help="Another seed, another site.")
@click.option("--scale", default=2000.0, show_default=True, help="How many times faster it changes than a real site.")
@click.option("--script", default=0.0, show_default=True, help="Share of pages made by script (browser=auto).")
@click.option("--lying", default=0.0, show_default=True, help="Share of pages whose validators and lastmod lie.")
@click.option("--news", default=0.0, show_default=True, help="Articles an hour in a newsroom; 0: none.")
@click.option("--truth", type=_FILE, callback=to_file, help="At the end, write the true change times (JSON lines).")
@click.option("--log", type=_FILE, callback=to_file, help="At the end, write the requests answered (JSON lines).")
@click.option("--crawl", is_flag=True, help="Capture it with scrapy crawl site, report, and end.")
@row("strategy", help="With --crawl: order of the visits.", default="sharc-selective")
@click.option("--output", type=click.Path(path_type=Path), help="With --crawl: folder for WARCs and report.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one line of JSON.")
def command(
    port: int,
    truth: Path | None,
    log: Path | None,
    crawl: bool,
    strategy: str,
    output: Path | None,
    as_json: bool,
    **parameters: Any,
) -> None:
    r"""Serve a demo site on loopback until Ctrl-C.

    It has a few hundred cross-linked pages that change at random instants: few often, most hardly ever. The changes
    depend only on the seed, and are known.

    \b
    Example:
      sharc demo --port 8000 --truth truth.jsonl
      scrapy crawl site -a url=http://127.0.0.1:8000/ -a strategy=sharc-selective
      sharc demo --crawl --strategy bfs
      sharc demo --script 0.3   # in part made by script, for browser=auto
      sharc demo --news 600   # with sections that publish, for mode=instant
    """
    site = LivingSite(**parameters)
    began = time.time()
    code = 0
    with serve(site, port=0 if crawl else port) as server:
        if crawl:
            output = output or demo_folder()
            code = capture(site, server.url, strategy, output)
        else:
            with until_stopped():
                _announce(server, as_json)
                signal.pause()
    if truth:
        with written(truth) as file:
            write_truth(site, began, time.time(), file)
    if log:
        with written(log) as file:
            write_log(server.log, file)
    click.echo(f"{counted(len(server.log), 'request')} answered.", err=True)
    if crawl and code == 0:  # the crawl has named the next command for its capture
        say_next("sharc", "start")
    sys.exit(code)


def _announce(server: DemoServer, as_json: bool) -> None:
    site = server.site
    if as_json:
        click.echo(json.dumps({"url": server.url, "seed": site.seed, "pages": site.pages, "scale": site.scale}))
        return
    hottest = max(site.paths, key=site.rate)
    click.echo(f"The living site, {counted(site.pages, 'page')}, is at {server.url} (Ctrl-C ends it).")
    click.echo(f"  {server.url}sitemap.xml lists most of it, {server.url}robots.txt closes a corner.")
    click.echo(f"  {server.url[:-1]}{hottest} changes every {1 / site.rate(hottest):.1f} seconds: reload it.")
    if site.news:
        hub = f"{server.url[:-1]}{newsroom.FRONT}"
        click.echo(f"  scrapy crawl site -a url={hub} -a mode=instant -a every=20s -a for=5m follows its newsroom.")
    shown = " -a browser=auto" if site.script else ""
    click.echo(f"  scrapy crawl site -a url={server.url} -a strategy=sharc-selective{shown} captures it.")


# -- with --capture: the real command, then every judgement compared with the site's own change log --------------------


PROFILE = "sharc_crawler.live.profile"
DELAY = 0.05  #: seconds between two requests, as nobody else uses the site


def demo_folder() -> Path:
    """The default folder of a capture that begins now."""
    return Path("captures") / time.strftime("demo-%Y%m%dT%H%M%SZ", time.gmtime())


def capture(site: LivingSite, url: str, strategy: str, folder: Path) -> int:
    """Run ``scrapy crawl site`` on a served site; returns its exit code."""
    arguments = ["crawl", "site", "-a", f"url={url}", "-a", f"strategy={strategy}", "-a", f"output={folder}"]
    arguments += ["-a", "browser=auto"] if site.script else []
    click.echo(f"$ scrapy {' '.join(arguments)}")
    periods = json.dumps(site.changefreqs)  # the site changes faster than its sitemap says: a day is two minutes
    settings = ["-s", "SHARC_BACK_OFF=1", "-s", f"SHARC_CHANGEFREQ={periods}"]
    done = subprocess.run(  # noqa: S603 - our own command with our own arguments
        [sys.executable, "-m", "scrapy", *arguments, "-a", f"delay={DELAY}", *settings],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
        check=False,
    )
    if done.returncode == 0:
        _compare_with_truth(site, folder)
    return done.returncode


def site_truth(site: LivingSite) -> Truth:
    """The true changes of a living site's URLs."""

    def truth(url: str, start: Instant, end: Instant) -> Iterable[Instant] | None:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return site.changes(path, start, end) if path in site.paths or path in site.resources else None

    return truth


def _compare_with_truth(site: LivingSite, folder: Path) -> None:
    """Write the report again with the truth, and say how they agree."""
    with open_facts(folder, site_truth(site)) as facts:
        with written(folder / "truth.jsonl") as file:
            write_truth(site, min(capture.started for capture in facts), time.time(), file)
        write(facts, folder)
        click.echo(agreement(facts))


def agreement(facts: list[CaptureFacts]) -> str:
    """A sentence on how our judgements compare with what really happened."""
    known = [page for capture in facts for page in capture.pages if page.truth is not None and page.verdict]
    agree = sum((page.verdict == "coherent") == page.truth for page in known if page.verdict != "unknown")
    unknown = sum(page.verdict == "unknown" for page in known)
    return (
        f"The site's own change log says the same for {agree} of {counted(len(known), 'revisited page')} and resources"
        f"{f' ({unknown} we call unknown)' if unknown else ''}."
    )


# -- what really happened, and was asked for, as JSON lines ------------------------------------------------------------


def write_truth(site: LivingSite, start: Instant, end: Instant, file: IO[str]) -> None:
    """Write a line for each page and resource: its true rate, and its changes in (from, to]."""
    for path, changes in site.truth(start, end).items():
        line = {"page": path, "rate": site.rate(path), "from": start, "to": end, "changes": changes.tolist()}
        file.write(json.dumps(line) + "\n")


def write_log(requests: Iterable[Request], file: IO[str]) -> None:
    """Write a line for each request, in the order of arrival."""
    file.writelines(json.dumps(request._asdict()) + "\n" for request in requests)
