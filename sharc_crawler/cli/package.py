"""``sharc package``: a capture as one WACZ file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.replay import elsewhere
from sharc_crawler.certificate.names import is_certified
from sharc_crawler.certificate.sources import captures_in
from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import to_file
from sharc_crawler.cli._table_options import asking, may_ask, row
from sharc_crawler.collection.certifying import CERTIFICATES
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.packaging import package_collection
from sharc_crawler.errors import DataError, SharcError, UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.folder_check import refuse_altered
from sharc_crawler.report.opened import open_facts, require_some
from sharc_crawler.report.package_check import package_digest
from sharc_crawler.report.packaging import PackageSeal, package
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import site_folders


@click.command()
@click.argument("folder", type=FOLDER, callback=regular)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), callback=to_file, help="File to write.  [default: in FOLDER]"
)
@click.option("--title", default="", help="Title in viewers.  [default: sites and reference instants]")
@click.option("--description", default="", help="Text in viewers, before the captures' claims.")
@row("sign", metavar="KEY")
@may_ask
def command(
    folder: Path,
    output: Path | None,
    title: str,
    description: str,
    sign: str | None,
    timestamp: str | None,
    operator: str | None,
    allow: Sequence[str],
) -> None:
    r"""Package the captures in FOLDER as one WACZ file: WARC files, index, pages, report and certificate.

    You can open it in ReplayWeb.page, which lists each page at the times of its visit and revisit. The folder is not
    changed. A crawl of several sites, or a folder of captures, gives one file for each capture, in its own folder. A
    collection gives a single file, a multi-WACZ, with a WACZ file for each capture. --sign with the key of a domain
    needs --timestamp.

    \b
    Example:
      sharc package captures/demo
      sharc package captures/demo -o demo.wacz && sharc verify demo.wacz
      sharc package captures/demo --title "Town council, November 2026" --description "Collection 12, weekly."
    """
    collection = Collection(folder) if Collection.is_in(folder) else None
    folders = [capture.folder for capture in collection.captures()] if collection else captures_in(folder)
    if output and len(folders) > 1 and not collection:
        held = counted(len(folders), "capture")
        raise UsageError(f"-o {output}: {folder} holds {held}, each becomes a file: name one of them")
    gathers = len(folders) > 1 and site_folders(folder) is None
    left, lacking = list[str](), list[str]()
    try:
        with busy("packaging", total=_size(folders)) as share:
            seal = PackageSeal(Path(sign), asking(timestamp, operator, allow)) if sign else None
            said: dict[str, Any] = {"title": title, "description": description, "seal": seal}
            if collection:
                made = {folder: package_collection(collection, output, share.more, left.append, lacking.append, **said)}
            else:
                make = partial(package, path=output, progress=share.more, **said)
                made = dict(_packaged(folders, left if gathers else None, make))
    finally:
        for why in [*(f"not packaged: {text}" for text in left), *(f"not whole: {text}" for text in lacking)]:
            click.echo(f"  {printable(why)}", err=True)
    for one, path in made.items():
        click.echo(f"{path}  {counted(path.stat().st_size, 'byte')}")
        click.echo(f"  its digest {package_digest(path)} (keep it in another place)")
        if not collection and (number := elsewhere([one])):
            click.echo(_left_out(number, one), err=True)
        if collection and (instants := len([*(one / CERTIFICATES).glob("*.json")])):
            click.echo(_beside(instants, one), err=True)
    _check_whole(folder, left, lacking)
    if made and any(map(is_certified, folders if collection else list(made)[:1])):
        say_next("sharc", "verify", next(iter(made.values())))


def _check_whole(folder: Path, left: Sequence[str], lacking: Sequence[str]) -> None:
    if left:
        raise DataError(f"{counted(len(left), 'capture')} of {folder} could not be packaged")
    if lacking:
        need = f"{counted(len(lacking), 'capture', 'need')} payloads that none of them holds"
        raise DataError(f"{folder} is packaged, but {need} (sharc verify {folder} says more)")


def _packaged(
    folders: Iterable[Path], left: list[str] | None, make: Callable[..., Path]
) -> Iterator[tuple[Path, Path]]:
    """Folders with their packages; errors are added to ``left`` if that is a list."""
    for folder in folders:
        try:
            refuse_altered(folder)
            with open_facts(folder) as captures:
                require_some(captures, folder)
                yield folder, make(folder, captures)
        except SharcError as error:
            if left is None:
                raise
            left.append(str(error))


def _size(folders: Iterable[Path]) -> int:
    return sum(warc.stat().st_size for folder in folders for warc in folder.glob(f"*{SUFFIX}"))


def _left_out(number: int, folder: Path) -> str:
    """The payloads that a package of one capture lacks, as they are stored once for all captures."""
    without = f"sharc: {counted(number, 'payload', 'are')} not in it, but in former captures of the site (dedup=site)"
    root = next(filter(Collection.is_in, folder.parents), None)
    together = f": sharc package {root} has all of them" if root else ": keep these, too, and verify with --former DIR"
    return printable(without + together)


def _beside(instants: int, folder: Path) -> str:
    """The certificates for other instants that a collection's package lacks."""
    of = counted(instants, "certificate", "are")
    return printable(f"sharc: {of} not in it, of other instants, in {folder / CERTIFICATES}: sharc verify {folder}")
