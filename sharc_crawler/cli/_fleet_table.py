"""How a fleet stands, as a terminal shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sharc_crawler.fleet.ledger import SiteState
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.fleet.ledger import FleetStatus, SiteStatus


def sums(now: FleetStatus, former: FleetStatus | None) -> list[str]:
    """The lines above the table; pages a second since a former look."""
    states = ", ".join(f"{now.states[state]:,} {state}" for state in SiteState if now.states.get(state)) or "no sites"
    speed = ""
    if former is not None and now.time > former.time:
        speed = f", {(now.visits - former.visits) / (now.time - former.time):.1f} pages/s"
    lines = [
        states,
        f"{counted(now.pages, 'page')} known, {counted(now.visits, 'visit')} made, {now.size / 1e6:,.1f} MB{speed}",
        f"{counted(now.takeovers, 'takeover')}, {counted(now.superseded, 'superseded step')}",
    ]
    for one in now.workers:
        how = "drains" if one.draining else f"heard of {span(max(0.0, one.seen))} ago"
        lines.append(
            f"worker {printable(one.worker)}: {one.held} of {counted(one.room, 'site')}, {how}, clock {one.skew:+.1f} s"
        )
    return lines


def drawn(lines: Sequence[str], sites: Sequence[SiteStatus]) -> Group:
    """Sums, and a row for each site."""
    table = Table(box=None, pad_edge=False)
    for name in ("site", "state", "owner", "pages", "visits", "MB", "last step"):
        table.add_column(name, justify="right" if name in ("pages", "visits", "MB", "last step") else "left")
    for one in sites:
        table.add_row(
            Text(printable(one.site)),
            Text(f"{one.state}: {printable(one.reason)}" if one.reason else one.state),
            Text(printable(one.owner or "")),
            f"{one.pages:,}",
            f"{one.visits:,}",
            f"{one.size / 1e6:,.1f}",
            "" if one.stepped is None or one.owner is None else f"{one.stepped:.0f} s ago",
        )
    return Group(*(Text(line) for line in lines), table)
