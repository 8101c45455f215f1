from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.seeds.temporal.analysis import By, group_of, seed_of
from sharc_crawler.seeds.temporal.classify import Confusion, Threshold, best_threshold, confusion, read_labels
from sharc_crawler.seeds.temporal.curve import Curves
from sharc_crawler.seeds.temporal.rank import Ranked, Worth, rank, within_budget, worth

pages = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 500), st.booleans(), st.booleans()), max_size=40)


@given(pages, st.integers(1, 4))
def test_rank_is_the_definition(rows, least):
    groups = [row[0] for row in rows]
    views = np.array([row[1] for row in rows], int)
    known = np.array([row[2] for row in rows], bool)
    temporal = np.array([row[3] for row in rows], bool) & known
    members = defaultdict(list)
    for i, group in enumerate(groups):
        members[group].append(i)
    expected = {
        group: 0.6 * temporal[at].mean() + 0.4 * views[at][temporal[at]].sum() / views[at].sum()
        for group, at in members.items()
        if len(at) >= least
    }
    ranked = rank(groups, views, temporal, known, least)
    assert {r.group: pytest.approx(r.score) for r in ranked} == expected
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    assert sum(r.unknown for r in ranked) == sum((~known[members[r.group]]).sum() for r in ranked)
    chosen = ranked[:2]
    value = worth(chosen, groups, temporal)
    assert value.pages == sum(r.pages for r in chosen)
    assert value.temporal == sum(r.temporal for r in chosen)


def group(name: str, size: int, temporal: int, views: int = 100) -> Ranked:
    return Ranked(name, size, temporal, 0, views, 0)


def test_budget_takes_the_head_that_fits():
    ranked = [group("a", 60, 60), group("b", 120, 60), group("c", 6, 1)]
    assert [r.group for r in within_budget(ranked, pages_a_day=3, days=60)] == ["a", "b"]
    assert within_budget(ranked, pages_a_day=0.5, days=60) == []
    assert len(within_budget(ranked, pages_a_day=99, days=60)) == 3


def test_worth_of_nothing():
    assert (Worth(0, 0, 0).precision, Worth(0, 0, 0).recall, Worth(0, 0, 0).f) == (0, 0, 0)
    published = Worth(temporal=70_110, pages=91_996, all_temporal=135_939)
    assert (round(published.precision, 3), round(published.recall, 3)) == (0.762, 0.516)


def test_groups():
    page = "https://a.org/b/a.asp?q=x&p=12"
    assert group_of(page, "a.org", By.TEMPLATE) == "https://a.org/b/a.asp?p=*&q=*"
    assert group_of(page, "a.org", By.FOLDER) == "https://a.org/b/"
    assert (
        group_of("https://a.org", "a.org", By.FOLDER) == group_of("https://a.org/x", "", By.FOLDER) == "https://a.org/"
    )
    assert group_of("https://a.org/2024/x/y", "a.org", By.FOLDER) == "https://a.org/"
    assert seed_of("https://a.org/news/*/*") == "https://a.org/news/"
    assert seed_of("https://a.org/") == "https://a.org/"


def gathering(*shares: float) -> Curves:
    """Curves of Φ(3) = shares: μ = ln 3 − σ z."""
    from scipy.special import ndtri

    zero = np.zeros(len(shares))
    return Curves(zero, zero, np.log(3) - ndtri(shares), zero + 1, zero, zero, zero + 1, zero == 0)


def test_threshold():
    assert Threshold().temporal(gathering(0.71, 0.69)).tolist() == [True, False]
    for bad in ({"days": 0}, {"days": float("nan")}, {"share": 0}, {"share": 1.0}):
        with pytest.raises(UsageError, match=next(iter(bad))):
            Threshold(**bad)


@pytest.mark.slow
def test_best_threshold_separates_and_prefers_the_papers():
    labels = np.array([True, True, False, False])
    best, found = best_threshold(labels, gathering(0.9, 0.8, 0.6, 0.1))
    assert best == Threshold(3, 0.7)
    assert found == Confusion(hit=4, miss=0, false_alarm=0, unknown=0)
    moved, found = best_threshold(labels, gathering(0.5, 0.45, 0.4, 0.1))
    assert moved.temporal(gathering(0.5, 0.45, 0.4, 0.1)).tolist() == labels.tolist()
    assert found.hit == 4


@pytest.mark.slow
def test_unknown_pages_are_neither_hit_nor_miss():
    flags = np.array([True, False])
    assert confusion(flags, ~flags & False, flags & False) == Confusion(0, 0, 0, 2)


def test_labels(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("page,label\nb,temporal\nelsewhere,temporal\na,untemporal\n")
    at, labels = read_labels(file, ["a", "b"])
    assert dict(zip(at.tolist(), labels.tolist(), strict=True)) == {1: True, 0: False}
    for text, said in (
        ("page,label\na,maybe\n", "label='maybe'"),
        ("page,kind\na,temporal\n", "needed are page and label"),
        ("page,label\nx,temporal\n", "it labels no page of the log"),
        ("", "needed are page and label"),
        (f"page,label\n{'a' * 200_000},temporal\n", "it labels no page of the log"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=said):
            read_labels(file, ["a", "b"])
    with pytest.raises(DataError, match="cannot be read"):
        read_labels(tmp_path / "absent.csv", ["a"])
