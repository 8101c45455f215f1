"""| Finds the capture of a collection that is meant when its folder is named."""

from __future__ import annotations

from pathlib import Path

import click

from sharc_crawler.collection.folder import CollectedCapture, Collection
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.beside import is_held
from sharc_crawler.storage.folders import RUNNING


def watched(folder: Path) -> Path:
    """The folder itself; for a collection, the capture begun last, preferably one under way."""
    captures, under_way = _captures(folder)
    if not captures:
        return folder
    chosen = (under_way or captures)[-1].folder
    others = [str(capture.folder) for capture in under_way if capture.folder != chosen]
    also = f"; under way, too: {', '.join(others)}" if others else ""
    click.echo(f"{chosen}{also}", err=True)
    return chosen


def ordered(folder: Path) -> Path:
    """The folder itself; for a collection, its capture under way. Raises UsageError if none or several are."""
    if not Collection.is_in(folder):
        return folder
    _, under_way = _captures(folder)
    under_way = [capture for capture in under_way if is_held(capture.folder)] or under_way  # the others were killed
    if not under_way:
        raise UsageError(f"no capture of the collection {str(folder)!r} is under way")
    if len(under_way) > 1:
        names = ", ".join(str(capture.folder) for capture in under_way)
        raise UsageError(f"several captures of the collection {str(folder)!r} are under way; name one of them: {names}")
    click.echo(str(under_way[0].folder), err=True)
    return under_way[0].folder


def _captures(folder: Path) -> tuple[list[CollectedCapture], list[CollectedCapture]]:
    """A collection's captures by start, and those under way; none for another folder."""
    found = sorted(Collection(folder).captures(), key=lambda one: one.time) if Collection.is_in(folder) else []
    return found, [capture for capture in found if (capture.folder / RUNNING).exists()]
