"""Which part of a site comes next, which pages join it, what a restart knows of it."""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.modes import subsites
from sharc_crawler.frontier.modes.subsites import Subsites
from sharc_crawler.model import Kind, Outcome, Phase, Result, Slot, Visit
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import SubsiteRow
from sharc_crawler.subsites.base import Branch
from sharc_crawler.subsites.dividing import Part
from sharc_crawler.subsites.outlook import Expectation
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, Subsites)
ENDED = SubsiteRow(0, 0, "one", 0.9, 5.0, 6.0, 7.0, (Branch(("one",)),))
OPEN = SubsiteRow(0, 1, "two", 0.8, 8.0, None, None, (Branch(("two",)),))
BY_LINKS = {"_division": SimpleNamespace(partition=SimpleNamespace(by_links=True), share=0.9)}
BY_PATH = {"_division": SimpleNamespace(partition=SimpleNamespace(by_links=False), share=0.9)}


def begun(division: str, links=list) -> Subsites:
    return Subsites(None, SimpleNamespace(spec=SimpleNamespace(subsites=division)), links, None)


def test_at_first_there_is_no_part():
    mode = begun("path")
    assert (mode.parts, mode.pooled, mode.open) == (0, 0, False)
    assert (mode.parted, mode.takes_hubs, mode.compares) == (True, False, True)
    assert mode.size(500) == 0, "nobody has said how many pages will join a part"


def test_a_part_is_open_until_it_has_ended_and_pages_wait_for_one():
    mode = bare(rows=[ENDED], pool=[4, 5, 6])
    assert (mode.parts, mode.pooled, mode.open) == (1, 3, False)
    mode.recall_parts((ENDED, OPEN))
    assert (mode.parts, mode.open) == (2, True)


def test_links_are_kept_once_each_where_parts_go_by_them():
    by_links, by_path = begun("links"), begun("path")
    for mode in (by_links, by_path):
        mode.linked(1, [2, 3, 2])
        mode.linked(3, [1])
    assert [list(by_links._sources), list(by_links._targets)] == [[1, 1, 3], [2, 3, 1]]
    assert not by_path._sources


def test_links_of_former_captures_are_asked_for_once_and_those_between_known_pages_count():
    urls, asked = {"a": 1, "b": 2}, []

    def links():
        asked.append(1)
        return [("a", "b"), ("a", "gone"), ("gone", "b"), ("b", "a")]

    for division, times in (("links", 1), ("path", 0)):
        asked.clear()
        mode = begun(division, links)
        mode._capture.seen = SimpleNamespace(find=lambda some: [urls.get(url, UNSEEN) for url in some])
        mode._remember()
        mode._remember()
        assert len(asked) == times
        assert list(zip(mode._sources, mode._targets, strict=True)) == [(1, 2), (2, 1)] * times


def test_pages_of_the_part_are_visited_in_an_order_and_what_they_embed_is_none_of_them():
    outcome = Outcome(Result.FAILED, 5.0, 6.0)
    capture = SimpleNamespace(life=SimpleNamespace(reference=None))
    noted = Noted()
    mode = bare(_visited=[], _hints=None, _capture=capture, _tests=SimpleNamespace(visited=noted.one("tests")))
    for page, kind in ((4, Kind.PAGE), (5, Kind.RESOURCE), (3, Kind.PAGE)):
        mode.visited(Task(page), kind, outcome)
    assert mode._visited == [4, 3]
    assert noted.calls == [("tests", 4, outcome), ("tests", 3, outcome)]


# -- from part to part -------------------------------------------------------------------------------------------------


