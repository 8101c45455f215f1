"""Write the report of a capture's folder, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.report.document import document
from sharc_crawler.report.entries import page_entries
from sharc_crawler.report.html import NAME, render
from sharc_crawler.report.load import read_selection

DATA, PAGES = "report.json", "report-pages.jsonl"


class ReportPaths(NamedTuple):
    """The paths of a report's files."""

    json: Path
    html: Path


class Lines:
    """The lines of a text file, read anew on each iteration."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8", newline="\n") as file:
            yield from file


def write(captures: Sequence[CaptureFacts], folder: Path) -> ReportPaths:
    """Write ``report.json``, its pages and ``report.html`` into a capture's folder, replacing former ones.

    Files are replaced once their new content is on disk, so a reader never sees half of one. Raises
    :class:`~sharc_crawler.errors.UsageError` if the folder cannot be written to.
    """
    paths = ReportPaths(folder / DATA, folder / NAME)
    with saying_where(folder), Drafts() as drafts:
        with drafts.open(folder / PAGES) as out:
            for facts in captures:
                out.writelines(line.encode() for line in page_lines(facts))
        report = document(captures, read_selection(folder))
        pages = render(report, Lines(drafts.of(folder / PAGES)))
        put(drafts, {paths.json: [to_json(report)], **{folder / name: text for name, text in pages.items()}})
    return paths


def put(drafts: Drafts, files: Mapping[Path, Iterable[str]]) -> None:
    """Write files of a report, each in pieces."""
    for path, pieces in files.items():
        with drafts.open(path) as out:
            out.writelines(piece.encode("utf-8", "replace") for piece in pieces)


def page_lines(facts: CaptureFacts) -> Iterator[str]:
    """The lines of ``report-pages.jsonl``, each with its end."""
    return (f"{json.dumps(entry, allow_nan=False)}\n" for entry in page_entries(facts))


@contextmanager
def saying_where(folder: Path) -> Iterator[None]:
    """Turn errors of writing into a UsageError that names the folder and says what to do."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {str(folder)!r}: {error.strerror or error};"
            " free space or choose a folder that can be written to"
        ) from error


def to_json(report: Mapping[str, object]) -> str:
    """A report as the text of ``report.json``."""
    return json.dumps(report, indent=1, allow_nan=False) + "\n"
