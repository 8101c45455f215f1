"""``sharc collection DIR``: its sites and captures as a page, and in a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sharc_crawler.cli._next import capture_words, say_next
from sharc_crawler.cli._tables import print_whole
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.page import PAGE, meant, own_name, write_overview
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.words import percent, short, size
from sharc_crawler.storage.beside import forget_killed

SHOWN = 30  #: sites, and captures that cannot be read, that a person is told of


@click.command("show")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what index.json says, too, instead of the table.")
def show_command(folder: Path, as_json: bool) -> None:
    r"""Write index.html and index.json of a collection: sites, captures on a time line, what changed between them.

    It opens without a server. Only captures that are new, or were reported anew, are read again.

    \b
    Example:
      sharc collection news
      sharc collection news --json | jq '.sites[].captures[-1].statement'
    """
    collection = Collection(folder)
    forget_killed(folder)
    with busy("reading", total=sum(1 for _ in collection.captures())) as show:
        found = write_overview(collection, show)
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    console = Console(highlight=False)
    print_whole(console, _table(found["sites"]))
    if len(found["sites"]) > SHOWN:
        console.print(f"… and {counted(len(found['sites']) - SHOWN, 'more site')} in the page")
    problems = [entry for site in found["sites"] for entry in site["captures"] if entry["problem"]]
    for entry in problems[:SHOWN]:
        console.print(Text.assemble((short(entry["folder"]), "bold"), f" {entry['problem']}"), soft_wrap=True)
    for site in [one for one in found["sites"] if one["distrusted"]][:SHOWN]:
        words = f"not believed: {site['distrusted']['words']}"
        console.print(Text.assemble((short(own_name(site) or site["site"]), "bold"), " ", words), soft_wrap=True)
    console.print(Text(str(folder / PAGE)), soft_wrap=True)
    if any(site.every for site in collection.terms.sites):
        say_next("sharc", "keep", folder, "--status")
    elif any(site["captures"] for site in found["sites"]):
        say_next("sharc", "verify", folder)
    elif collection.terms.sites:
        say_next(*capture_words(f"collection={folder}"))


def _table(sites: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("site", box=None, pad_edge=False)
    for name in ("captures", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("newest", "coherent", "changed/new/gone"):
        table.add_column(name, no_wrap=True)
    for site in sites[:SHOWN]:
        captures = site["captures"]
        weight = size(sum(one["bytes"] for one in captures))
        table.add_row(foreign(own_name(site) or site["site"]), f"{len(captures):,}", weight, *_newest(captures))
    return table


def _newest(captures: Sequence[Mapping[str, Any]]) -> tuple[str, str, str]:
    if not captures:
        return "none yet", "", ""
    entry = captures[-1]
    totals, changes = entry["totals"], entry["changes"]
    shown = totals and totals["captured"] and (entry["complete"] or totals["coherent"])
    share = percent(totals["coherent"] / meant(entry)) if shown else "–"
    since = f"{changes['changed']:,}/{changes['new']:,}/{changes['gone']:,}" if changes else "–"
    if changes and changes["unknown"]:
        since += f", {changes['unknown']:,} unknown"
    if changes and changes["left"]:
        since += f", {changes['left']:,} left"
    state = " (open)" if not entry["complete"] else " (cut)" if entry["left"] else ""
    return f"{entry['time'][:16].replace('T', ' ')}{state}", share, since
