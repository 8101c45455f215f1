"""Make a division from its name and options, as users write them: ``path``, ``links:share=0.9``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from sharc_crawler import plugins
from sharc_crawler.errors import DataError, UsageError, unknown_name
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.plural import counted
from sharc_crawler.subsites.base import KnownPages, Labels, Partition

SHARE = 0.95  #: default of ``share``


class Division(NamedTuple):
    """A way to divide a site."""

    partition: Partition
    share: float  #: parts with a smaller share of pages expected to be coherent are divided further


def make_division(spec: str) -> Division:
    """Make the division ``NAME`` or ``NAME:share=SHARE``.

    Raises :class:`~sharc_crawler.errors.UsageError` for an unknown name, option or value.

    >>> make_division("path:share=0.9").share
    0.9
    """
    name, *options = spec.split(":")
    partition = guarded(name, plugins.load("subsites", name))
    share = SHARE
    for option in options:
        key, _, value = option.partition("=")
        if key != "share":
            raise unknown_name(f"option of subsites={name}", key, ("share",))
        share = _share(spec, value)
    return Division(partition, share)


def _share(spec: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"subsites={spec!r}: share={text!r} must be a share above 0, up to 1, such as {SHARE}")
    return share


class GuardedPartition:
    """A plug-in's partition; errors name it."""

    def __init__(self, name: str, partition: Partition) -> None:
        self._who, self._partition = f"subsites={name!r}", partition
        self.by_links = bool(partition.by_links)

    def labels(self, known: KnownPages) -> list[Labels]:
        """Return the partition's labels; raise :class:`~sharc_crawler.errors.DataError` if it fails."""
        found = tried(self._who, lambda: list(islice(self._partition.labels(known), len(known.urls) + 1)))
        if len(found) != len(known.urls):
            less = "less" if len(found) < len(known.urls) else "more"
            raise fault(self._who, f"gave labels for {less} than {counted(len(known.urls), 'page')}")
        return [self._checked(labels) for labels in found]

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:
        """Return the partition's labels of a page; raise :class:`~sharc_crawler.errors.DataError` if it fails."""
        return self._checked(tried(self._who, lambda: self._partition.label(url, sitemaps, found_on)))

    def _checked(self, labels: Any) -> Labels:
        printable = (isinstance(name, str) and name.isprintable() for name in labels) if labels else ()
        if not (isinstance(labels, tuple) and labels and all(printable)):
            needed = "the names of a page's parts are needed, a tuple of printable texts"
            raise fault(self._who, f"gave {labels!a:.100}: {needed}")
        return labels


def guarded(name: str, made: Callable[[], Partition]) -> Partition:
    """Make a partition, and guard it if it is a plug-in's."""
    if made.__module__.startswith("sharc_crawler."):
        return made()
    try:
        return GuardedPartition(name, made())
    except Exception as error:
        raise DataError(f"subsites={name!r} does not make a partition: {type(error).__name__}: {error}") from error
