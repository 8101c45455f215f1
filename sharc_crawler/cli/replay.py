"""``sharc replay``: look at a capture through pywb."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import click

from sharc_crawler.archive.replay import elsewhere, find_pywb, moment, replaying
from sharc_crawler.errors import UsageError
from sharc_crawler.report.load import open_facts
from sharc_crawler.storage.folders import capture_folders


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--former",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="A former capture, shown, too; needed where payloads are stored there (dedup=site).",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0, the default, takes a free one.")
@click.option("--json", "as_json", is_flag=True, help="Say where it is shown as one line of JSON.")
def command(folder: Path, former: tuple[Path, ...], port: int, as_json: bool) -> None:
    r"""Show the captures in FOLDER as they were, on loopback, until Ctrl-C.

    It starts pywb, which needs an environment of its own; SHARC_PYWB names its folder of programs.

    \b
    Example:
      python3 -m venv ~/pywb && ~/pywb/bin/pip install pywb
      SHARC_PYWB=~/pywb/bin sharc replay captures/demo
    """
    if folder.is_file():
        raise UsageError(f"{str(folder)!r} is a file: name the capture's folder; ReplayWeb.page opens its WACZ file")
    find_pywb(os.environ)
    folders, captures = capture_folders(folder), []
    for one in folders:
        with open_facts(one) as found:
            captures += list(found)
    with replaying([*folders, *former], port) as address:
        shown = [f"{address}{moment(facts.reference or facts.started)}/{facts.seeds[0]}" for facts in captures]
        if as_json:
            click.echo(json.dumps({"address": address, "captures": shown}))
        else:
            for facts, url in zip(captures, shown, strict=True):
                click.echo(f"{facts.site} at its reference instant: {url}")
            click.echo("Ctrl-C ends it.")
        if missing := elsewhere([*folders, *former]):
            are = "payload is" if missing == 1 else "payloads are"
            click.echo(f"{missing:,} {are} stored in former captures: without --former DIR not shown.", err=True)
        asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: asked.set())
        asked.wait()
