"""Open a capture's folder: facts from its stored state, corrected by its certificates and its report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.certificate.fixity import pages_name
from sharc_crawler.certificate.material import PageEntries, opened
from sharc_crawler.certificate.refuted import refuted_in
from sharc_crawler.certificate.unlisted import RESTATED, is_restating
from sharc_crawler.certificate.writing import path_of
from sharc_crawler.errors import MALFORMED, UsageError
from sharc_crawler.report.load import capture_facts
from sharc_crawler.report.mask_candidates import read_taught
from sharc_crawler.report.refuted import as_restated, unproven
from sharc_crawler.storage.beside import open_state

if TYPE_CHECKING:
    from sharc_crawler.certificate.examining import Restated
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.report.pages import Truth


@contextmanager
def open_facts(folder: Path, truth: Truth | None = None) -> Iterator[list[CaptureFacts]]:
    """The site captures of a folder, in the order in which they began; their pages can be read within the block.

    ``truth(url, start, end)`` gives a page's true change instants, if they are known. Raises
    :class:`~sharc_crawler.errors.UsageError` if the folder holds no capture.
    """
    with open_state(folder) as store:
        captures = as_sealed(capture_facts(store, truth, read_taught(folder)), folder)
        refuted = refuted_in(folder / "report.json")
        yield [unproven(facts) if facts.site in refuted else facts for facts in captures]


def require_some(captures: Sequence[CaptureFacts], folder: Path) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` if a folder with state holds no capture."""
    if not captures:
        raise UsageError(
            f"{str(folder)!r} holds no capture: it has WARC files alone (ArchiveMiddleware), or its crawl had hardly"
            " begun; there is nothing to report or to package"
        )


def as_sealed(captures: Sequence[CaptureFacts], folder: Path) -> list[CaptureFacts]:
    """The captures as certified: pages that a certificate restated are unknown, though the state has their verdicts."""
    return [as_restated(facts, _restated_in(path_of(facts, captures, folder))) for facts in captures]


def _restated_in(certificate: Path) -> Restated:
    try:
        if not any(map(is_restating, json.loads(certificate.read_bytes())["capture"]["notes"])):
            return {}
        pages = PageEntries(partial(opened, certificate.with_name(pages_name(certificate.name))))
        return {entry["url"]: entry for entry in pages if entry["reason"] in RESTATED}
    except (OSError, *MALFORMED):  # none, or it cannot be read
        return {}
