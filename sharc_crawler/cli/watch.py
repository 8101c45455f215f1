"""``sharc watch``: a crawl that runs, or a fleet, in the terminal or as a page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.live import Live

from sharc_crawler.cli._fleet_table import PATIENCE as FLEET_PATIENCE
from sharc_crawler.cli._fleet_table import facts as fleet_facts
from sharc_crawler.cli._fleet_table import follow
from sharc_crawler.cli._inputs import near_to
from sharc_crawler.cli._named_capture import watched as meant
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._services import until_stopped
from sharc_crawler.cli.control import give
from sharc_crawler.control import STATUS
from sharc_crawler.errors import UsageError
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.report.words import printable
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.terminal import drawn, headline
from sharc_crawler.watch.web import WatchServer

CAPTURES = Path("captures")  #: default location of captures
FLEET_SITES = 200  #: shown at most, held ones first
_SCHEMES = ("sqlite", "postgresql", "postgres")
EVERY = 1.0  #: seconds between two looks
PATIENCE = 60.0  #: seconds to wait for a crawl to make its folder
EVERY_LINE = 10.0  #: off a terminal


@click.command()
@click.argument("place", metavar="[FOLDER|DSN]", required=False)
@click.option("--web", is_flag=True, help="Serve a page on loopback, and print its address.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port of the page.  [default: any free one]")
@click.option("--control", is_flag=True, help="Let the page pause, resume, slow down and stop the crawl.")
@click.option("--json", "as_json", is_flag=True, help="Print the current state as a JSON object, and end.")
def command(place: str | None, web: bool, port: int, control: bool, as_json: bool) -> None:
    r"""Watch the crawl that writes FOLDER, until it is over or you press Ctrl-C. A page (--web) stays until Ctrl-C.

    In a collection, or without FOLDER in captures/, it watches the capture that began last. If FOLDER does not exist
    yet, it waits for a minute, unless a folder with a similar name exists. With a DSN (sqlite:PATH,
    postgresql://HOST/DATABASE), it watches a fleet.

    It shows the progress of the crawl and the time left, its sites, its hosts with their pace and errors, and the last
    requests with their results. It only reads what the crawl writes.

    \b
    Example:
      sharc watch captures/www.example.org --web
      sharc watch sqlite:fleet.db
    """
    if (port or control) and not web:
        raise UsageError("--port and --control are for --web")
    if place is not None and place.partition(":")[0] in _SCHEMES:
        _watch_fleet(place, web=web, port=port, control=control, as_json=as_json)
        return
    folder = Path(place) if place is not None else _newest()
    if not as_json and not _appears(folder):
        return
    if not folder.is_dir():
        raise UsageError(
            f"{str(folder)!r} is no folder (yet); name the one that the crawl writes (its argument output=)"
        )
    watched = Watched(meant(folder))
    watched.look()
    if as_json:
        click.echo(json.dumps(facts(watched, time.time())))
    elif web:
        _serve(partial(_seen, watched), port, order=partial(give, watched.folder) if control else None)
    else:
        _draw(watched)


def _seen(watched: Watched) -> dict[str, Any]:
    watched.look()
    return facts(watched, time.time())


def _newest() -> Path:
    """The most recently active crawl below the default output folder."""
    found = [path for depth in ("*", "*/*") for path in CAPTURES.glob(f"{depth}/{STATUS}")]
    if not found:
        raise UsageError(f"{CAPTURES}/ has no crawl; name the folder that it writes: sharc watch FOLDER")
    newest = max(found, key=lambda path: path.stat().st_mtime).parent
    click.echo(str(newest), err=True)
    return newest


def _appears(folder: Path) -> bool:
    """Wait until a crawl has made its folder; ``False``: stopped before."""
    if not folder.exists():
        if near := near_to(folder):
            raise UsageError(f"{str(folder)!r} is not there; did you mean {near}? A crawl that is to begin makes it")
        click.echo(f"{folder} is not there yet; waiting {PATIENCE:g} s for a crawl to begin in it.", err=True)
    patience = time.monotonic() + PATIENCE
    with until_stopped():
        while not folder.exists():
            if time.monotonic() > patience:
                raise UsageError(f"no crawl has begun in {str(folder)!r}; name the folder that it writes, or wait anew")
            time.sleep(min(EVERY, PATIENCE))
    return folder.exists()


def _watch_fleet(dsn: str, *, web: bool, port: int, control: bool, as_json: bool) -> None:
    if control:
        raise UsageError(f"--control: orders to a fleet are given by sharc fleet pause|resume|stop {dsn}")
    ledger = open_fleet(dsn, FLEET_PATIENCE)

    def status() -> dict[str, Any]:
        return fleet_facts(ledger.status(), ledger.sites(None, FLEET_SITES))

    if as_json:
        click.echo(json.dumps(status()))
    elif web:
        _serve(status, port)
    else:
        with until_stopped():
            follow(ledger, None)


def _serve(told: Callable[[], dict[str, Any]], port: int, order: Callable[[str, str], object] | None = None) -> None:
    try:
        server = WatchServer(told, port, order)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}; without it any free port is taken") from error
    may = " and give orders" if order else ""
    with until_stopped():
        click.echo(f"{server.url}\nWhoever has this address may look{may}. Ctrl-C ends it.")
        server.serve()


def _draw(watched: Watched) -> None:
    console = Console()
    with until_stopped():
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
    if watched.ended:
        say_next("sharc", "report", watched.folder)
    else:
        click.echo("The crawl goes on; only watching it has ended.")
