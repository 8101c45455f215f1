"""The facts of a capture folder that lies there: of its stored state, and by what its report says of that."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sharc_crawler.certificate.restating import as_sealed
from sharc_crawler.report.load import capture_facts
from sharc_crawler.report.taught import read_taught
from sharc_crawler.report.unproven import as_reported
from sharc_crawler.storage.beside import open_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.report.pages import Truth


@contextmanager
def open_facts(folder: Path, truth: Truth | None = None) -> Iterator[list[CaptureFacts]]:
    """The site captures of a folder, in the order they were begun; their pages can be read until it is closed.

    ``truth(url, start, end)`` gives a page's true change instants, where somebody knows them. Raises
    :class:`~sharc_crawler.errors.UsageError` where the folder holds no capture.
    """
    with open_state(folder) as store:
        captures = as_sealed(capture_facts(store, truth, read_taught(folder)), folder)
        yield as_reported(captures, folder / "report.json")
