"""| Options that name a file or folder to write, checked before any work is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from shutil import copymode
from typing import IO, TYPE_CHECKING

from sharc_crawler import extras
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    import click

STREAMS = (Path("-"), Path("/dev/stdout"))  #: standard output


def to_file(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    """For ``callback=`` of a file to write, or ``-``."""
    if value is not None and value not in STREAMS:
        try_file(parameter.opts[-1], value)
    return value


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """Open a text file that is written whole or not at all, with the former file's permissions.

    Standard output, pipes and devices are written directly; so are files in a folder that cannot hold a draft.
    """
    place = path.resolve()
    if path in STREAMS:
        yield sys.stdout
    elif path.exists() and not (path.is_file() and os.access(place.parent, os.W_OK)):
        with path.open("w", encoding="utf-8", newline="") as out:
            yield out
    else:
        try:
            with Drafts() as drafts, drafts.open(place) as file:
                if path.exists():
                    copymode(place, drafts.of(place))
                out = TextIOWrapper(file, "utf-8", newline="")
                yield out
                out.detach()
        except OSError as error:
            error.filename = str(path)  # the error names no file or the draft
            raise


def to_folder(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    """For ``callback=`` of a folder to write to, which is made if missing."""
    if value is not None:
        try_folder(parameter.opts[-1], value)
    return value


def try_file(option: str, path: Path) -> None:
    """Raise UsageError if the file cannot be written; an existing file is left unchanged."""
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: the folder {path.parent} does not exist; make it, or name another file")
    new = not path.exists()
    try:
        path.open("ab").close()
        if new:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be written: {error.strerror}; name another file") from error


def try_folder(option: str, path: Path) -> None:
    """Raise UsageError if the folder cannot be made or written to; it is left as it was."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        try_file(option, path / ".sharc-tried")
    except (OSError, UsageError) as error:
        why = error.strerror if isinstance(error, OSError) else "nothing can be written there"
        raise UsageError(f"{option} {path} cannot be used as a folder: {why}; name another one") from error
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


FORMS = (".png", ".svg", ".pdf")


def drawn(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    """For ``callback=`` of a picture, or a folder of pictures, to draw."""
    if value is not None:
        option = parameter.opts[0]
        if option == "--picture" and value.suffix not in FORMS:
            raise UsageError(f"{option} {value} is no picture that can be drawn; end its name with {', '.join(FORMS)}")
        extras.check(option, "matplotlib")
        (try_file if option == "--picture" else try_folder)(parameter.opts[-1], value)
    return value
