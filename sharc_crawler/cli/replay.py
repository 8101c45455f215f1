"""``sharc replay``: look at a capture, or at a whole collection, through pywb."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.replay import downloaded, elsewhere, find_pywb, lost_warcs, moment, replaying
from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._services import until_stopped
from sharc_crawler.collection.folder import Collection
from sharc_crawler.errors import SharcError, UsageError
from sharc_crawler.instants import second, unix
from sharc_crawler.report.banner import dress
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import capture_folders

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts

SHOWN = 20  #: sites that are listed


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path), callback=regular)
@click.option(
    "--former",
    type=FOLDER,
    callback=regular,
    multiple=True,
    help="A former capture to show, too; needed if it stores payloads of this one (dedup=site).",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0, the default: any free one.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one line of JSON.")
def command(folder: Path, former: tuple[Path, ...], port: int, as_json: bool) -> None:
    r"""Show the captures in FOLDER as they were, on loopback, until Ctrl-C. FOLDER may be a collection.

    A banner below each page shows what the certificate says about this copy, and when its parts were downloaded.

    This starts pywb, which needs its own environment; set SHARC_PYWB to the folder of its programs.

    \b
    Example:
      python3 -m venv ~/pywb && ~/pywb/bin/pip install pywb
      SHARC_PYWB=~/pywb/bin sharc replay captures/demo
    """
    if folder.is_file():
        raise UsageError(f"{str(folder)!r} is a file: name the capture's folder; ReplayWeb.page opens its WACZ file")
    find_pywb(os.environ)
    collected = Collection.is_in(folder)
    begun = _collected(folder) if collected else capture_folders(folder)
    folders = [*begun, *former]
    captures = list(_newest(begun) if collected else _facts(begun))
    with replaying(folders, port, partial(dress, folders, _warned)) as address, until_stopped():
        shown = [f"{address}{moment(facts.reference or facts.started)}/{facts.seeds[0]}" for facts in captures]
        if as_json:
            click.echo(json.dumps({"address": address, "captures": shown}))
        else:
            for facts, url in list(zip(captures, shown, strict=True))[:SHOWN]:
                at = "at its reference instant" if facts.reference else "without a reference instant (not complete)"
                click.echo(f"{facts.site} {at}: {url}")
            if len(captures) > SHOWN:
                click.echo(f"… and {len(captures) - SHOWN:,} more")
            click.echo("Ctrl-C ends it.")
        _warn(folders, collected)
        for lost in lost_warcs(folders):
            _warned(f"{lost} is missing: its copies are not shown")
        signal.pause()


def _collected(folder: Path) -> list[Path]:
    """The captures of a collection that have WARC files, oldest first."""
    found = [capture.folder for capture in Collection(folder).captures() if any(capture.folder.glob(f"*{SUFFIX}"))]
    if not found:
        raise UsageError(f"the collection {str(folder)!r} has nothing to show yet: no capture has finished a WARC file")
    return found


def _facts(folders: Iterable[Path]) -> Iterator[CaptureFacts]:
    for folder in folders:
        with open_facts(folder) as found:
            yield from found


def _newest(folders: Iterable[Path]) -> Iterator[CaptureFacts]:
    """The newest capture of each site; one with unreadable state is reported, and only its WARC files are shown."""
    for one in {folder.parent: folder for folder in folders}.values():
        try:
            yield from _facts([one])
        except SharcError as error:
            _warned(str(error))


def _warn(folders: Sequence[Path], collected: bool) -> None:
    if missing := elsewhere(folders):
        are = "payload is" if missing == 1 else "payloads are"
        why = "in no capture of it: not" if collected else "stored in former captures: without --former DIR not"
        times = [second(unix(date)) for date in downloaded(folders)]
        click.echo(f"{missing:,} {are} {why} shown.", err=True)
        if times:
            span = " to ".join(dict.fromkeys((times[0], times[-1])))
            which = "put the capture of then back" if collected else "that is when the capture to name was made"
            click.echo(f"Downloaded {span}: {which}.", err=True)


def _warned(text: str) -> None:
    click.echo(f"sharc: {printable(text)}", err=True)
