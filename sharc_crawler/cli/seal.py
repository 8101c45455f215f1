"""``sharc seal``: certificates signed, and stamped with a time, after the crawl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sharc_crawler.certificate import sealing
from sharc_crawler.cli._inputs import FOLDER
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._table_options import asking, may_ask, row
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.beside import forget_killed
from sharc_crawler.storage.folders import capture_folders


@click.command()
@click.argument("folder", type=FOLDER)
@row("sign", metavar="KEY")
@may_ask
def command(folder: Path, sign: str | None, timestamp: str | None, operator: str | None, allow: Sequence[str]) -> None:
    r"""Sign and time-stamp the certificates in FOLDER, if that is not done yet.

    A crawl does both at its end with -a sign=KEY and -a timestamp=URL; use this command if that failed. A WACZ file
    made before does not contain them: package the folder again. KEY is a key of the curve secp384r1, or a domain's key
    with its certificates in the same file, which needs a time stamp authority.

    \b
    Example:
      sharc seal captures/demo --sign archive.pem --timestamp https://freetsa.org/tsr
      sharc verify captures/demo --signer archive-public.pem --authority freetsa-root.pem
    """
    if sign is None and timestamp is None:
        raise UsageError("nothing to do: give --sign KEY, --timestamp URL, or both")
    folders = capture_folders(folder)
    for capture in folders:
        forget_killed(capture)
    ask = asking(timestamp, operator, allow)
    written = [path for capture in folders for path in sealing.sign(capture, Path(sign), ask)] if sign else []
    written += [path for capture in folders for path in sealing.stamp(capture, ask)] if ask else []
    for path in written:
        click.echo(path)
    if written:
        say_next("sharc", "verify", folder)
    else:
        click.echo(f"nothing to do in {folder}: there is no certificate, or all of it is there already")
