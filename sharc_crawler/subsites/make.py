"""Subsites as users ask for them: ``path``, ``links:share=0.9``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from sharc_crawler import plugins
from sharc_crawler.errors import DataError, UsageError, unknown_name
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.plural import counted
from sharc_crawler.subsites.base import KnownPages, Labels, Partition

SHARE = 0.95  #: of a part's pages that are expected to be coherent, where the part is said to be


class Division(NamedTuple):
    """How a site is divided."""

    partition: Partition
    share: float  #: of its pages expected to be coherent: a part with less is divided further


def make_division(spec: str) -> Division:
    """The division ``NAME`` or ``NAME:share=SHARE``.

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
    """A partition whose errors name it (``name``)."""

    def __init__(self, name: str, partition: Partition) -> None:
        self._who, self._partition = f"subsites={name!r}", partition
        self.by_links = bool(partition.by_links)

    def labels(self, known: KnownPages) -> list[Labels]:
        """The partition's labels; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        found = tried(self._who, lambda: list(islice(self._partition.labels(known), len(known.urls) + 1)))
        if len(found) != len(known.urls):
            less = "less" if len(found) < len(known.urls) else "more"
            raise fault(self._who, f"gave labels for {less} than {counted(len(known.urls), 'page')}")
        return [self._checked(one) for one in found]

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:
        """The partition's labels of a page; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
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
