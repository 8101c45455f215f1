"""Folders that commands read: named pipes and devices in them never end, or never begin, when they are opened."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISFIFO
from typing import TYPE_CHECKING, TypeVar

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

Read = TypeVar("Read", Path, tuple[Path, ...], None)


def irregular(folder: Path) -> Iterator[Path]:
    """Named pipes and devices in a folder, links to them among these."""
    for file in sorted(folder.rglob("*")):
        with suppress(OSError):  # a link to what is not there
            mode = file.stat().st_mode
            if S_ISFIFO(mode) or S_ISCHR(mode) or S_ISBLK(mode):
                yield file


def regular(ctx: click.Context, parameter: click.Parameter, value: Read) -> Read:  # noqa: ARG001
    """For ``callback=`` of what names folders to read: with a pipe or device none is opened."""
    folders: Iterable[Path] = value if isinstance(value, tuple) else filter(None, [value])
    for folder in folders:
        for file in irregular(folder) if folder.is_dir() else ():
            raise DataError(f"{file} is a named pipe or a device, which is not read; take it out of {folder}")
    return value
