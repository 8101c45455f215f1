"""A partition of somebody else: what it raises or answers badly is said to be its own fault."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import DataError
from sharc_crawler.faults import fault, tried
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.subsites.base import KnownPages, Labels, Partition


class GuardedPartition:
    """A partition whose errors name it (``name``)."""

    def __init__(self, name: str, partition: Partition) -> None:
        self._who, self._partition = f"subsites={name!r}", partition
        self.by_links = bool(partition.by_links)

    def labels(self, known: KnownPages) -> list[Labels]:
        """Its own; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        found = tried(self._who, lambda: list(islice(self._partition.labels(known), len(known.urls) + 1)))
        if len(found) != len(known.urls):
            less = "less" if len(found) < len(known.urls) else "more"
            raise fault(self._who, f"gave labels for {less} than {counted(len(known.urls), 'page')}")
        return [self._checked(one) for one in found]

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:
        """Its own; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        return self._checked(tried(self._who, lambda: self._partition.label(url, sitemaps, found_on)))

    def _checked(self, labels: Any) -> Labels:
        if not (
            isinstance(labels, tuple) and labels and all(isinstance(one, str) and one.isprintable() for one in labels)
        ):
            needed = "the names of a page's parts are needed, a tuple of printable texts"
            raise fault(self._who, f"gave {labels!a:.100}: {needed}")
        return labels


def guarded(name: str, made: Callable[[], Partition]) -> Partition:
    """What a class makes; ours need no guard."""
    if made.__module__.startswith("sharc_crawler."):
        return made()
    try:
        return GuardedPartition(name, made())
    except Exception as error:
        raise DataError(f"subsites={name!r} does not make a partition: {type(error).__name__}: {error}") from error
