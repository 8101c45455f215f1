"""Folders that commands read: none with a named pipe or a device is opened; what holds no capture is refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sharc_crawler.certificate.sources import captures_in, is_capture, require_regular
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    import click

Read = TypeVar("Read", Path, tuple[Path, ...], None)


def regular(ctx: click.Context, parameter: click.Parameter, value: Read) -> Read:  # noqa: ARG001
    """For ``callback=`` of what names folders to read: with a pipe or device none is opened."""
    folders: Iterable[Path] = value if isinstance(value, tuple) else filter(None, [value])
    for folder in folders:
        if folder.is_dir():
            require_regular(folder)
    return value


def require_capture(path: Path) -> None:
    """Refuse a folder that neither is a capture nor gathers any; of a file nothing is said."""
    if path.is_dir() and captures_in(path) == [path] and not is_capture(path):
        raise UsageError(f"{str(path)!r} holds no capture; name a folder given as output=")
