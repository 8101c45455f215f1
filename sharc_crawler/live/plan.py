"""``-a dry_run=1``: what a crawl would do, without a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from sharc_crawler.live.arguments import Arguments
    from sharc_crawler.live.config import Config


def show_plan(arguments: Arguments, config: Config) -> None:
    """Print the plan, one row per site capture."""
    table = Table(title="Dry run: nothing was sent")
    for column in ("site", "seeds", "scope", "strategy", "sitemaps", "size", "limit"):
        table.add_column(column, overflow="fold")
    for spec in arguments.specs(config.strategy, {}):
        sitemaps = "auto" if spec.sitemaps is None else ", ".join(spec.sitemaps) or "off"
        table.add_row(
            spec.site,
            "\n".join(spec.seeds),
            spec.scope,
            spec.strategy,
            sitemaps,
            str(spec.size or "not known"),
            str(spec.limit or "none"),
        )
    console = Console()
    console.print(table)
    politeness = config.politeness
    robots = "obeyed" if politeness.obey_robots else "ignored"
    console.print(
        f"{politeness.delay:g} s between requests to a host, robots.txt {robots},"
        f" as {politeness.agent!r}, into {config.output}"
    )
