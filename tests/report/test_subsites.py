"""The folders of a site that was captured as a whole."""

from __future__ import annotations

from collections import Counter

from sharc_crawler.report.folders import MOST, OTHERS, folders
from sharc_crawler.subsites.path import ByPath


def named(*paths: str) -> Counter[str]:
    labels = [ByPath().label(f"http://h.example{path}", (), ()) for path in paths]
    found = folders(Counter(labels), "h.example")
    return Counter(found[one] for one in labels)


def test_each_folder_of_a_small_site_is_told_by_its_own_name() -> None:
    pages = ["/", "/about", *(f"/{name}/{n}" for name in ("hours", "letters", "news") for n in range(6))]
    assert named(*pages) == {
        "h.example/*": 2, "h.example/hours/": 6, "h.example/letters/": 6, "h.example/news/": 6,
    }  # fmt: skip


def test_pages_of_one_folder_are_the_site() -> None:
    assert named("/a/1", "/a/2") == {"h.example": 2}
    assert named() == {}


def test_the_largest_are_told_apart_and_of_very_many_the_small_are_together() -> None:
    few = [f"/{name}/{n}" for name in "ab" for n in range(20)] + [f"/c/{n}/x" for n in range(3)]
    assert named(*few) == {"h.example/a/": 20, "h.example/b/": 20, "h.example/c/": 3}, "few pages are not divided"
    deep = [f"/a/{name}/{n}" for name in "xy" for n in range(20)] + ["/b/1"]
    assert named(*deep) == {"h.example/a/x/": 20, "h.example/a/y/": 20, "h.example/b/": 1}
    many = [f"/{name}/{n}" for name in range(50) for n in range(name + 1)]
    found = named(*many)
    assert len(found) == MOST
    assert found[OTHERS] == sum(range(1, 32))
    assert found["h.example/49/"] == 50
