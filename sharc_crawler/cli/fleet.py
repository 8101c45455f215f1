"""``sharc fleet``: many workers, on PostgreSQL or a SQLite file."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sharc_crawler import extras
from sharc_crawler.cli._fleet_table import PATIENCE, follow, spent
from sharc_crawler.cli._inputs import FOLDER
from sharc_crawler.cli._next import ASKED_BY, say_next
from sharc_crawler.cli._services import until_stopped
from sharc_crawler.errors import UsageError
from sharc_crawler.fleet.ledger import FleetLedger, Wish
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable

DSN = click.argument("dsn")
SITES = click.argument("sites", nargs=-1)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
TERM = 60.0


@click.group("fleet", epilog="Guide: docs/fleet.md")
def command() -> None:
    r"""Capture many sites with many workers, which share a ledger in PostgreSQL or a SQLite file.

    DSN is postgresql://HOST/DATABASE, or sqlite:PATH for several workers of one machine. Put a password into
    ~/.pgpass (PGPASSFILE) or a service file, never into DSN.

    \b
    Example:
      sharc fleet init sqlite:fleet.db
      sharc fleet add sqlite:fleet.db seeds.txt
      sharc fleet work sqlite:fleet.db --output captures -s SHARC_OPERATOR=crawls@library.example
      sharc fleet status sqlite:fleet.db
    """


@command.command(epilog="Example: sharc fleet init postgresql://db.example/fleet")
@DSN
@AS_JSON
def init(dsn: str, as_json: bool) -> None:
    """Create the tables of a fleet, or update them to this version. You may repeat this."""
    ledger = open_fleet(dsn, make=True)
    sites = sum(ledger.status().states.values())
    ledger.close()
    text = f"The fleet is ready. It has {counted(sites, 'site')} already." if sites else "The fleet is ready."
    _answer({"ready": True, "sites": sites}, text, "add", dsn, "seeds.txt", as_json=as_json)


@command.command()
@DSN
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-a", "given", multiple=True, metavar="NAME=VALUE", help="An argument of each site, as for scrapy crawl.")
@click.option("--priority", type=int, default=0, help="Sites with higher priority begin first.  [default: 0]")
@click.option("--due", metavar="TIME", help="Do not begin before: 2026-12-01T03:00:00Z.  [default: now]")
@AS_JSON
def add(dsn: str, file: Path, given: tuple[str, ...], priority: int, due: str | None, as_json: bool) -> None:
    r"""Add sites to a fleet: FILE has one URL per line, or is YAML with arguments for each site.

    Sites that the fleet already has are not changed.

    \b
    Example:
      sharc fleet add sqlite:fleet.db seeds.txt -a limit=5000
      sharc fleet add sqlite:fleet.db plan.yaml --priority 5 --due 2026-12-01T03:00:00Z
    \b
    plan.yaml:
      defaults: {limit: 5000}
      sites:
      - https://www.example.org/
      - {url: https://news.example/, strategy: sharc-attested, delay: 2}
    """
    from sharc_crawler.cli._fleet_orders import orders  # loads captures: only if there are orders

    wanted = orders(file, given, priority, due)
    ledger = open_fleet(dsn)
    new = ledger.add(wanted)
    known = len(wanted) - new
    text = f"{counted(new, 'site')} added" + (f", {known} known already, unchanged" if known else "")
    _answer({"added": new, "known": known}, text, "work", dsn, "--output", "captures", *ASKED_BY, as_json=as_json)


@command.command()
@DSN
@click.option("--output", required=True, help="Place for captures, with a folder for each site: DIR or s3://BUCKET/….")
@click.option(
    "--scratch",
    type=FOLDER,
    help="Folder for this worker's copies of an object store's files.  [default: the system's temporary folder]",
)
@click.option(
    "--sites", "room", type=click.IntRange(1), default=100, help="Maximum number of sites held.  [default: 100]"
)
@click.option("--name", help="Name of this worker, unique in the fleet.  [default: HOST-PROCESS]")
@click.option("--term", type=click.FloatRange(3), default=TERM, help="Seconds for which a site is held.  [default: 60]")
@click.option("--until-done", is_flag=True, help="End when no site is left to capture.")
@click.option(
    "--history",
    "shares_history",
    is_flag=True,
    help="Keep what a capture learns in the ledger, for the site's next capture.",
)
@click.option(
    "--masks", "takes_masks", is_flag=True, help="Use a site's learned masks in its next captures, unchecked."
)
@click.option("--by-address", is_flag=True, help="All names of one IP address share a pace in the whole fleet.")
@click.option("-s", "chosen", multiple=True, metavar="NAME=VALUE", help="A setting, as for scrapy crawl.")
def work(dsn: str, name: str | None, term: float, **how: Any) -> None:
    r"""Run a worker: claim sites, capture them, resume those of dead workers; until Ctrl-C, SIGTERM or a drain.

    At the end it finishes requests in flight, and hands its sites over. All workers of a fleet need the same --output,
    a shared folder or an object store, and the same settings. A worker that cannot reach the ledger for two thirds of
    a term sends nothing until it can.

    \b
    Example:
      sharc fleet work sqlite:fleet.db --output captures -s SHARC_OPERATOR=crawls@library.example
      sharc fleet work postgresql://db.example/fleet --output /srv/captures --sites 600 --name crawler-3
      sharc fleet work postgresql://db.example/fleet --output s3://archive/captures --scratch /var/tmp
    """
    from sharc_crawler.live.failures.output_streams import unfailing
    from sharc_crawler.live.fleet.run import run_worker  # loads Scrapy: only for workers

    unfailing()  # a log that cannot be written must not stop a site
    ledger = open_fleet(dsn, term / 3)
    name = name or f"{socket.gethostname()}-{os.getpid()}"
    code = run_worker(ledger, name, term=term, **how)
    say_next("sharc", "fleet", "status", dsn)
    raise click.exceptions.Exit(code)


@command.command()
@DSN
@SITES
@click.option("--once", is_flag=True, help="Print the current state, and end.")
@AS_JSON
def status(dsn: str, sites: tuple[str, ...], once: bool, as_json: bool) -> None:
    r"""Show the state of a fleet: sites by state, pages, workers, and the sites that are held (or SITES).

    On a terminal the table is updated each second, until you press Ctrl-C.

    \b
    Example:
      sharc fleet status sqlite:fleet.db
      sharc fleet status sqlite:fleet.db www.example.org --json
    """
    ledger = open_fleet(dsn, PATIENCE)
    wanted = _site_names(ledger, sites)
    if as_json:
        document = {**asdict(ledger.status()), "sites": [asdict(site) for site in ledger.sites(wanted)]}
        click.echo(json.dumps(document, default=str))
        return
    with until_stopped():
        follow(ledger, wanted, once=once)
    say_next("sharc", "watch", dsn, "--web")


@command.command()
@DSN
@click.option(
    "--listen", default="127.0.0.1:9464", show_default=True, metavar="HOST:PORT", help="Address to listen on."
)
def metrics(dsn: str, listen: str) -> None:
    r"""Serve a fleet's metrics for Prometheus at /metrics, until Ctrl-C: one for all workers.

    The metrics are sites by state, pages, visits, bytes, takeovers, superseded steps, the oldest step; for each worker
    the sites that it holds, how long it has been silent, and its clock. Other machines can read them only with
    --listen.

    \b
    Example:
      sharc fleet metrics postgresql://db.example/fleet
      curl http://127.0.0.1:9464/metrics
    """
    extras.check("sharc fleet metrics", "prometheus_client")
    from sharc_crawler.fleet.metrics import serve  # an extra

    host, _, port = listen.rpartition(":")
    if not port.isdecimal():
        raise UsageError(f"--listen={listen!r} is not of the form HOST:PORT, as 127.0.0.1:9464")
    server = serve(open_fleet(dsn, PATIENCE), host.strip("[]"), int(port))
    with until_stopped():
        click.echo(f"http://{host}:{server.server_port}/metrics", err=True)
        signal.pause()
    server.shutdown()


def _order(name: str, wish: Wish, what: str, verb: str, after: str, more: str = "") -> None:
    """A command that orders something of sites; ``after`` it comes that one."""

    @command.command(
        name, help=f"{what}\n\n{more}", epilog=f"Example: sharc fleet {name} sqlite:fleet.db www.example.org"
    )
    @DSN
    @SITES
    @AS_JSON
    def order(dsn: str, sites: tuple[str, ...], as_json: bool) -> None:
        ledger = open_fleet(dsn)
        count = ledger.wish(wish, _site_names(ledger, sites))
        _in_no_state(count, sites)
        _answer({"sites": count}, f"{counted(count, 'site')} {verb}", after, dsn, *sites, as_json=as_json)


_order(
    "pause",
    Wish.PAUSE,
    "Pause the capture of SITES (none named: all that have not ended) until you resume them.",
    "paused",
    "resume",
    "Their workers finish requests in flight and hand them over.",
)
_order("resume", Wish.RUN, "Resume paused SITES (none named: all).", "to go on", "status")
_order(
    "stop",
    Wish.STOP,
    "End the captures of SITES (none named: all that have not ended) as they are, with their reports.",
    "to stop",
    "requeue",
    "`sharc fleet requeue` resumes them.",
)


@command.command(epilog="Example: sharc fleet drop sqlite:fleet.db www.example.org")
@DSN
@click.argument("sites", nargs=-1, required=True)
@AS_JSON
def drop(dsn: str, sites: tuple[str, ...], as_json: bool) -> None:
    """Remove SITES from the fleet. Their workers stop at once; files stay where they are, without a report.

    If you add a site again, it is captured from the beginning in another folder: SITE-round-2.
    """
    ledger = open_fleet(dsn)
    count = ledger.drop(_site_names(ledger, sites) or ())
    _in_no_state(count, sites)
    _answer({"sites": count}, f"{counted(count, 'site')} dropped", "status", dsn, as_json=as_json)


@command.command(epilog="Example: sharc fleet requeue sqlite:fleet.db")
@DSN
@SITES
@AS_JSON
def requeue(dsn: str, sites: tuple[str, ...], as_json: bool) -> None:
    """Resume SITES that failed or were stopped, and capture done ones again (none named: all that failed).

    A site that failed without a page is captured again. Each further capture of a site has its own folder,
    SITE-round-2.
    """
    ledger = open_fleet(dsn)
    count = ledger.requeue(_site_names(ledger, sites))
    _in_no_state(count, sites)
    _answer({"sites": count}, f"{counted(count, 'site')} queued again", "status", dsn, as_json=as_json)


@command.command()
@DSN
@click.option("--requests", metavar="N", help="Maximum requests of all workers together.")
@click.option("--bytes", "size", metavar="BYTES", help="Maximum payload received: 500M or 2T.")
@click.option("--until", metavar="TIME", help="Send nothing after: 2026-12-01T06:00:00Z.")
@AS_JSON
def budget(dsn: str, requests: str | None, size: str | None, until: str | None, as_json: bool) -> None:
    r"""Limit what all workers use together, from now on; without options, show what was used.

    0 removes a limit. When a budget is used up, nothing is sent: sites keep what they have, and continue when you
    raise it. A worker with --until-done ends then.

    \b
    Example:
      sharc fleet budget sqlite:fleet.db --requests 1000000 --bytes 2T
      sharc fleet budget sqlite:fleet.db --until 2026-12-01T06:00:00Z
      sharc fleet budget sqlite:fleet.db --requests 0
    """
    from sharc_crawler.cli._fleet_orders import bounds  # loads captures: only if there are orders

    ledger = open_fleet(dsn)
    if given := bounds(requests, size, until):
        ledger.bound(given)
    known = ledger.status().budget
    _answer(
        {"budget": [bound._asdict() for bound in known]},
        spent(known) or "No budget is set.",
        "status",
        dsn,
        as_json=as_json,
    )


@command.command(epilog="Example: sharc fleet drain sqlite:fleet.db crawler-3")
@DSN
@click.argument("worker")
@AS_JSON
def drain(dsn: str, worker: str, as_json: bool) -> None:
    """Let a WORKER finish requests in flight, hand its sites over, and end."""
    ledger = open_fleet(dsn)
    if not ledger.drain(worker):
        names = ", ".join(one.worker for one in ledger.status().workers) or "none"
        raise UsageError(f"worker={worker!r} is not known; there are: {names}")
    message = f"{printable(worker)} hands its sites over, and ends"
    _answer({"worker": worker, "draining": True}, message, "status", dsn, as_json=as_json)


def _site_names(ledger: FleetLedger, sites: Sequence[str]) -> list[str] | None:
    """The names of sites, which people write with and without ``https://www.``; none given: all."""
    if not sites:
        return None
    spelt = {text: (text, *_names(text)) for text in sites}
    asked = [name for names in spelt.values() for name in names]
    known = {site.site for site in ledger.sites(asked, len(asked))}
    if unknown := [text for text, names in spelt.items() if known.isdisjoint(names)]:
        raise UsageError(f"{', '.join(unknown)}: no such site in the fleet; `sharc fleet status` names them")
    return [next(name for name in names if name in known) for names in spelt.values()]


def _names(text: str) -> tuple[str, str]:
    bare = text.rpartition("://")[2].lower().removeprefix("www.")
    return bare, bare.rstrip("/")


def _in_no_state(count: int, sites: Sequence[str]) -> None:
    if sites and not count:
        raise UsageError(f"{', '.join(sites)}: in no state for that; see sharc fleet status")


def _answer(document: dict[str, Any], text: str, *after: object, as_json: bool) -> None:
    """Print it; ``after``: the words of ``sharc fleet`` that come next."""
    click.echo(json.dumps(document) if as_json else text)
    if not as_json:
        say_next("sharc", "fleet", *after)
