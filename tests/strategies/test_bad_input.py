"""Numbers and calls that cannot be: an error that names them, nothing done by halves."""

from __future__ import annotations

import math
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.optimum import optimum
from sharc_crawler import plugins
from sharc_crawler.errors import StateError, UsageError
from sharc_crawler.model import Slot, Visit
from sharc_crawler.plugins import GROUPS
from sharc_crawler.strategies import make
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.baselines import Bfs
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.refused import words

if TYPE_CHECKING:
    from typing import Any

RANKED = sorted(set(plugins.names("strategy")) - {"bfs", "dfs", "olston-pandey"})  # the others do not go by rates


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("column", ["rates", "weights"])
def test_pages_that_cannot_be(column: str, value: float) -> None:
    columns: dict[str, Any] = {"rates": [0.1, 0.2], column: [0.1, value]}
    with pytest.raises(UsageError, match=rf"the {column[:-1]} of page 8 is {value}; it must be a finite number >= 0"):
        Candidates.of([7, 8], **columns)
    with pytest.raises(UsageError, match="of page 9 is"):
        Candidates.of([7, 8, 9], **{**columns, "rates": [0.0] * 3, column: [0.0, 0.1, value]})


@pytest.mark.parametrize("shape", [0.0, -1.0, math.nan])
def test_shapes_that_cannot_be(shape: float) -> None:
    with pytest.raises(UsageError, match="the Gamma shape of page 8 must be > 0"):
        Candidates.of([7, 8], [0.1, 0.2], shapes=[1.0, shape])
    assert len(Candidates.of([7, 8], [0.1, 0.2], shapes=[1.0, 0.25])) == 2