def test_the_best_part_of_all_that_waits_is_begun_and_the_others_go_on_waiting(monkeypatch):
    noted, branches = Noted(), (Branch(("x",)),)
    best = Part("x", branches, np.array([0, 3]))
    monkeypatch.setattr(subsites, "Outlook", lambda candidates, step: (candidates, step))
    monkeypatch.setattr(subsites, "_best", noted.one("best", (best, 0.7)))
    mode = bare(
        rows=[ENDED],
        pool=[7, 2],
        _remembered=True,
        _untested=5,
        _full=True,
        _visited=[9],
        _candidates=lambda pages: f"of {pages}",
        _parts=lambda waiting, outlook: (waiting, outlook),
        _name=lambda part: f"{part.name}!",
        _ledger=SimpleNamespace(changed_subsite=noted.one("row"), assigned=noted.one("assigned")),
        **BY_PATH,
    )
    assert mode.first_pages([5, 1], 3.0, 60.0) == [1, 7]
    outlook = ("of [1, 2, 5, 7]", 3.0)
    row = SubsiteRow(0, 1, "x!", 0.7, 60.0, None, None, branches)
    assert noted.calls == [
        ("best", ([1, 2, 5, 7], outlook), outlook, 0.9),
        ("row", row),
        ("assigned", [1, 7], 1),
    ]
    assert mode.rows == [ENDED, row]
    assert mode.pool == [2, 5]
    assert (mode._pages, mode._visited, mode._untested, mode._full) == ([1, 7], [], 0, False)


def test_after_a_restart_the_open_part_goes_on():
    mode = bare(rows=[ENDED, OPEN], _remembered=True)
    assert mode.first_pages([5, 1], 3.0, 60.0) == [5, 1]
    assert mode.rows == [ENDED, OPEN]


def test_a_site_that_stays_coherent_as_a_whole_is_not_divided_at_first(monkeypatch):
    noted = Noted()

    def divided(labels, name, fewest, whole):
        noted.calls.append((labels, name, fewest, whole(np.arange(2)), whole(np.arange(3))))
        return "its parts"

    monkeypatch.setattr(subsites, "divide", divided)
    for rows, largest in product(([], [ENDED]), (2, 3)):
        mode = bare(
            rows=rows,
            _label_all=lambda waiting: f"labels of {waiting}",
            _capture=SimpleNamespace(spec=SimpleNamespace(site="h"), counts=SimpleNamespace(pages=1_000)),
            **BY_PATH,
        )
        outlook = SimpleNamespace(
            expect=lambda places, most=largest: SimpleNamespace(
                reaches=lambda share: share == 0.9 and len(places) <= most
            )
        )
        found = mode._parts([4, 5, 6], outlook)
        if not rows and largest == 3:
            ((name, branches, places),) = found
            assert (name, branches, places.tolist()) == ("h", (Branch(()),), [0, 1, 2])
            assert not noted.calls
        else:
            assert found == "its parts"
            assert noted.take() == [("labels of [4, 5, 6]", "h", 20, True, largest == 3)]


def test_a_part_is_over_and_others_come_where_pages_wait():
    for rows, pool, waiting, strategy in product(
        ([OPEN], [ENDED], [ENDED, OPEN]),
        ([], [4]),
        ([], [5]),
        (None, SimpleNamespace(setting=SimpleNamespace(step=3.0))),
    ):
        noted = Noted()
        mode = bare(
            rows=list(rows),
            pool=pool,
            apex=9,
            _capture=SimpleNamespace(
                reference=50.0,
                front=SimpleNamespace(waiting=waiting),
                strategy=strategy,
                next_part=noted.one("next"),
                life=SimpleNamespace(forget_reference=noted.one("forget")),
            ),
            _ledger=SimpleNamespace(changed_subsite=noted.one("row"), changed_capture=noted.one("changed")),
        )
        last = not pool and not waiting
        assert mode.part_over(60.0) is last
        closed = OPEN._replace(reference=50.0, ended=60.0)
        calls = [("row", closed)] if rows[-1] is OPEN else []
        assert mode.rows[-1] == (closed if rows[-1] is OPEN else ENDED)
        calls += [("forget",)] * (len(rows) > 1) if last else [("next",), ("changed",)]
        assert noted.calls == calls
        assert mode.apex == (9 if last else None)
        assert mode.step == (3.0 if strategy and not last else None)


