"""A path that two pages named is a true page's, whatever the query."""

from __future__ import annotations

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.traps import named_paths
from sharc_crawler.frontier.traps.named_paths import NamedPaths
from tests.frontier.traps.tables import ROOT, add, table


def test_a_path_that_two_pages_named_is_new_until_it_is_visited():
    first, second, third = "story/7?ref=wmdk&token=x7Gk2p", "story/7?ref=qjxe&token=kqzv", "story/7?r=3"
    pages = table("a", "b")
    paths = NamedPaths(pages)
    assert not paths.new(ROOT + first), "nobody named it"
    paths.named(ROOT + first, 1)
    paths.named(ROOT + second, 1)
    assert not paths.new(ROOT + third), "one page did"
    paths.named(ROOT + second, 2)
    assert paths.new(ROOT + third)
    paths.visited(add(pages, second, 2))
    assert not paths.new(ROOT + third)
    paths.named(ROOT + first, 0)
    assert not paths.new(ROOT + third), "it stays visited"


def test_what_is_made_up_wholly_was_named_once():
    paths = NamedPaths(table())
    for parent, name in enumerate(("kqzv", "wmdk", "qjxe")):
        paths.named(f"{ROOT}go/{name}?s={name}", parent)
    assert not any(paths.new(f"{ROOT}{one}") for one in ("go/kqzv?s=bnwt", "go/bnwt?s=kqzv"))


def test_without_a_query_the_address_itself_tells():
    paths = NamedPaths(table())
    for parent in (1, 2):
        paths.named(f"{ROOT}a", parent)
    assert [paths.new(f"{ROOT}{one}") for one in ("a", "a?b")] == [False, True]


def test_pages_that_are_known_count():
    pages = table("a", "b")
    for parent, name in enumerate(("kqzv", "wmdk")):
        add(pages, f"story/1?s={name}", parent)
        add(pages, f"story/2?s={name}", parent)
    pages.states[3] = State.VISITED
    paths = NamedPaths(pages)
    assert [paths.new(f"{ROOT}story/{number}?s=bnwt") for number in (1, 2)] == [False, True]


def test_so_many_are_known(monkeypatch):
    monkeypatch.setattr(named_paths, "MOST", 1)
    paths = NamedPaths(table())
    for parent in (1, 2):
        paths.named(f"{ROOT}a?b", parent)
        paths.named(f"{ROOT}c?d", parent)
    assert [paths.new(f"{ROOT}{one}") for one in ("a?e", "c?e")] == [False, False]


def test_so_is_one_under_any_one_folder_unless_two_pages_named_that_folder():
    paths = NamedPaths(table("a", "b"))
    paths.named(f"{ROOT}kqzv/story", 1)
    assert not paths.new(f"{ROOT}wmdk/story")
    paths.named(f"{ROOT}wmdk/story", 2)
    assert [paths.new(f"{ROOT}{one}") for one in ("kqzv/story", "wmdk/story", "wmdk/other")] == [True, True, False]
    paths.named(f"{ROOT}kqzv/other", 2)
    assert [paths.new(f"{ROOT}{one}") for one in ("kqzv/story", "wmdk/story")] == [False, True], "it is a folder"
    pages = table("qjxe/story")
    paths = NamedPaths(pages)
    paths.named(f"{ROOT}kqzv/story", 2)
    assert paths.new(f"{ROOT}kqzv/story")
    paths.visited(1)
    assert not paths.new(f"{ROOT}kqzv/story")
