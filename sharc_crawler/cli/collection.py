"""``sharc collection``: the folder that an archive keeps; its sites and captures as a page, and in a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.payloads import Payloads
from sharc_crawler.certificate.verify import total_size, verify
from sharc_crawler.cli import OrShow
from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._next import capture_words, say_next
from sharc_crawler.cli._tables import print_whole
from sharc_crawler.collection.adding import KnownCaptureError, add, stands_in
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.page import PAGE, meant, own_name, write_overview
from sharc_crawler.collection.referring import lost_payloads
from sharc_crawler.errors import DataError
from sharc_crawler.live.former.remembering import remember
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.writing.writer_process import stored_payloads
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.words import percent, short, size
from sharc_crawler.storage.beside import forget_killed, open_state
from sharc_crawler.storage.folders import capture_folders
from sharc_crawler.storage.observations import ObservationStore

SHOWN = 30  #: sites, and unreadable captures, that are listed


@click.group(cls=OrShow, epilog="Example: sharc collection news")
def command() -> None:
    """Manage a collection: captures of sites, with history and masks, in one folder. With only DIR, show it."""


@command.command("show")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print index.json instead of the table.")
def show_command(folder: Path, as_json: bool) -> None:
    r"""Write index.html and index.json of a collection: sites, captures on a time line, what changed between them.

    You can open it without a server. Only captures that are new, or have a new report, are read again.

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
        weight = size(sum(capture["bytes"] for capture in captures))
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


@command.command("add")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("captures", type=FOLDER, nargs=-1, required=True, callback=regular)
def add_command(folder: Path, captures: tuple[Path, ...]) -> None:
    r"""Copy CAPTURES, each a folder given as output=, into the collection FOLDER, which is created if missing.

    Each is verified first. The history of the collection learns what it observed. Captures that are already there are
    named and not changed. The exit code is 3 if a capture refers to payloads of a former capture that is not in the
    collection: it is copied and named.

    \b
    Example:
      sharc collection add news captures/example-monday captures/example-tuesday
    """
    places: list[Path] = []
    known: list[KnownCaptureError] = []
    for capture in (one for given in captures for one in capture_folders(given)):
        _check(capture)
        try:
            with busy(f"copying {capture}, and learning from it"):
                places.append(place := add(folder, capture, _learn))
        except KnownCaptureError as error:  # for example after the same command was killed
            if not error.same:
                raise
            known.append(error)
            continue
        click.echo(f"{capture} is copied to {place}")
        if not stands_in(Collection(folder).terms, place):
            click.echo(
                f"its site does not stand in {folder}/collection.yaml: add it there to have it captured", err=True
            )
    if known and not places:
        raise known[0]
    for one in known:
        click.echo(str(one), err=True)
    if lost := _lacking(Collection(folder), places):
        for place, number in lost.items():
            click.echo(
                f"{place}: {counted(number, 'payload')} that it refers to {agreeing(number, 'are')} in no capture of"
                f" the collection: sharc collection add {folder} the former captures, too, or sharc verify finds it",
                err=True,
            )
        raise click.exceptions.Exit(DataError.exit_code)
    say_next("sharc", "collection", folder)


def _lacking(collection: Collection, places: list[Path]) -> dict[Path, int]:
    try:
        return lost_payloads(places, [capture.folder for capture in collection.captures()])
    except (OSError, DataError) as error:
        raise DataError(
            f"all are copied; whether the collection has what they refer to could not be seen ({error}):"
            f" sharc verify {collection.folder} tells"
        ) from error


def _check(capture: Path) -> None:
    """Refuse a capture that does not verify."""
    if not any(capture.glob("certificate*.json")):
        return
    with busy("verifying", total=total_size(capture)) as share:
        findings = verify(capture, progress=share.more).findings
    if findings:
        raise DataError(f"capture={str(capture)!r} is not as it was certified: {findings[0]} (sharc verify says all)")


def _learn(copy: Path, history: Path) -> None:
    """Add what a capture observed, and the payloads that it holds, to the history."""
    with ObservationStore(history) as known, open_state(copy) as store, TemporaryDirectory() as scratch:
        remember(store, known)
        held = Payloads(Path(scratch))
        for warc in sorted(copy.glob(f"*{SUFFIX}")):
            held.read(warc)
        (row,) = store.captures().values()
        known.keep_payloads(row.spec.site, stored_payloads(held.stored()))