# -- pages found meanwhile ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [Phase.OPENING, Phase.VISIT, Phase.REVISIT])
@pytest.mark.parametrize("stays", YES_OR_NO)
@pytest.mark.parametrize("within", [{4, 6}, set()])
def test_found_pages_join_the_open_part_before_its_t_as_long_as_it_stays_coherent(phase, stays, within):
    noted = Noted()
    mode = bare(
        rows=[ENDED, OPEN],
        pool=[1],
        _pages=[2],
        _capture=SimpleNamespace(phase=phase),
        _lies_within=within.__contains__,
        _stays_coherent=noted.one("asked", stays),
        _ledger=SimpleNamespace(assigned=noted.one("assigned")),
    )
    early = phase is not Phase.REVISIT
    own = [4, 6] if within and early and stays else []
    assert mode.joining([4, 5, 6]) == own
    assert mode._pages == [2, *own]
    assert mode.pool == [1, *(page for page in (4, 5, 6) if page not in own)]
    assert noted.calls == [("asked", [4, 6])] * bool(within and early) + [("assigned", own, 1)]


@pytest.mark.parametrize("by_links", YES_OR_NO)
@pytest.mark.parametrize(
    ("full", "rows", "label", "within"),
    [
        (False, [OPEN], ("two", "x"), True),
        (False, [OPEN], ("one", "x"), False),
        (True, [OPEN], ("two", "x"), False),
        (False, [ENDED], ("one", "x"), False),
    ],
)
def test_a_page_lies_within_the_open_part_by_its_labels(by_links, full, rows, label, within):
    asked = []
    partition = SimpleNamespace(by_links=by_links, label=lambda *given: asked.append(given) or label)
    mode = bare(
        _full=full,
        rows=rows,
        _labels={3: ("found on",)},
        _division=SimpleNamespace(partition=partition),
        _ledger=SimpleNamespace(pages=SimpleNamespace(parents={4: 3, 5: NO_PARENT})),
        _url=lambda page: f"url {page}",
        _sitemaps_of=lambda page: ("map",),
    )
    assert mode._lies_within(4) is within
    mode._lies_within(5)
    there = not full and rows == [OPEN]
    assert asked == [("url 4", ("map",), ("found on",)), ("url 5", ("map",), ())] * there
    assert (4 in mode._labels) is (by_links and there)


@pytest.mark.parametrize("reaches", YES_OR_NO)
def test_a_part_that_grew_is_looked_at_with_its_visits_in_their_order_and_may_be_full(monkeypatch, reaches):
    asked = []

    class Outlook:
        def __init__(self, candidates, step):
            asked.append((candidates, step))

        def expect(self, waiting, visited):
            asked.append((waiting.tolist(), visited.tolist()))
            return SimpleNamespace(reaches=lambda share: reaches and share == 0.9)

    monkeypatch.setattr(subsites, "Outlook", Outlook)
    strategy = SimpleNamespace(setting=SimpleNamespace(step=3.0))
    mode = bare(
        _untested=1, _pages=[1, 2, 3, 4], _visited=[3, 1], _full=False,
        _candidates=list, _capture=SimpleNamespace(strategy=strategy), **BY_PATH,
    )  # fmt: skip
    assert mode._stays_coherent([8, 9]) is reaches
    assert asked == [([3, 1, 2, 4, 8, 9], 3.0), ([2, 3, 4, 5], [0, 1])]
    assert (mode._untested, mode._full) == (0, not reaches)


# -- what a division goes by -------------------------------------------------------------------------------------------


