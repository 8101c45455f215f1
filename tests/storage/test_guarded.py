"""A store of somebody else that raises or answers badly is named, at the step."""

from __future__ import annotations

import re

import pytest

from sharc_crawler.errors import DataError, Superseded
from sharc_crawler.frontier.rows import Batch, PageRow, UrlRow
from sharc_crawler.frontier.store import FrontierStore
from sharc_crawler.model import Kind
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
