from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.lab.graph import EventGraph, Tree, breadth_first

PAGES = st.integers(0, 3)
EVENT = st.tuples(st.integers(0, 9), PAGES, st.lists(PAGES, max_size=3), st.lists(PAGES, max_size=3))


@given(
    st.dictionaries(PAGES, st.lists(PAGES, unique=True, max_size=3)),
    st.lists(EVENT, max_size=8).map(lambda events: sorted(events, key=lambda event: event[0])),
    st.integers(0, 9),
)
def test_links_as_of_an_instant_against_replaying_the_events(start, events, now):
    links = {page: set(out) for page, out in start.items()}
    for time, page, added, removed in events:
        if time <= now:
            links[page] = (links.get(page, set()) - set(removed)) | set(added)
    graph = EventGraph(start, events)
    for page in range(4):
        out = graph.links(page, now)
        assert set(out) == links.get(page, set())
        assert len(out) == len(set(out))


@given(st.integers(1, 60), st.integers(1, 7))
def test_every_page_of_a_tree_but_the_root_has_one_parent(size, outdegree):
    tree = Tree(size, outdegree)
    children = [child for page in range(size) for child in sorted(tree.links(page, 0.0))]
    assert children == list(range(1, size))
    assert all(len(tree.links(page, 0.0)) <= outdegree for page in range(size))


def test_links_are_in_random_order_and_always_in_the_same():
    one, other = Tree(100, 50, seed=1), Tree(100, 50, seed=2)
    assert one.links(0, 0.0) == one.links(0, 9.0) != other.links(0, 0.0)
    assert list(one.links(0, 0.0)) != sorted(one.links(0, 0.0))


def test_breadth_first_takes_what_is_alive_each_once():
    graph = EventGraph({0: [2, 1, 3], 2: [0, 4], 3: [5]})
    assert breadth_first(graph, 0, 0.0, lambda page, _: page != 3) == [0, 2, 1, 4]
