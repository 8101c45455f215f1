"""``sharc certify``: a certificate for any instant, from the captures that a collection has."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sharc_crawler.cli._inputs import FOLDER, instant, regular
from sharc_crawler.cli._next import say_next
from sharc_crawler.collection.certifying import CERTIFICATES, certify_at
from sharc_crawler.collection.folder import Collection
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.report.claim import sentence
from sharc_crawler.storage.beside import forget_killed


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER, callback=regular)
@click.option("--at", "at", required=True, metavar="T", help="The instant: 2026-11-20T10:31, or unix seconds; UTC.")
@click.option("--site", default="", help="Only this site, by the name of its folder in DIR/captures.")
def command(folder: Path, at: str, site: str) -> None:
    r"""Write a certificate of the state of the sites in collection DIR at the instant T, from existing captures.

    For each page, the last download before T is compared with the first one after it, from any capture. Pages that
    were the same at both are shown to have been in that state together at T. Nothing is downloaded. sharc verify DIR
    verifies such certificates with all others.

    \b
    Example:
      sharc certify news --at 2026-11-20T12:00
      sharc verify news
    """
    forget_killed(folder / CERTIFICATES)
    with busy("verifying the captures around it, and making the certificate of what they show"):
        written = certify_at(Collection(folder), instant(at, "--at"), site)
    for path in written:
        document = json.loads(path.read_text(encoding="utf-8"))
        click.echo(sentence(document["claim"]))
        click.echo(f"  {path}\n  its digest {document['digest']}")
    say_next("sharc", "verify", folder)
