"""``-a dry_run=1``: what a crawl would do, without a request."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from sharc_crawler.errors import UsageError
from sharc_crawler.live.reading.document import detector_of
from sharc_crawler.live.setup.modes import describe
from sharc_crawler.live.setup.places import nearest_folder
from sharc_crawler.options.reading import ARGUMENTS
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.selection import lines
from sharc_crawler.report.words import short
from sharc_crawler.storage.opening import store_kind

if TYPE_CHECKING:
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.setup.arguments import Arguments
    from sharc_crawler.seeds.hacs.selection import Selection
    from sharc_crawler.state.spec import CaptureSpec

SHOWN = 40  #: seeds in the table
SEEDS = 0.4  #: share of the terminal's width for seeds


def show_plan(arguments: Arguments, config: Config) -> None:
    """Print the plan, a row per site capture; raises UsageError if a plug-in or the folder cannot be used."""
    detector_of(config.detector, config.masks)
    store_kind(config.store)
    check_place(config.output or Path())
    out: Any = sys.stdout
    with suppress(AttributeError):  # a replaced stream lacks it
        out.reconfigure(errors="replace")  # its encoding may lack characters
    console = Console()
    specs = arguments.specs(config.strategy, {}, config)
    console.print(_sites(specs, round(console.width * SEEDS)))
    for line in arguments.login.warnings(specs) if arguments.login else ():
        console.print(foreign(line), soft_wrap=True)
    typed = {name: ARGUMENTS[name].option.kind.show(value) for name, value in config.bounds.items() if value}
    if bounds := [f"{name}={value}" for name, value in typed.items()]:
        console.print(f"Budget of each site: {', '.join(bounds)}")
    if arguments.instant:
        console.print(describe(arguments.instant))
    if arguments.options.browser != "never":
        from sharc_crawler.live.browser.browser_options import as_settings  # only if browsers show pages

        shown = as_settings(arguments.options)
        console.print(f"Pages in a browser: {', '.join(f'{name} {value}' for name, value in shown.items())}")
    politeness = config.politeness
    robots = "obeyed" if politeness.obey_robots else "ignored"
    console.print(
        f"{politeness.delay:g} s between requests to a host, robots.txt {robots},"
        f" as {politeness.agent!r}, into {config.output}"
    )
    console.print("DNS was not queried. Private addresses are checked on connecting.")


def check_place(output: Path) -> None:
    """Raise UsageError unless the folder can be made and written to."""
    there = nearest_folder(output)
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"output={str(output)!r} cannot be made: {there} is not writable; choose another folder")


def _sites(specs: Iterable[CaptureSpec], longest: int) -> Table:
    """A row per site; addresses of more than ``longest`` characters are shortened in the middle."""
    columns = (Column("site", overflow="fold"), Column("seeds", no_wrap=True), "settings")
    table = Table(*columns, title="Dry run: nothing was sent")
    for spec in specs:
        settings = {
            "scope": spec.scope,
            "strategy": spec.strategy,
            "subsites": spec.subsites or "off",
            "sitemap": "auto" if spec.sitemaps is None else ", ".join(spec.sitemaps) or "off",
            "size": spec.size or "not known",
            "limit": spec.limit or "none",
            **({"session": spec.session} if spec.session else {}),
        }
        words = ", ".join(f"{name} {value}" for name, value in settings.items())
        table.add_row(foreign(spec.site), Text("\n".join(short(seed, longest) for seed in spec.seeds)), foreign(words))
    return table


def show_selection(selection: Selection | None) -> None:
    """Print which seeds were chosen, which were not, and why."""
    if selection is None:
        return
    table = Table("place", Column("seed", overflow="fold"), "p" if selection.seeds[0].p is not None else "value", "why")
    for seed in selection.seeds[:SHOWN]:
        extra = "; crawled for the sample" if seed.explored else ""
        table.add_row(str(seed.place), foreign(seed.url), f"{seed.value:.3g}", seed.reason + extra)
    console = Console()
    console.print(table)
    if len(selection.seeds) > SHOWN:
        console.print(f"… and {len(selection.seeds) - SHOWN:,} more.")
    for line in lines(selection):
        console.print(line, soft_wrap=True)
