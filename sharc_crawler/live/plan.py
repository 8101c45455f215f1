"""``-a dry_run=1``: what a crawl would do, without a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

from sharc_crawler.live.instant import describe
from sharc_crawler.report.selection import lines
from sharc_crawler.report.terminal import foreign

if TYPE_CHECKING:
    from sharc_crawler.live.arguments import Arguments
    from sharc_crawler.live.config import Config
    from sharc_crawler.seeds.hacs.selection import Selection

SHOWN = 40  #: seeds in the table


def show_plan(arguments: Arguments, config: Config) -> None:
    """Print the plan, one row per site capture."""
    table = Table(title="Dry run: nothing was sent")
    for column in ("site", "seeds", "scope", "strategy", "subsites", "sitemaps", "size", "limit"):
        table.add_column(column, overflow="fold")
    for spec in arguments.specs(config.strategy, {}):
        sitemaps = "auto" if spec.sitemaps is None else ", ".join(spec.sitemaps) or "off"
        table.add_row(
            spec.site,
            "\n".join(spec.seeds),
            spec.scope,
            spec.strategy,
            spec.subsites or "off",
            sitemaps,
            str(spec.size or "not known"),
            str(spec.limit or "none"),
        )
    console = Console()
    console.print(table)
    if bounds := [f"{name}={value:,.10g}" for name, value in config.bounds.items() if value]:
        console.print(f"Budget of each site: {', '.join(bounds)}")
    if arguments.instant:
        console.print(describe(arguments.instant))
    politeness = config.politeness
    robots = "obeyed" if politeness.obey_robots else "ignored"
    console.print(
        f"{politeness.delay:g} s between requests to a host, robots.txt {robots},"
        f" as {politeness.agent!r}, into {config.output}"
    )
    console.print("Names were not looked up: whether a host is at a private address shows when it is connected to.")


def show_selection(selection: Selection | None) -> None:
    """Print which seeds were chosen, which not, and why."""
    if selection is None:
        return
    table = Table("place", Column("seed", overflow="fold"), "p" if selection.seeds[0].p is not None else "value", "why")
    for one in selection.seeds[:SHOWN]:
        extra = "; crawled for the sample" if one.explored else ""
        table.add_row(str(one.place), foreign(one.url), f"{one.value:.3g}", one.reason + extra)
    console = Console()
    console.print(table)
    if len(selection.seeds) > SHOWN:
        console.print(f"… and {len(selection.seeds) - SHOWN:,} more.")
    for line in lines(selection):
        console.print(line, soft_wrap=True)
