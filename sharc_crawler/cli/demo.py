"""``sharc demo``: serve the living site."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from sharc_crawler.cli._capture_demo import capture, demo_folder
from sharc_crawler.cli._from_table import row
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import OutFile
from sharc_crawler.cli._truth import write_log, write_truth
from sharc_crawler.demo import LivingSite, newsroom, serve
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from sharc_crawler.demo import DemoServer


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--pages", default=300, show_default=True, help="How many pages it has.")
@click.option("--seed", default=1, show_default=True, help="Another seed, another site.")
@click.option("--scale", default=2000.0, show_default=True, help="How many times faster than a real site it lives.")
@click.option("--script", default=0.0, show_default=True, help="Share of pages that a script makes (browser=auto).")
@click.option("--lying", default=0.0, show_default=True, help="Share of pages whose validators and lastmod lie.")
@click.option("--news", default=0.0, show_default=True, help="Articles an hour that a newsroom publishes; 0: none.")
@click.option("--truth", type=OutFile(), help="At the end, write the true change times (JSON lines).")
@click.option("--log", type=OutFile(), help="At the end, write the requests answered (JSON lines).")
@click.option("--crawl", is_flag=True, help="Capture it with scrapy crawl site, report, and end.")
@row("strategy", help="With --crawl: order of the visits.", default="sharc-selective")
@click.option("--output", type=click.Path(path_type=Path), help="With --crawl: folder for WARCs and report.")
@click.option("--json", "as_json", is_flag=True, help="Say where it is served as one line of JSON.")
def command(
    port: int,
    pages: int,
    seed: int,
    scale: float,
    script: float,
    lying: float,
    news: float,
    truth: IO[str] | None,
    log: IO[str] | None,
    crawl: bool,
    strategy: str,
    output: Path | None,
    as_json: bool,
) -> None:
    r"""Serve the living site on loopback until Ctrl-C.

    A few hundred cross-linked pages that change at random instants: few often, most hardly ever. Whoever crawls it, the
    changes are the same for a seed, and known.

    \b
    Example:
      sharc demo --port 8000 --truth truth.jsonl
      scrapy crawl site -a url=http://127.0.0.1:8000/ -a strategy=sharc-selective
      sharc demo --crawl --strategy bfs
      sharc demo --script 0.3   # in part made by script, for browser=auto
      sharc demo --news 600   # with sections that publish, for mode=instant
    """
    site = LivingSite(seed=seed, pages=pages, scale=scale, script=script, lying=lying, news=news)
    began = time.time()
    code = 0
    with serve(site, port=0 if crawl else port) as server:
        if crawl:
            output = output or demo_folder()
            code = capture(site, server.url, strategy, output)
        else:
            asked_to_end = _signalled()
            _announce(server, as_json)
            asked_to_end.wait()
    if truth:
        write_truth(site, began, time.time(), truth)
    if log:
        write_log(server.log, log)
    click.echo(f"{counted(len(server.log), 'request')} answered.", err=True)
    if crawl and code == 0:  # what comes next for the capture, its crawl has said
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


def _signalled() -> threading.Event:
    """Set by Ctrl-C, or when asked to end by a terminating signal."""
    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    return asked