def test_candidates_have_the_rates_weights_and_shapes_of_their_pages():
    table = SimpleNamespace(rates=[0.1, 0.2, 0.3], weights=[1.0, 2.0, 3.0], shapes=[4.0, 5.0, 6.0])
    found = bare(_ledger=SimpleNamespace(pages=table))._candidates([2, 0])
    assert [list(found.pages), list(found.rates)] == [[2, 0], [0.3, 0.1]]
    assert [list(found.weights), list(found.shapes)] == [[3.0, 1.0], [6.0, 4.0]]


def test_the_sitemaps_that_name_a_page_are_told_from_the_index_down():
    table = SimpleNamespace(
        parents=[NO_PARENT, 0, 1, NO_PARENT, 3, 4],
        kinds=[Kind.SITEMAP, Kind.SITEMAP, Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.PAGE],
        urls=["http://h/index.xml", "http://h/file.xml", *["http://h/x/../1"] * 4],
    )
    mode = bare(_ledger=SimpleNamespace(pages=table))
    maps = ("http://h/index.xml", "http://h/file.xml")
    assert [mode._sitemaps_of(page) for page in (1, 2, 3, 5)] == [maps[:1], maps, (), ()]
    known = mode._known([2, 5])
    assert (known.urls, known.sitemaps) == (["http://h/1"] * 2, [maps, ()]), "links spell one folder in many ways"


def test_without_links_pages_have_the_labels_of_a_partition():
    noted = Noted()
    mode = bare(
        _division=SimpleNamespace(partition=SimpleNamespace(by_links=False, labels=noted.one("labels", "labels"))),
        _ledger=SimpleNamespace(pages=None),
        _known=list,
    )
    assert mode._label_all([4, 5]) == "labels"
    assert noted.calls == [("labels", [4, 5])]


def test_by_links_all_is_labelled_anew_where_a_link_or_a_url_came(monkeypatch):
    asked = []
    partition = SimpleNamespace(by_links=True, labels=lambda known: asked.append(len(known.urls)) or ["label"] * 9)

    class Table(list):
        kinds, urls, parents = [Kind.PAGE] * 9, ["http://h/"] * 9, [NO_PARENT] * 9

    mode = begun("links")
    mode._division, mode._ledger = SimpleNamespace(partition=partition), SimpleNamespace(pages=Table(range(9)))
    for link, times in (((), 1), ((), 1), ((2,), 2), ((), 2)):
        mode.linked(1, link)
        assert mode._label_all([3]) == ["label"]
        assert len(asked) == times


@pytest.mark.parametrize(
    ("rows", "part", "name"),
    [
        ([], Part("x", (Branch(("x",)),), None), "x"),
        ([("x", ("x",))], Part("x", (Branch(("x",)),), None), "x, others"),
        ([("x/y", ("x", "y"))], Part("x", (Branch(("x",)),), None), "x, others"),
        ([("x", ("x",))], Part("x/y", (Branch(("x", "y")),), None), "x/y"),
        ([("x/y", ("x", "y"))], Part("x, others", (Branch(("x",), frozenset({"y"})),), None), "x, others"),
        ([("x", ("x",)), ("x, others", ("x",))], Part("x", (Branch(("x",)),), None), "x, others (2)"),
        ([("x", ("x",)), ("x, others", ("x",)), ("x, others (2)", ("x",))], Part("x", (Branch(("x",)),), None),
         "x, others (3)"),
        ([("y", ("y",)), ("x", ("z",))], Part("x", (Branch(("x",)),), None), "x (2)"),
        ([("y", ("y",))], Part("x … y", (Branch(("x",)), Branch(("y",))), None), "x … y, others"),
    ],
)  # fmt: skip
def test_parts_are_named_apart_and_what_is_left_of_one_is_its_others(rows, part, name):
    former = [SubsiteRow(0, at, own, 1.0, 5.0, 6.0, 7.0, (Branch(root),)) for at, (own, root) in enumerate(rows)]
    assert bare(rows=former)._name(part) == name


