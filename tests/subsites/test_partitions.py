"""Partitions by path, sitemap and links."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.plugins import names
from sharc_crawler.subsites.base import KnownPages
from sharc_crawler.subsites.links import UNLINKED, ByLinks
from sharc_crawler.subsites.make import make_division
from sharc_crawler.subsites.path import ByPath
from sharc_crawler.subsites.sitemap import UNLISTED, BySitemap
from sharc_crawler.testing.partitions import PartitionChecks


class TestByPath(PartitionChecks):
    def make(self):
        return ByPath()


class TestBySitemap(PartitionChecks):
    def make(self):
        return BySitemap()


class TestByLinks(PartitionChecks):
    def make(self):
        return ByLinks()


def test_folders_within_folders_and_hosts():
    label = ByPath().label
    assert label("https://h.example", (), ()) == ("h.example", "h.example/*")
    assert label("https://h.example/a?b=/c/d", (), ()) == ("h.example", "h.example/*")
    assert label("https://h.example/a/", (), ()) == ("h.example", "h.example/a/", "h.example/a/*")
    deep = label("https://h.example/" + "x/" * 50, (), ())
    assert len(deep) == 10, "a trap's depth is cut off"


def test_sitemaps_from_the_index_down():
    known = KnownPages(["u", "v"], [("index", "file"), ()])
    assert BySitemap().labels(known) == [("index", "file"), (UNLISTED,)]


def cliques(sizes):
    """Groups whose pages all link to each other, the first page of each to the first of the next."""
    sources, targets, start = [], [], 0
    for size in sizes:
        pages = range(start, start + size)
        sources += [one for one in pages for _ in pages]
        targets += [other for _ in pages for other in pages]
        sources.append(start)
        targets.append((start + size) % sum(sizes))
        start += size
    return np.array(sources), np.array(targets)


def test_communities_are_found_and_named_after_what_is_linked_most():
    sizes = [12, 30, 7]
    ends = cliques(sizes)
    known = KnownPages([f"http://h/{n}" for n in range(50)], [()] * 50, *ends)
    labels = ByLinks().labels(known)
    groups = [label[0] for label in labels]
    assert [len(set(part)) for part in (groups[:12], groups[12:42], groups[42:49])] == [1, 1, 1]
    assert len(set(groups[:49])) == 3
    assert groups[0] == "around h/0", "linked once more than the others"
    assert labels[49] == (UNLINKED,)
    assert ByLinks().labels(known) == labels
    assert ByLinks().label("http://h/new", (), labels[3]) == labels[3], "it lies where it was found"


def test_without_links_there_is_one_community():
    assert ByLinks().labels(KnownPages(["a", "b"], [(), ()])) == [(UNLINKED,)] * 2


def test_divisions_by_name():
    assert names("subsites") == ["links", "path", "sitemap"]
    assert make_division("links:share=0.8").share == 0.8
    for wrong in ("paths", "path:part=1", "path:share=2", "path:share=0", "path:share=x"):
        with pytest.raises(UsageError):
            make_division(wrong)
