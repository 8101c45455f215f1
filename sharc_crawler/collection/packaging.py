"""| A collection as one file: a multi-WACZ with a WACZ file for each capture."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sharc_crawler import __version__
from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.replay import elsewhere, moment
from sharc_crawler.archive.wacz import About, write_multi_wacz
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.names import is_certified
from sharc_crawler.collection.folder import CollectedCapture, Collection, package_path
from sharc_crawler.collection.referring import lost_payloads
from sharc_crawler.errors import DataError, SharcError, UsageError
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.folder_check import refuse_altered
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.packaging import PackageSeal, package, signer, stated_digests
from sharc_crawler.storage.beside import forget_killed

NAMED = 10  #: parts named in the description


def package_collection(
    collection: Collection,
    path: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
    left_out: Callable[[str], None] = lambda _: None,
    lacking: Callable[[str], None] = lambda _: None,
    *,
    title: str = "",
    description: str = "",
    seal: PackageSeal | None = None,
) -> Path:
    """Write the captures of a collection as one file of WACZ files; by default into its folder.

    Unfinished and damaged captures are left out, as ``left_out`` is told with reasons; ``lacking`` is told which need
    payloads that no part has. Other parameters and errors are those of
    :func:`~sharc_crawler.report.packaging.package`.
    """
    path = path or package_path(collection)
    if path.exists():
        raise UsageError(f"{str(path)!r} exists and is left as it is; remove it first, or name another file with -o")
    written = [capture for capture in collection.captures() if _is_written(capture.folder, left_out)]
    captures = [capture for capture in written if not _damaged(capture.folder, left_out)]
    if not captures:
        error, why = (DataError, "all are damaged") if written else (UsageError, "no capture is finished")
        raise error(f"the collection {str(collection.folder)!r} has nothing to package: {why}")
    folders = [capture.folder for capture in sorted(captures, key=lambda capture: capture.time)]
    for folder, number in lost_payloads(folders, folders).items():
        what = f"{counted(number, 'payload')} that it refers to {agreeing(number, 'are')}"
        lacking(f"{folder}: {what} in no capture of the package")
    forget_killed(path.parent, path.name)
    about = _about(collection, captures, title, description)
    try:
        return write_multi_wacz(path, _parts(captures, path.parent, seal), about, progress, signer(seal, about))
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}; name another file") from error


def part_name(capture: CollectedCapture) -> str:
    """The name of a capture's WACZ file in the package, in lower case for viewers.

    >>> from pathlib import Path
    >>> from sharc_crawler.collection.folder import CollectedCapture
    >>> part_name(CollectedCapture("a.example", 0.0, Path()))
    'a.example-19700101000000.wacz'
    """
    return f"{capture.site}-{moment(capture.time)}.wacz".lower()


def _is_written(folder: Path, left_out: Callable[[str], None]) -> bool:
    if any(folder.glob(f"*{SUFFIX}{OPEN}")):
        left_out(f"{folder}: it is being captured, or was cut off")
        return False
    return any(folder.glob(f"*{SUFFIX}")) or is_certified(folder)


def _damaged(folder: Path, left_out: Callable[[str], None]) -> bool:
    """Whether a capture lacks something that its package needs."""
    try:
        refuse_altered(folder)
        for warc, digest in stated_digests(folder).items():
            if fixity(warc)["sha256"] != digest:
                raise DataError(f"{warc} is not as it was certified (sharc verify {folder} says more)")
        elsewhere([folder])
        with open_facts(folder):
            return False
    except SharcError as error:
        left_out(str(error))
    except (OSError, ValueError, KeyError) as error:
        left_out(f"{folder}: {error}")
    return True


def _parts(captures: Sequence[CollectedCapture], beside: Path, seal: PackageSeal | None) -> Iterator[tuple[str, Path]]:
    """The WACZ files one by one; each is removed before the next is made."""
    for capture in captures:
        name = part_name(capture)
        forget_killed(beside, name)
        draft = beside / f".{name}.{os.getpid()}"  # a draft, so that a kill leaves no incomplete package
        try:
            with open_facts(capture.folder) as facts:
                yield name, package(capture.folder, facts, draft, seal=seal, anew=True)
        finally:
            draft.unlink(missing_ok=True)


def _about(collection: Collection, captures: Sequence[CollectedCapture], title: str, description: str) -> About:
    incomplete = [capture for capture in captures if elsewhere([capture.folder])]
    own = described(len(captures), len({capture.site for capture in captures}), list(map(part_name, incomplete)))
    return About(
        title=title or collection.terms.title or collection.folder.resolve().name,
        description=" ".join(filter(None, (description, own))),
        created=time.time(),
        software=f"sharc-crawler {__version__}",
    )


def described(captures: int, sites: int, needing: Sequence[str]) -> str:
    """What a package holds; ``needing``: the parts that need payloads of others.

    >>> described(2, 1, ["a.wacz"])
    '2 captures of 1 site. 1 of them needs payloads that former ones hold: a.wacz.'
    """
    text = f"{counted(captures, 'capture')} of {counted(sites, 'site')}."
    if not needing:
        return text
    needs = "needs" if len(needing) == 1 else "need"
    more = f" and {len(needing) - NAMED:,} more" if len(needing) > NAMED else ""
    return (
        f"{text} {len(needing):,} of them {needs} payloads that former ones hold: {', '.join(needing[:NAMED])}{more}."
    )