def test_columns_of_another_length() -> None:
    with pytest.raises(UsageError, match="2 pages need as many rates, not 1"):
        Candidates.of([0, 1], [0.1])


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ({"size": -1}, "size=-1 must be the number of pages"),
        ({"step": 0.0}, "step=0.0 must be the seconds"),
        ({"step": math.nan}, "step=nan must be the seconds"),
        ({"step": math.inf}, "step=inf must be the seconds"),
        ({"observation": (5.0, 5.0)}, r"observation=\(5.0, 5.0\) must be an interval"),
        ({"observation": (0.0, math.nan)}, "must be an interval"),
        ({"observation": (-math.inf, 0.0)}, "must be an interval"),
        ({"observation": (0.0, math.inf)}, "must be an interval"),
        ({"prior": (0.1, -0.1)}, "the prior rate of page 1 is -0.1"),
        ({"prior": (math.nan,)}, "the prior rate of page 0 is nan"),
    ],
)
def test_settings_that_cannot_be(setting: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Setting(**setting)


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("rate", [-1.0, math.nan, math.inf])
def test_a_page_keeps_its_place_when_its_new_rate_cannot_be(name: str, rate: float) -> None:
    strategy = make_strategy(name, Setting(size=3))
    strategy.add(Candidates.of([0, 1, 2], [0.1, 0.2, 0.3]))
    with pytest.raises(UsageError, match=rf"the rate of page 1 is {rate}"):
        strategy.reprice(1, rate)
    visits = []
    while visit := strategy.next(float(len(visits))):
        strategy.finished(visit, captured=True)
        visits.append(visit)
    other = make_strategy(name, Setting(size=3))
    other.add(Candidates.of([0, 1, 2], [0.1, 0.2, 0.3]))
    assert [other.next(float(now)) for now in range(2)] == visits[:2]
    assert {visit.page for visit in visits} == {0, 1, 2}


@pytest.mark.parametrize("name", plugins.names("strategy"))
def test_a_page_that_nobody_knows(name: str) -> None:
    strategy = make_strategy(name, Setting(size=3))
    strategy.add(Candidates.of([0], [0.1]))
    strategy.reprice(9, 0.5)  # nothing to reprice
    with pytest.raises(StateError, match="page 9 is finished, but was neither handed out nor does it wait"):
        strategy.finished(Visit(9, Slot.FIRST), captured=True)
    assert strategy.next(0.0) is not None


class Raising:
    def __init__(self, setting: Setting) -> None:
        raise ValueError("no direction")


NUMBER = 5


class WithoutSuper(Bfs):
    def __init__(self, setting: Setting) -> None:
        pass


def test_an_entry_point_that_cannot_be_loaded_is_told_like_a_path(monkeypatch):
    points = [EntryPoint("broken", f"nowhere{end}", GROUPS["strategy"]) for end in (":X", ".bfs:X")]
    for point in (*points, EntryPoint("broken", "tests.strategies.test_bad_input:Nothing", GROUPS["strategy"])):
        monkeypatch.setattr(plugins, "_registered", lambda _, point=point: {"broken": point})
        with pytest.raises(
            UsageError, match=r"strategy=.broken. cannot be imported: (there is no module|tests.* has no)"
        ):
            plugins.load("strategy", "broken")


def test_a_module_that_cannot_run_is_told(tmp_path, monkeypatch):
    (tmp_path / "careless_orders.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="cannot be imported: careless_orders cannot run: no licence"):
        make_strategy("careless_orders.Order", Setting())


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("sharc-selectiv", "strategy='sharc-selectiv' is not known; did you mean 'sharc-selective'"),
        ("bfs:revisits=lfio", "revisits='lfio' is not known"),
        ("bfs:revisit=lifo", "did you mean 'revisits'"),
        ("bfs:lifo", "'lifo' is not of the form option=value"),
        ("sharc-attested:visits=3", "visits=3 is not known"),
        ("sharc_crawler.strategies.base.Setting", "does not make a sharc_crawler Strategy"),
        ("tests.strategies.test_bad_input.Raising", "does not make a sharc_crawler Strategy: ValueError: no direction"),
        ("tests.strategies.test_bad_input.NUMBER", "is of type int, and no class or function"),
        ("tests.strategies.test_bad_input.WithoutSuper", r"let its __init__ call super\(\).__init__\(setting\)"),
        ("no.such.module.Order", r"cannot be imported: there is no module 'no'[.;] .*PYTHONPATH=\."),
        ("sharc_crawler.strategies.base.Ordr", r"cannot be imported: .*\.base has no 'Ordr'. Allowed: .*Strategy"),
    ],
)
def test_names_and_options_that_cannot_be(spec: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        make_strategy(spec, Setting())


def test_the_optimum_of_rates_beyond_all_bounds() -> None:
    """Rates so high that nothing survives, or none at all, are defined: one page on the interval of length zero."""
    assert optimum(Candidates.of(np.arange(50), np.full(50, 1e300)), 1.0).coherence == 1.0
    assert optimum(Candidates.of(np.arange(50), np.zeros(50)), 1.0).coherence == 50.0
    large = optimum(Candidates.of(np.arange(2000), np.full(2000, 1e300)), 1.0)
    assert (large.coherence, large.bound) == (1.0, 1.0)


def test_settings_at_their_bounds() -> None:
    assert Setting(size=0, step=1e-9, observation=(-1.0, 0.0), prior=(0.0,)).size == 0


class Optional(Bfs):
    """Keeps what it is given."""

    def __init__(self, setting, **options):
        super().__init__(setting)
        self.options = options


def test_numbers_among_the_options_arrive_as_numbers(monkeypatch):
    monkeypatch.setattr(make, "_load", lambda *_: Optional)
    monkeypatch.setattr(make, "_options", lambda _: ["a", "b", "c", "d"])
    numbers = make_strategy("x:a=2:b=0.01:c=false:d=1e-7", Setting()).options
    assert numbers == {"a": 2, "b": 0.01, "c": "false", "d": 1e-7}


def test_what_cannot_say_what_it_is_is_told_by_its_kind():
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert words(Mute()) == "a Mute without words"
    assert words(ValueError("x" * 400)) == "x" * 300, "nor is it told at length"
