"""| The status of a fleet in a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sharc_crawler.cli._tables import print_whole
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.ledger import Bound, FleetLedger, FleetStatus, SiteState, SiteStatus, WorkerStatus
from sharc_crawler.instants import iso
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable, span

EVERY = 1.0  #: seconds between two looks
PATIENCE = 10.0  #: seconds to wait for an answer


def sums(now: FleetStatus, former: FleetStatus | None) -> list[str]:
    """The lines above the table; ``former``: an earlier status, for the speed."""
    states = ", ".join(f"{now.states[state]:,} {state}" for state in SiteState if now.states.get(state)) or "no sites"
    speed = ""
    if former is not None and now.time > former.time:
        speed = f", {(now.visits - former.visits) / (now.time - former.time):.1f} pages/s"
    lines = [
        states,
        f"{counted(now.pages, 'page')} known, {counted(now.visits, 'visit')} made, {now.size / 1e6:,.1f} MB{speed}",
        f"{counted(now.takeovers, 'takeover')}, {counted(now.superseded, 'superseded step')}",
    ]
    if now.budget:
        lines.append(spent(now.budget))
    workers = (
        f"worker {printable(one.worker)}: {one.held} of {counted(one.room, 'site')}, {_how(one)}" for one in now.workers
    )
    return [*lines, *workers]


def _how(one: WorkerStatus) -> str:
    heard = "drains" if one.draining else f"heard of {span(max(0.0, one.seen))} ago"
    return f"{heard}, clock {one.skew:+.1f} s"


def facts(now: FleetStatus, sites: Sequence[SiteStatus]) -> dict[str, Any]:
    """The status for the page of ``sharc watch --web``."""
    states, *rest = sums(replace(now, workers=()), None)
    return {
        "headline": states,
        "counts": "; ".join(rest),
        "ended": "",
        "workers": [
            {"worker": one.worker, "held": one.held, "room": one.room, "state": _how(one)} for one in now.workers
        ],
        "captures": [
            {"site": one.site, "phase": _state(one), "pages": one.pages, "visits": one.visits, "revisits": None}
            for one in sites
        ],
    }


def _state(one: SiteStatus) -> str:
    return f"{one.state}: {one.reason}" if one.reason else str(one.state)


def follow(ledger: FleetLedger, wanted: Sequence[str] | None, *, once: bool = False) -> None:
    """Show the status: on a terminal each second, elsewhere once."""
    console = Console()
    if once or not console.is_terminal:
        print_whole(console, drawn(sums(ledger.status(), None), ledger.sites(wanted, 50)))
        return
    former, picture = ledger.status(), Group()
    with Live(console=console, auto_refresh=False) as live:
        while True:
            try:
                now = ledger.status()
                picture, former = drawn(sums(now, former), ledger.sites(wanted, 30)), now
                live.update(picture, refresh=True)
            except StoreUnavailable as error:  # it may be back soon
                warning = Text(printable(f"{error}; this is how it stood before"), "bold")
                live.update(Group(picture, warning), refresh=True)
            time.sleep(EVERY)


def spent(budget: Sequence[Bound]) -> str:
    """A budget in words; "": there is none.

    >>> spent([Bound("until", 1795000000.0), Bound("requests", 1000.0, 70.0), Bound("bytes", 5e9, 2.5e8)])
    'budget: until 2026-11-18T11:06:40.000000Z, 70 of 1,000 requests drawn, 250.0 of 5,000.0 MB drawn'
    """
    words = {
        "until": lambda one: f"until {iso(one.bound)}",
        "requests": lambda one: f"{one.spent:,.0f} of {one.bound:,.0f} requests drawn",
        "bytes": lambda one: f"{one.spent / 1e6:,.1f} of {one.bound / 1e6:,.1f} MB drawn",
    }
    text = ", ".join(words[one.what](one) for one in budget)
    return f"budget: {text}" if text else ""


def drawn(lines: Sequence[str], sites: Sequence[SiteStatus]) -> Group:
    """The lines, and a table with a row for each site."""
    table = Table(box=None, pad_edge=False)
    for name in ("site", "state", "owner"):
        table.add_column(name, overflow="fold")  # sites may share a prefix
    for name in ("pages", "visits", "MB", "last step"):
        table.add_column(name, justify="right")
    for one in sites:
        table.add_row(
            Text(printable(one.site)),
            Text(printable(_state(one))),
            Text(printable(one.owner or "")),
            f"{one.pages:,}",
            f"{one.visits:,}",
            f"{one.size / 1e6:,.1f}",
            "" if one.stepped is None or one.owner is None else f"{one.stepped:.0f} s ago",
        )
    return Group(*(Text(line) for line in lines), table)
