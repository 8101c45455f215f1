"""The port of frontier state: rows are written in one transaction per step, and read back. Types only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from sharc_crawler.state.rows import (
    Batch,
    CaptureRow,
    ExchangeRow,
    HostRow,
    LinksRow,
    OutsideRow,
    SubsiteRow,
    UrlRow,
)


class StepStore(Protocol):
    """What a frontier needs of a store: write steps, read links."""

    def commit(self, batch: Batch) -> None:
        """Write all of the batch or nothing; it is on disk on return."""

    def links(self) -> Iterator[LinksRow]:
        """Yield what documents linked to, in the order of downloads: far more rows than all others."""


class FrontierStore(StepStore, Protocol):
    """Keeps frontier state; every implementation passes :class:`sharc_crawler.testing.stores.FrontierStoreContract`.

    Methods raise :class:`~sharc_crawler.errors.StoreUnavailable` if state cannot be read or written for now, and
    :class:`~sharc_crawler.errors.StoreFull` if the disk is full; what was committed stays. Once another process has
    taken the state over, writing raises :class:`~sharc_crawler.errors.Superseded`. Damaged state raises
    :class:`~sharc_crawler.errors.DataError`.
    """

    def replace(self, state: Batch) -> None:
        """Replace all that was committed, except links, by ``state``, or change nothing; it is on disk on return."""

    def load(self) -> Batch:
        """Return all that was committed, except links: pages in order of discovery, visits in the order they ended."""

    def captures(self) -> dict[int, CaptureRow]:
        """Return the site captures' rows only."""

    def hosts(self) -> dict[str, HostRow]:
        """Return the hosts' rows only."""

    def subsites(self) -> dict[tuple[int, int], SubsiteRow]:
        """Return the parts of sites only, by capture and number."""

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """Yield a capture's URLs in the order of discovery: there may be a million."""

    def outside(self) -> Iterator[OutsideRow]:
        """Yield the URLs left out, in the order of commits."""

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """Yield the visits numbered above ``after``, with what logs tell of their pages."""

    def close(self) -> None:
        """Close the store; another process may then take the state over."""


class StoreKind(Protocol):
    """A plug-in of ``sharc_crawler.stores``: opens the state kept in, or for, a capture's folder."""

    def __call__(self, folder: Path, *, reading: bool = False) -> FrontierStore:
        """Open the state, creating it if missing, and own it until closed; ``reading``: read only, beside its owner.

        Raises :class:`~sharc_crawler.errors.Superseded` if another process owns it, and
        :class:`~sharc_crawler.errors.DataError` if it is not such state.
        """

    def holds(self, folder: Path) -> bool:
        """Is there state of this kind?"""

    def set_aside(self, folder: Path) -> None:
        """Rename the existing state, damaged or not, so that new state can be made."""
