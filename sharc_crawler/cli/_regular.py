"""Folders that commands read: none with a named pipe or a device is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sharc_crawler.certificate.sources import require_regular

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

Read = TypeVar("Read", Path, tuple[Path, ...], None)


def regular(ctx: click.Context, parameter: click.Parameter, value: Read) -> Read:  # noqa: ARG001
    """For ``callback=`` of what names folders to read: with a pipe or device none is opened."""
    folders: Iterable[Path] = value if isinstance(value, tuple) else filter(None, [value])
    for folder in folders:
        if folder.is_dir():
            require_regular(folder)
    return value
