"""Conformance tests of a :class:`~sharc_crawler.subsites.base.Partition`.

Subclass :class:`PartitionChecks` in a test module, and make yours in ``make``; pytest collects the tests::

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
    """A site of four folders; sitemaps list some pages, and each page links to the next one in its folder."""
    sitemaps = [("http://h.example/index.xml", f"http://h.example/{n % 2}.xml") if n % 3 else () for n in range(48)]
    first = np.array([n for n in range(48) if n % 12 != 11], np.int64)
    return KnownPages(URLS, sitemaps, first, first + 1)


class PartitionChecks(ABC):
    """The tests that every partition must pass."""

    @abstractmethod
    def make(self) -> Partition:
        """Make the partition."""

    def test_each_page_has_labels_and_always_the_same(self) -> None:
        """A page's labels are a tuple of strings, from the coarsest part to the finest."""
        labels = self.make().labels(known())
        assert len(labels) == len(URLS)
        assert all(label and all(isinstance(name, str) and name for name in label) for label in labels)
        assert self.make().labels(known()) == labels

    def test_a_page_found_later_has_labels_too(self) -> None:
        """They follow from its URL, the sitemap that lists it, or the page on which it was found."""
        partition = self.make()
        labels = partition.labels(known())
        late = partition.label("http://h.example/a/late", (), labels[14])
        assert late
        assert partition.label("http://h.example/a/late", (), labels[14]) == late
        assert partition.label("http://other.example/", (), ()), "nothing is known of where it was found"

    def test_a_site_can_be_divided_by_it(self) -> None:
        """Every page is in one part; names are unique; a site without pages has no parts."""
        partition = self.make()
        parts = divide(partition.labels(known()), "site", 5, lambda places: len(places) <= 12)
        assert sorted(place for part in parts for place in part.places.tolist()) == list(range(len(URLS)))
        assert len({part.name for part in parts}) == len(parts)
        assert partition.labels(KnownPages([], [])) == []
