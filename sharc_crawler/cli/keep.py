"""``sharc keep``: a collection that is captured by itself."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import click

from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._tables import print_table
from sharc_crawler.collection.attempts import hold_collection, is_kept
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.keeper import CollectionKeeper, KeptSite, kept_sites, pages_of
from sharc_crawler.collection.terms import AUTO
from sharc_crawler.errors import UsageError
from sharc_crawler.instants import iso, second
from sharc_crawler.live.failures.output_streams import unfailing
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable, short, span

OFTEN = 3600.0  #: shorter intervals are mentioned at the start


@click.command()
@click.argument("folder", type=FOLDER, callback=regular)
@click.option("--once", is_flag=True, help="Capture what is due, then end: for cron.")
@click.option(
    "--at-once", type=click.IntRange(1), default=1, show_default=True, help="Sites captured at the same time."
)
@click.option("--status", is_flag=True, help="Show the state of each site, and end.")
@click.option("--json", "as_json", is_flag=True, help="With --status: print JSON.")
def command(folder: Path, once: bool, at_once: int, status: bool, as_json: bool) -> None:
    r"""Capture each site of the collection FOLDER when it is due, as collection.yaml says (every: 1d), until Ctrl-C.

    An interrupted capture is resumed. Missed captures are made up for by one. A site that fails is tried again after
    ever longer times, and notify: tells somebody.

    \b
    Example:
      sharc keep news
      sharc keep news --once            # in a crontab
      sharc keep news --status
    """
    if as_json and not status:
        raise UsageError("--json is for --status: add that, or leave it out")
    collection = Collection(folder)
    if status:
        found = list(kept_sites(collection))
        if as_json:
            click.echo(json.dumps([_facts(one) for one in found], indent=1))
        else:
            _show(folder, found, kept := is_kept(folder))
            if not kept and any(one.site.every for one in found):
                say_next("sharc", "keep", folder)
        return
    if not any(site.every for site in collection.terms.sites):
        raise UsageError(f"no site of {str(folder)!r} has every: give it in collection.yaml, as every: 1d")
    for site in collection.terms.sites:
        if isinstance(site.every, float) and site.every < OFTEN:  # m means minutes, not months
            click.echo(f"{site.name}: a capture every {span(site.every)}")
    unfailing()
    with hold_collection(folder):
        keeper = CollectionKeeper(folder, at_once, lambda text: click.echo(printable(f"{second(time.time())} {text}")))

        def stop(*_: object) -> None:
            keeper.stopping = True

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        keeper.run(once=once)
    say_next("sharc", "keep", folder, "--status")


def _facts(one: KeptSite) -> dict[str, Any]:
    return {
        "site": one.site.name,
        "every": one.every,
        "auto": one.site.every == AUTO,
        "last": iso(one.last.time) if one.last else None,
        "pages": pages_of(one.last.folder) if one.last else None,
        "due": None if one.due is None else iso(max(one.due, one.last.time if one.last and not _ahead(one) else 0.0)),
        "running": one.running,
        "failures": one.tries.failures,
        "code": one.tries.code,
        "said": one.tries.said,
    }


def _show(folder: Path, found: list[KeptSite], kept: bool) -> None:
    rows = [
        (
            site.site.name,
            _state(site, kept),
            _every(site),
            second(site.last.time) if site.last else "",
            str(pages_of(site.last.folder) or "") if site.last else "",
        )
        for site in found
    ]
    print_table(
        f"{folder}: {counted(len(found), 'site')}", ("site", "state", "every", "last capture", "pages"), rows, texts=2
    )


def _every(one: KeptSite) -> str:
    if one.every is None:
        return ""
    return f"{'auto: ' if one.site.every == AUTO else ''}{span(one.every)}"


def _ahead(one: KeptSite) -> bool:
    """Whether the last capture's time lies in the future, as the clock was wrong."""
    return one.last is not None and one.last.time > time.time()


def _state(one: KeptSite, kept: bool) -> str:
    """The state of a site in a few words; ``kept``: a process keeps the collection, so due captures begin."""
    if one.running:
        return "is being captured"
    failed = f"failed {one.tries.failures} × ({short(one.tries.said, 60)}); " if one.tries.failures else ""
    if one.due is None:
        return f"{failed}not kept (no every)"
    ahead = one.due - time.time()
    what = "not complete, goes on" if one.unfinished else "due"
    what = f"last capture is of the future, by this clock; {what}" if _ahead(one) else what
    now = "now: begins, or waits for its turn" if kept else "now"
    return f"{failed}{what} {now if ahead <= 0 else f'in {span(ahead)}'}"
