"""Which capture of a collection is meant by the collection's own folder."""

from __future__ import annotations

from pathlib import Path

import click

from sharc_crawler.collection.folder import CollectedCapture, Collection
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.beside import is_held
from sharc_crawler.storage.folders import RUNNING


def watched(folder: Path) -> Path:
    """The folder itself; of a collection the capture that was begun last, those under way before all others."""
    captures, under_way = _captures(folder)
    if not captures:
        return folder
    chosen = (under_way or captures)[-1].folder
    others = [str(one.folder) for one in under_way if one.folder != chosen]
    also = f"; under way, too: {', '.join(others)}" if others else ""
    click.echo(f"{chosen}{also}", err=True)
    return chosen


def ordered(folder: Path) -> Path:
    """The folder itself; of a collection the capture that is under way.

    Raises :class:`~sharc_crawler.errors.UsageError` where none is, or several are: an order is for one.
    """
    if not Collection.is_in(folder):
        return folder
    _, under_way = _captures(folder)
    under_way = [one for one in under_way if is_held(one.folder)] or under_way  # others were killed
    if not under_way:
        raise UsageError(f"no capture of the collection {str(folder)!r} is under way")
    if len(under_way) > 1:
        names = ", ".join(str(one.folder) for one in under_way)
        raise UsageError(f"several captures of the collection {str(folder)!r} are under way; name one of them: {names}")
    click.echo(str(under_way[0].folder), err=True)
    return under_way[0].folder


def _captures(folder: Path) -> tuple[list[CollectedCapture], list[CollectedCapture]]:
    """Those of a collection by when they began, and those under way; of another folder none."""
    found = sorted(Collection(folder).captures(), key=lambda one: one.time) if Collection.is_in(folder) else []
    return found, [one for one in found if (one.folder / RUNNING).exists()]
