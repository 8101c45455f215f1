"""The report of a capture folder on disk: whole or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.archive.files import replace_file
from sharc_crawler.errors import UsageError
from sharc_crawler.report.document import document
from sharc_crawler.report.html import NAME, render
from sharc_crawler.report.selection import read_selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts


class ReportPaths(NamedTuple):
    """Where a report lies."""

    json: Path
    html: Path


def write(captures: Sequence[CaptureFacts], folder: Path) -> ReportPaths:
    """Write ``report.json`` and ``report.html`` into a capture folder, replacing what was there.

    A file is replaced when its new content is safe on disk, so a reader never sees half of one. Raises
    :class:`~sharc_crawler.errors.UsageError` where the folder cannot be written to.
    """
    report = document(captures, read_selection(folder))
    paths = ReportPaths(folder / "report.json", folder / NAME)
    put({paths.json: to_json(report), **{folder / name: text for name, text in render(report).items()}})
    return paths


def put(files: Mapping[Path, str]) -> None:
    """Write the files of a report, each whole or not at all."""
    for path, text in files.items():
        try:
            replace_file(path, text)
        except OSError as error:
            raise UsageError(
                f"the report cannot be written to {str(path.parent)!r}: {error.strerror or error};"
                " free space or choose a folder that can be written to"
            ) from error


def to_json(report: Mapping[str, object]) -> str:
    """A report as the text of ``report.json``."""
    return json.dumps(report, indent=1, allow_nan=False) + "\n"
