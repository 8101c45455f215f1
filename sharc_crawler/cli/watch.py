"""``sharc watch``: a crawl that runs, in the terminal or as a page."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live

from sharc_crawler.collection.folder import Collection
from sharc_crawler.errors import UsageError
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.seen import Watched
from sharc_crawler.watch.terminal import drawn, headline
from sharc_crawler.watch.web import WatchServer

EVERY = 1.0  #: seconds between two looks
EVERY_LINE = 10.0  #: where there is no terminal to redraw


@click.command(epilog="Example: sharc watch captures/www.example.org --web")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--web", is_flag=True, help="As a page on loopback, whose address is printed.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Of the page.  [default: any that is free]")
@click.option("--control", is_flag=True, help="The page may pause the crawl, let it go on, and stop it.")
@click.option("--json", "as_json", is_flag=True, help="How it stands now, as a JSON object; then end.")
def command(folder: Path, web: bool, port: int, control: bool, as_json: bool) -> None:
    """Watch the crawl that writes FOLDER, until it is over or you press Ctrl-C. The crawl needs no switch for it.

    Of a collection it is the capture that was begun last.

    It shows how far the crawl is and what time is left, its sites, its hosts with their pace and errors, and the last
    requests with what came of them. Nothing is asked of the crawl: only what it writes is read.
    """
    if (port or control) and not web:
        raise UsageError("--port and --control are for --web")
    watched = Watched(_watched(folder))
    watched.look()
    if as_json:
        click.echo(json.dumps(facts(watched, time.time())))
    elif web:
        _serve(watched, port, control=control)
    else:
        _draw(watched)


def _watched(folder: Path) -> Path:
    """The folder itself; of a collection the capture that was begun last, those under way before all others."""
    found = sorted(Collection(folder).captures(), key=lambda one: one.time) if Collection.is_in(folder) else []
    under_way = [one for one in found if (one.folder / RUNNING).exists()]
    if not found:
        return folder
    chosen = (under_way or found)[-1].folder
    others = [str(one.folder) for one in under_way if one.folder != chosen]
    also = f"; under way, too: {', '.join(others)}" if others else ""
    click.echo(f"{chosen}{also}", err=True)
    return chosen


def _serve(watched: Watched, port: int, *, control: bool) -> None:
    try:
        server = WatchServer(watched, port, control=control)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}; without it any free port is taken") from error
    click.echo(
        f"{server.url}\nWhoever has this address may look{' and give orders' if control else ''}. Ctrl-C ends it."
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()


def _draw(watched: Watched) -> None:
    console = Console()
    try:
        if console.is_terminal:
            with Live(drawn(watched, time.time()), console=console, refresh_per_second=2) as live:
                while not watched.ended:
                    time.sleep(EVERY)
                    watched.look()
                    live.update(drawn(watched, time.time()))
        else:
            while not watched.ended:
                click.echo(printable(headline(watched, time.time())))
                time.sleep(EVERY_LINE)
                watched.look()
            click.echo(printable(headline(watched, time.time())))
    except KeyboardInterrupt:
        click.echo("The crawl goes on; only watching it has ended.")
