"""``sharc seal``: certificates signed, and stamped with a time, after the crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sharc_crawler import extras
from sharc_crawler.certificate import sealing
from sharc_crawler.cli._next import say_next
from sharc_crawler.errors import UsageError
from sharc_crawler.options.sites import url as checked_url
from sharc_crawler.storage.folders import capture_folders

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--sign", "key", type=click.Path(path_type=Path), help="Private key (PEM, curve secp384r1) to sign with.")
@click.option("--timestamp", metavar="URL", help="Time stamp authority (RFC 3161) to ask.")
@click.option("--operator", envvar="SHARC_OPERATOR", help="Your contact: URL or mail address, for the authority.")
@click.option("--allow", multiple=True, metavar="NETWORK", help="A private network that may be contacted.")
def command(folder: Path, key: Path | None, timestamp: str | None, operator: str | None, allow: Sequence[str]) -> None:
    r"""Sign the certificates in FOLDER, and have an authority say when they existed, where that is not done yet.

    A crawl does both at its end with -a sign=KEY and -a timestamp=URL; what failed there is made up for here. A WACZ
    file that was made before does not hold them: package the folder again.

    \b
    Example:
      sharc seal captures/demo --sign archive.pem --timestamp https://freetsa.org/tsr
      sharc verify captures/demo --signer archive-public.pem --authority freetsa-root.pem
    """
    if key is None and timestamp is None:
        raise UsageError("nothing to do: give --sign KEY, --timestamp URL, or both")
    folders = capture_folders(folder)
    written = [path for one in folders for path in sealing.sign(one, key)] if key else []
    if timestamp:
        extras.check("--timestamp", "rfc3161_client")
        from sharc_crawler.live.authority import ask
        from sharc_crawler.live.operator import user_agent

        try:
            authority = checked_url(timestamp)
        except ValueError as error:
            raise UsageError(f"--timestamp={timestamp!r} {error}") from error
        for one in folders:
            written += sealing.stamp(one, lambda query: ask(authority, query, user_agent(operator), allow))
    for path in written:
        click.echo(path)
    if written:
        say_next("sharc", "verify", folder)
    else:
        click.echo(f"nothing to do in {folder}: there is no certificate, or all of it is there already")
