"""The port of frontier state: rows are written, in one transaction per step, and read back. For types alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from sharc_crawler.frontier.rows import (
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
    """What a frontier itself needs of a store: its steps are written, its links read."""

    def commit(self, batch: Batch) -> None:
        """All of the batch or nothing; on disk when it returns."""

    def links(self) -> Iterator[LinksRow]:
        """What documents linked to, in the order of the downloads; by far the most: for sites divided by them."""


class FrontierStore(StepStore, Protocol):
    """Keeps frontier state; every implementation passes :class:`sharc_crawler.testing.stores.FrontierStoreContract`.

    What cannot be read or written for now raises :class:`~sharc_crawler.errors.StoreUnavailable`, where only room is
    missing :class:`~sharc_crawler.errors.StoreFull`; all that was committed stays as it is. Once another process has
    taken the state over, each method that writes raises :class:`~sharc_crawler.errors.Superseded`. State that is
    damaged raises :class:`~sharc_crawler.errors.DataError`.
    """

    def replace(self, state: Batch) -> None:
        """Keep ``state`` instead of all that was committed but links, or change nothing; on disk when it returns."""

    def load(self) -> Batch:
        """All that was committed but links, pages in the order of discovery, visits in the order they ended."""

    def captures(self) -> dict[int, CaptureRow]:
        """The rows of the site captures, without loading the rest."""

    def hosts(self) -> dict[str, HostRow]:
        """The rows of the hosts, without loading the rest."""

    def subsites(self) -> dict[tuple[int, int], SubsiteRow]:
        """The parts of sites alone, by capture and number."""

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """The URLs of a capture in the order of discovery, one after the other: there may be a million."""

    def outside(self) -> Iterator[OutsideRow]:
        """What captures were shown and do not take, in the order it was committed."""

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """The visits numbered above ``after``, with what logs tell of their pages."""

    def close(self) -> None:
        """Nothing is written after this; another process may take the state over."""


class StoreKind(Protocol):
    """A plug-in of ``sharc_crawler.stores``: opens the state that is kept in, or for, a capture's folder."""

    def __call__(self, folder: Path, *, reading: bool = False) -> FrontierStore:
        """The state, made where there is none, and held until it is closed; ``reading``: as it is, beside its owner.

        Raises :class:`~sharc_crawler.errors.Superseded` where another process holds it, and
        :class:`~sharc_crawler.errors.DataError` for what is no such state.
        """

    def holds(self, folder: Path) -> bool:
        """Is there state of this kind?"""

    def set_aside(self, folder: Path) -> None:
        """Keep what there is under another name, damaged or not: state is to be made anew."""
