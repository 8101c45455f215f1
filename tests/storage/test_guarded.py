"""A store of somebody else that raises or answers badly is named, at the step."""

from __future__ import annotations

import re

import pytest

from sharc_crawler.errors import DataError, Superseded
from sharc_crawler.model import Kind, Outcome, Plan, Result, Slot
from sharc_crawler.state.lifecycle import Phase
from sharc_crawler.state.rows import Batch, CaptureRow, PageRow, UrlRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.state.store import FrontierStore
from sharc_crawler.storage.guarded import GuardedKind, guarded
from sharc_crawler.storage.memory import MemoryStore

METHODS = sorted(
    name for base in FrontierStore.__mro__ for name in vars(base) if not name.startswith("_") and name != "urls"
)
ANSWERS = sorted(set(METHODS) - {"commit", "replace", "close"})


class Careless(MemoryStore):
    """``how``: what its methods do; each is of the third party."""

    how = None

    def __getattribute__(self, name: str):
        return type(self).how if name in METHODS else super().__getattribute__(name)


def store(answer):
    class Other(Careless):
        how = staticmethod(answer)

    return GuardedKind("a.package.Store", Other)("folder")


def raising(*_: object, **__: object):
    raise ValueError("no such row")


def given(method: str) -> tuple[Batch, ...]:
    return (Batch(),) if method in ("commit", "replace") else ()


@pytest.mark.parametrize("method", METHODS)
def test_what_it_raises_is_its_fault(method):
    said = re.escape(f"SHARC_STORE='a.package.Store' raised ValueError: no such row (in {method})")
    with pytest.raises(DataError, match=said):
        list(getattr(store(raising), method)(*given(method)))


@pytest.mark.parametrize("method", ANSWERS)
def test_so_is_what_it_answers_badly(method):
    with pytest.raises(DataError, match=rf"SHARC_STORE='a.package.Store' .*\(in {method}\)"):
        getattr(store(lambda *_: None), method)()


def test_so_is_what_it_raises_in_the_middle():
    def rows(*_: object):
        yield "one"
        raise KeyError("two")

    seen = []
    with pytest.raises(DataError, match=r"raised KeyError: 'two' \(in exchanges\)"):
        seen.extend(store(rows).exchanges())


@pytest.mark.parametrize("pages", [(2, 1), (1, 1)])
def test_so_are_pages_in_another_order(pages):
    """Reports look for a page by its number."""

    class Turned(MemoryStore):
        def urls(self, capture: int):
            return iter([row(page) for page in pages])

    walked = GuardedKind("a.package.Store", Turned)("folder").urls(0)
    with pytest.raises(DataError, match=r"another order than they were found in \(in urls\).* fault of this plug-in"):
        list(walked)


def row(page: int) -> UrlRow:
    url = f"http://h/{page}"
    found = PageRow(page, 0, url, url, Kind.PAGE, "h", 0, -1, "seed", 0, 0.0, "none", 1.0, 1.0, None, "")
    return UrlRow(found, (), None, (), (), None)


def losing(phase: Phase | None = None):
    """A store that has no visit of its three pages, and a capture that stands at ``phase``, whatever it is given."""

    class Losing(MemoryStore):
        def commit(self, batch: Batch) -> None:
            pass

        replace = commit

        def urls(self, capture: int):
            return iter([row(page) for page in range(3)])

        def captures(self):
            return {0: capture(phase)} if phase else {}

    return GuardedKind("a.package.Store", Losing)("folder")


def capture(phase: Phase) -> CaptureRow:
    return CaptureRow(0, CaptureSpec("h", ()), phase, 0.0, None, None, ())


def visit(page: int) -> VisitRow:
    return VisitRow(page, Slot.ONLY, Plan.HOPEFUL, 1, True, 1, 1.0, Outcome(Result.OK, 1.0, 2.0))


@pytest.mark.parametrize("method", ["commit", "replace"])
@pytest.mark.parametrize("page", range(3))
def test_so_is_a_visit_that_it_lost(method, page):
    store, seen = losing(), []
    getattr(store, method)(Batch(visits=[visit(page)]))
    with pytest.raises(DataError, match=rf"lost what was committed: 1 visit of http://h/{page} \(in urls\)"):
        seen.extend(store.urls(0))
    assert [one.page.page for one in seen] == list(range(page))


@pytest.mark.parametrize("phase", [None, Phase.VISIT])
def test_so_is_a_capture_that_it_has_otherwise(phase):
    store = losing(phase)
    store.commit(Batch(captures={0: capture(Phase.VISIT)}))
    store.commit(Batch(captures={0: capture(Phase.REVISIT)}))
    with pytest.raises(DataError, match=r"lost what was committed: that capture 0 is revisit \(in captures\)"):
        store.captures()


def test_what_stands_as_committed_and_what_was_replaced_is_not_missed():
    store = losing(Phase.REVISIT)
    store.commit(Batch(captures={0: capture(Phase.REVISIT)}))
    assert list(store.captures()) == [0]
    store.commit(Batch(visits=[visit(1)], captures={0: capture(Phase.DONE)}))
    store.replace(Batch())
    assert (len(list(store.urls(0))), list(store.captures())) == (3, [0])


def test_so_is_what_cannot_be_made():
    with pytest.raises(DataError, match=r"raised ValueError: no such row \(in being made\)"):
        GuardedKind("a.package.Store", raising)("folder")


@pytest.mark.parametrize("error", [Superseded("another has it"), DataError("damaged"), OSError(28, "no space")])
def test_what_the_port_has_it_raise_stays_so(error):
    def failing(*_: object):
        raise error

    with pytest.raises(type(error)) as found:
        store(failing).load()
    assert found.value is error


def test_ours_need_no_guard():
    assert guarded("memory", MemoryStore) is MemoryStore
