"""``sharc confirm``: provisional claims confirmed, or taken back, by the sitemaps as they are after the site's lag."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sharc_crawler.certificate.confirming import confirm, confirmation_of, waits
from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.names import CONFIRMATION, is_signed
from sharc_crawler.certificate.sources import captures_in
from sharc_crawler.certificate.verify import total_size, verify
from sharc_crawler.cli._inputs import FOLDER, regular, require_capture
from sharc_crawler.cli._next import say_next
from sharc_crawler.collection.confirming import command as confirming
from sharc_crawler.collection.folder import Collection
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.instants import second
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.servers_word import confirmed

if TYPE_CHECKING:
    from sharc_crawler.archive.objects import ObjectFolder


@click.command()
@click.argument("folder", type=FOLDER, callback=regular)
@click.option("-s", "settings", multiple=True, metavar="NAME=VALUE", help="A setting, as for scrapy crawl.")
@click.option("--objects", metavar="URL", help="The capture's place in an object store: upload the result there, too.")
def command(folder: Path, settings: tuple[str, ...], objects: str | None) -> None:
    r"""Confirm the provisional claims of the capture in FOLDER, or of each capture in a collection.

    A sitemap may show a change late. So the sitemaps are read once more, after the site's lag (by default a day, or as
    given by lag=). Pages that are unchanged according to them are confirmed. Pages that changed before the reference
    instant are no longer claimed. The result is sealed in FOLDER/confirmation.

    \b
    Example:
      sharc confirm captures/demo -s SHARC_OPERATOR=crawls@library.example
      sharc verify captures/demo
      sharc confirm captures/demo --objects s3://archive/demo
    """
    collection = Collection(folder) if Collection.is_in(folder) else None
    if not collection:
        require_capture(folder)
    folders = [capture.folder for capture in collection.captures()] if collection else captures_in(folder)
    if folders == [folder]:
        _confirm(folder, settings, objects)
        return
    if objects:
        raise UsageError(f"--objects {objects}: {folder} holds several captures; confirm each by itself")
    given = dict(text.split("=", 1) for text in settings if "=" in text)
    chosen = {**(collection.terms.settings if collection else {}), **given}
    now = time.time()
    due = [capture for capture in folders if (left := waits(capture)) and left.due <= now]
    if not due:
        click.echo(f"nothing to do in {folder}: no capture waits for its confirmation by now")
    failed = [capture for capture in due if subprocess.run(confirming(capture, chosen), check=False).returncode]  # noqa: S603
    if failed:
        raise DataError(f"{counted(len(failed), 'capture')} could not be confirmed; the first is {failed[0]}")


def _confirm(folder: Path, settings: Sequence[str], objects: str | None) -> None:
    there = _there(folder, objects) if objects else None
    if made := confirmation_of(folder):
        click.echo(f"{folder} was confirmed before:")
    elif left := waits(folder):
        if left.due > time.time():
            click.echo(
                f"{counted(left.pages, 'page')} of {folder} can be confirmed from {second(left.due)} on, not before"
            )
            return
        click.echo(f"{folder}: it is verified, then its sitemaps are read once more …", err=True)
        with busy("verifying", total=total_size(folder)) as share:
            findings = verify(folder, progress=share.more).findings
        if findings:
            raise DataError(f"{folder} does not verify, so nothing of it is confirmed: {findings[0]}")
        from sharc_crawler.live.setup.survey import read_again  # Scrapy is slow to import, and only this needs it

        with busy("asking the sitemaps again, and weighing what they say now"):
            made = confirm(folder, lambda capture, into: read_again(capture, into, settings))
    else:
        click.echo(f"nothing to do in {folder}: no certificate there claims anything provisionally")
        return
    for line in confirmed(made):
        click.echo(f"  {line}")
    if there:
        _deliver(folder, there)
    if is_signed(folder) and not is_signed(folder / CONFIRMATION):
        click.echo("  The certificate is signed; what confirms it can be, too: sharc seal, with the same key")
    say_next("sharc", "verify", folder)


def _there(folder: Path, url: str) -> ObjectFolder:
    """The capture's folder in an object store; refuses the folder of another capture."""
    from sharc_crawler.archive.objects import ObjectFolder  # only if there is one

    there = ObjectFolder(url)
    try:
        if CERTIFICATE not in there.names() or there.get(CERTIFICATE) != (folder / CERTIFICATE).read_bytes():
            raise UsageError(f"--objects {url}: the certificate there is not that of {folder}")
    except OSError as error:
        raise DataError(f"--objects {url} cannot be read: {error}") from error
    return there


def _deliver(folder: Path, there: ObjectFolder) -> None:
    from sharc_crawler.archive.delivery import deliver

    try:
        deliver(folder / CONFIRMATION, there.below(CONFIRMATION))
    except OSError as error:
        what_to_do = "give the same command again"
        raise DataError(f"{folder} is confirmed, but not in {there.url}: {error}; {what_to_do}") from error
