"""Conformance of a :class:`~sharc_crawler.subsites.base.Partition`.

Subclass in a test module, say how it is made, and pytest collects the checks::

    class TestMyPartition(PartitionChecks):
        def make(self):
            return MyPartition()
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sharc_crawler.subsites.base import KnownPages, Partition
from sharc_crawler.subsites.dividing import divide

URLS = [f"http://h.example/{folder}{n}?q=1" for folder in ("", "a/", "a/b/", "ö/") for n in range(12)]


def known() -> KnownPages:
    """A site of four folders, some of its pages listed; pages link to the next one in their folder."""
    sitemaps = [("http://h.example/index.xml", f"http://h.example/{n % 2}.xml") if n % 3 else () for n in range(48)]
    first = np.array([n for n in range(48) if n % 12 != 11], np.int64)
    return KnownPages(URLS, sitemaps, first, first + 1)


class PartitionChecks(ABC):
    """What every partition does."""

    @abstractmethod
    def make(self) -> Partition:
        """The partition."""

    def test_each_page_has_labels_and_always_the_same(self) -> None:
        """One tuple of texts per page, from the coarsest part to the finest."""
        labels = self.make().labels(known())
        assert len(labels) == len(URLS)
        assert all(label and all(isinstance(name, str) and name for name in label) for label in labels)
        assert self.make().labels(known()) == labels

    def test_a_page_found_later_has_labels_too(self) -> None:
        """By its URL, by the sitemap that names it, or by the page that it was found on."""
        partition = self.make()
        labels = partition.labels(known())
        late = partition.label("http://h.example/a/late", (), labels[14])
        assert late
        assert partition.label("http://h.example/a/late", (), labels[14]) == late
        assert partition.label("http://other.example/", (), ()), "nothing is known of where it was found"

    def test_a_site_can_be_divided_by_it(self) -> None:
        """Every page in one part; names are not given twice; nothing known is no part."""
        partition = self.make()
        parts = divide(partition.labels(known()), "site", 5, lambda places: len(places) <= 12)
        assert sorted(place for part in parts for place in part.places.tolist()) == list(range(len(URLS)))
        assert len({part.name for part in parts}) == len(parts)
        assert partition.labels(KnownPages([], [])) == []
