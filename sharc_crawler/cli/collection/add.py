"""``sharc collection add``: a capture becomes a collection's."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.payloads import Payloads
from sharc_crawler.certificate.verify import total_size, verify
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._regular import regular
from sharc_crawler.collection.adding import KnownCaptureError, add, lacking, stands_in
from sharc_crawler.collection.folder import Collection
from sharc_crawler.errors import DataError
from sharc_crawler.live.former.remembering import remember
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.writing.writer_process import stored_payloads
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import capture_folders
from sharc_crawler.storage.observations import ObservationStore

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("add")
@click.argument("folder", type=_FOLDER)
@click.argument(
    "captures",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    nargs=-1,
    required=True,
    callback=regular,
)
def add_command(folder: Path, captures: tuple[Path, ...]) -> None:
    r"""Copy CAPTURES, each a folder given as output=, into the collection FOLDER, which is made where there is none.

    Each is verified first. The history of the collection learns what it observed. Those that are there already are
    named, and left as they are. Ends with 3 where one refers to payloads of a former capture that is not in the
    collection: it is copied, and named.

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
        except KnownCaptureError as error:  # the same command had been killed, say
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
        return lacking(collection, places)
    except (OSError, DataError) as error:
        raise DataError(
            f"all are copied; whether the collection has what they refer to could not be seen ({error}):"
            f" sharc verify {collection.folder} tells"
        ) from error


def _check(capture: Path) -> None:
    """Refuse a capture whose certificate does not hold."""
    if not any(capture.glob("certificate*.json")):
        return
    with busy("verifying", total=total_size(capture)) as share:
        findings = verify(capture, progress=share.more).findings
    if findings:
        raise DataError(f"capture={str(capture)!r} is not as it was certified: {findings[0]} (sharc verify says all)")


def _learn(copy: Path, history: Path) -> None:
    """What it observed, and which payloads it holds."""
    with ObservationStore(history) as known, open_state(copy) as store, TemporaryDirectory() as scratch:
        remember(store, known)
        held = Payloads(Path(scratch))
        for warc in sorted(copy.glob(f"*{SUFFIX}")):
            held.read(warc)
        (row,) = store.captures().values()
        known.keep_payloads(row.spec.site, stored_payloads(held.stored()))