def best(*parts: tuple[str, int, float], least: float = 0.9):
    """The best of these parts: name, pages, share expected."""
    found = [Part(name, (), np.arange(size)) for name, size, _ in parts]
    shares = {id(part.places): share for part, (*_, share) in zip(found, parts, strict=True)}
    outlook = SimpleNamespace(expect=lambda places: Expectation(shares[id(places)], 0.0))
    part, share = subsites._best(found, outlook, least)
    return part.name, share


def test_the_largest_part_that_stays_coherent_comes_first_else_the_largest_then_by_name():
    assert best(("a", 3, 0.95), ("b", 5, 0.9), ("c", 9, 0.2)) == ("b", 0.9)
    assert best(("a", 3, 0.5), ("b", 5, 0.6), ("c", 4, 0.7)) == ("b", 0.6)
    assert best(("b", 3, 0.95), ("a", 3, 0.91)) == ("a", 0.91)


# -- after a restart ---------------------------------------------------------------------------------------------------


def test_each_part_has_a_t_of_its_own():
    mode = bare(rows=[ENDED, OPEN], _capture=SimpleNamespace(reference=50.0))
    assert [mode.reference_of(part) for part in (0, 1, None)] == [6.0, 50.0, None]
    mode.rows = [ENDED]
    assert [mode.reference_of(part) for part in (0, None)] == [6.0, None]


@pytest.mark.parametrize(("apex", "then"), [(4, 4), (5, None), (2, None)])
@pytest.mark.parametrize("opened", YES_OR_NO)
def test_the_open_part_goes_on_with_its_pages_and_the_others_wait(apex, then, opened):
    noted = Noted()
    firsts = [Visit(page, Slot.FIRST) for page in (4, 2, 1)]
    mode = bare(
        rows=[ENDED, OPEN] if opened else [ENDED],
        apex=apex,
        _capture=SimpleNamespace(front=SimpleNamespace(take=lambda: [4, 1, 5, 6], wait=noted.one("wait"))),
        **BY_PATH,
    )
    found = mode.resumed({4: 1, 1: 1, 2: 0, 5: 0}, firsts)
    own = [4, 1] if opened else []
    assert found == ([firsts[0], firsts[2]] if opened else [])
    assert mode.pool == [6]
    assert noted.calls == [("wait", own)]
    assert (mode._pages, mode._visited) == (own, own)
    assert mode.apex == (then if opened else None)


def test_after_a_restart_pages_join_the_open_part_and_one_in_a_hundred_do_so_unasked():
    mode = begun("path")
    mode.recall_parts((OPEN._replace(branches=(Branch(()),)),))
    mode._ledger = SimpleNamespace(pages=SimpleNamespace(parents=[NO_PARENT], kinds=[Kind.PAGE], urls=["http://h/1"]))
    mode._capture.seen = None
    assert mode._lies_within(0) is True
    mode._pages = list(range(100))
    assert mode._stays_coherent([0]) is True
    with pytest.raises(AttributeError):  # the next one is asked about: there is no strategy here
        mode._stays_coherent([0])


def test_after_a_restart_links_are_read_where_parts_go_by_them():
    rows = [SimpleNamespace(page=1, targets=[2]), SimpleNamespace(page=2, targets=[1, 3])]
    for division, links in (("links", [(1, 2), (2, 1), (2, 3)]), ("path", [])):
        mode = begun(division)
        mode._capture.front = SimpleNamespace(take=list, wait=lambda pages: None)
        mode._ledger = SimpleNamespace(links=lambda: rows)
        mode.resumed({}, [])
        assert list(zip(mode._sources, mode._targets, strict=True)) == links


def test_what_304s_left_open_is_still_open():
    assert bare(_by_304=SimpleNamespace(open={3: "by 304"})).rebuilt("door", []) == {3}
    assert bare(_by_304=None).rebuilt("door", []) == frozenset()
