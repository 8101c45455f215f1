"""``sharc fetch``: a capture from an object store."""

from __future__ import annotations

from pathlib import Path

import click

from sharc_crawler.archive.delivery import fetch
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.cli._next import say_next
from sharc_crawler.errors import DataError
from sharc_crawler.plural import counted


@click.command()
@click.argument("url")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def command(url: str, folder: Path) -> None:
    r"""Copy the capture that a crawl stored at URL (its objects=) into FOLDER. Files that are already there are kept.

    FOLDER is then a capture's folder like any other: report, verify, package and replay it. If the crawl was
    interrupted, the parts of an unfinished WARC file are joined. The store is not changed.

    \b
    Example:
      sharc fetch s3://archive/example captures/example
      sharc verify captures/example
    """
    objects = ObjectFolder(url)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = fetch(objects, folder, lambda name, size: click.echo(f"{folder / name}  {counted(size, 'byte')}"))
    except OSError as error:
        raise DataError(f"{url} cannot be fetched: {error}") from error
    if not done:
        click.echo(f"nothing to do: {url} holds nothing that is not in {folder}")
    say_next("sharc", "verify", folder)
