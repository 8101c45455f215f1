"""Notions of an update; captures and their windows; from pages to seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.errors import UsageError
from sharc_crawler.plugins import load, names
from sharc_crawler.seeds.hacs.captures import Captures
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.sites import SeedHistories, homepages, websites
from sharc_crawler.seeds.hacs.updates import digest_change, fingerprint_change, link_addition, pdf_link


def with_links(*links: set[str] | None) -> Captures:
    captures = Captures.of(["k"], [np.arange(float(len(links)))])
    column = np.empty(len(links), object)
    column[:] = [None if one is None else frozenset(one) for one in links]
    return replace(captures, links=column)


def test_by_name() -> None:
    assert names("updates") == ["digest", "fingerprint", "link-addition", "pdf-link"]
    assert load("updates", "digest") is digest_change


def test_digests_that_are_unknown_tell_nothing() -> None:
    captures = Captures.of(["a", "b"], [[1, 2, 3, 4, 5], [1, 2]], [[7, 7, 0, 8, 9], [9, 9]])
    assert digest_change(captures).tolist() == [-1, 0, -1, -1, 1, -1, 0]


def test_links_ever_seen_are_not_added_again() -> None:
    captures = with_links({"a"}, {"a", "b"}, None, {"b"}, {"a"}, set(), {"c"})
    assert link_addition(captures).tolist() == [-1, 1, -1, 0, 0, 0, 1]


def test_pdf_links() -> None:
    captures = with_links({"a"}, {"a", "b.html"}, {"p.PDF?x"}, {"p.PDF?x", "c"})
    assert pdf_link(captures).tolist() == [-1, 0, 1, 0]


def test_a_notion_without_its_facts_is_an_error() -> None:
    captures = Captures.of(["a"], [[1.0]])
    for notion in (link_addition, pdf_link, fingerprint_change):
        with pytest.raises(UsageError, match="updates=digest"):
            notion(captures)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 3)), max_size=30))
def test_captures_in_any_order(rows: list[tuple[int, int, int]]) -> None:
    owners, times, digests = (np.array(column, np.int64) for column in (zip(*rows, strict=True) if rows else [[]] * 3))
    captures = Captures.gathered([*"abcd"], [*"abcd"], owners, times.astype(float), digests)
    expected = {(owner, time) for owner, time, _ in rows}
    found = [(n, t) for n in range(4) for t in captures.times[captures.offsets[n] : captures.offsets[n + 1]]]
    assert found == sorted(expected)
    for (owner, time), digest in zip(found, captures.digests, strict=True):
        assert (owner, time, digest) in rows


@given(st.lists(st.integers(0, 60), max_size=20, unique=True), st.integers(0, 60), st.integers(0, 60))
def test_windows(times: list[int], start: int, end: int) -> None:
    times.sort()
    bits = [-1 if n == 0 else n % 2 for n in range(len(times))]
    window = UpdateHistories.of(["u", "v"], [times, []], [bits, []]).window(start, end)
    kept = [n for n, time in enumerate(times) if start <= time <= end]
    assert window.times.tolist() == [times[n] for n in kept]
    assert window.changed.tolist() == [-1 if place == 0 else bits[n] for place, n in enumerate(kept)]
    assert window.counts().tolist() == [len(kept), 0]
    assert len(window.intervals(interpolated=True).lengths) == max(len(kept) - 1, 0)


def test_intervals_keep_the_whole_time() -> None:
    history = UpdateHistories.of(["u"], [[0.0, 4.0, 6.0, 10.0]], [[-1, 1, 0, 1]])
    assert history.intervals(interpolated=False).lengths.tolist() == [4.0, 2.0, 4.0]
    assert history.intervals(interpolated=True).lengths.tolist() == [2.0, 4.0, 2.0]


PAGES = ["org,a)/", "org,a)/x", "org,a)/x/y", "org,a)/x/y/z", "org,a)/~b", "org,a)/~b/c?q=1", "org,b)/"]


def test_websites_hold_the_pages_under_them() -> None:
    captures = Captures.of(PAGES, [[1.0 + n, 20.0] for n in range(7)], [[1, 1 + n % 2] for n in range(7)])
    keys = ["org,a)/", "org,a)/~b/index.html", "org,c)/"]
    found = websites(["A", "B", "C"], keys, captures, digest_change(captures), range(7))
    assert found.captures().tolist() == [10, 2, 0]
    assert [found.pages.urls[n] for n in np.flatnonzero(found.owners == 0)] == [PAGES[n] for n in (0, 1, 2, 4, 5)]
    assert found.latest(found.pages.last_seen()).tolist()[:2] == [20.0, 20.0]


def test_homepages_in_the_order_of_the_seeds() -> None:
    captures = Captures.of(PAGES, [[1.0 + n, 20.0] for n in range(7)])
    found = homepages(["B", "none", "A"], ["org,b)/", "org,none)/", "org,a)/"], captures, digest_change(captures))
    assert found.captures().tolist() == [2, 0, 2]
    assert found.pages.times.tolist() == [7.0, 20.0, 1.0, 20.0]
    assert found.urls == ["B", "none", "A"]


def test_rates_of_pages_add_up() -> None:
    pages = UpdateHistories.of(["a", "b", "c"], [[0.0], [0.0], []], [[-1], [-1], []])
    seeds = SeedHistories(["s", "t"], pages, np.array([0, 0, 1]))
    assert seeds.sum(np.array([1.0, 2.0, np.nan])).tolist() == [3.0, 0.0]
    assert np.isnan(seeds.latest(pages.last_seen())).tolist() == [False, True]
