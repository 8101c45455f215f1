"""Which mode captures a site: by its order and by what its strategy does."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.modes import Untested
from sharc_crawler.frontier.modes.rate_tests import RateTests
from sharc_crawler.frontier.opening import Parts, check, make_mode
from sharc_crawler.state.spec import CaptureSpec

TWICE = SimpleNamespace(attests=False, revisits=True)
ONCE = SimpleNamespace(attests=False, revisits=False)
ATTESTED = SimpleNamespace(attests=True, revisits=False)
ATTESTED_TWICE = SimpleNamespace(attests=True, revisits=True)


def made(strategy, parts: Parts | None = None, **order):
    spec = CaptureSpec("h", ("http://h/",), lasts=60.0, **order)
    shared = SimpleNamespace(polls=None, terms=None)
    ledger = SimpleNamespace(pages=None, shared=shared)
    return make_mode(ledger, SimpleNamespace(spec=spec, started=5.0), strategy, parts or Parts())


@pytest.mark.parametrize(
    ("strategy", "order", "name"),
    [
        (TWICE, {}, "TwoVisits"),
        (ONCE, {}, "TwoVisits"),
        (TWICE, {"mode": "instant"}, "Instantly"),
        (ONCE, {"mode": "instant"}, "Instantly"),
        (TWICE, {"mode": "survey"}, "Surveyed"),
        (TWICE, {"mode": "continuous"}, "Continuously"),
        (ATTESTED, {}, "ByLastmods"),
        (TWICE, {"subsites": "path"}, "Subsites"),
    ],
)
def test_an_order_and_a_strategy_have_their_mode(strategy, order, name):
    mode = made(strategy, **order)
    assert type(mode).__name__ == name
    assert mode.compares is (strategy is not ONCE)


@pytest.mark.parametrize(
    ("strategy", "subsites", "mode", "why"),
    [
        (TWICE, "", "continuous", None),
        (TWICE, "path", "capture", None),
        (ONCE, "", "capture", None),
        (ATTESTED, "", "capture", None),
        (TWICE, "path", "continuous", "one T.*subsites='path' has several"),
        (ONCE, "", "continuous", "one T.*makes single visits"),
        (ATTESTED_TWICE, "", "continuous", "one T.*makes single visits"),
        (ONCE, "path", "capture", "needs visits and revisits.*makes single visits"),
        (ATTESTED, "path", "capture", "needs visits and revisits.*one T for the whole site"),
        (ATTESTED_TWICE, "path", "capture", "needs visits and revisits.*one T for the whole site"),
    ],
)
def test_parts_and_what_is_kept_up_need_revisits_around_one_t(strategy, subsites, mode, why):
    checked = partial(check, strategy, subsites, mode)
    if why is None:
        checked()
        return
    with pytest.raises(UsageError, match=why):
        checked()
    with pytest.raises(UsageError, match=why):
        made(strategy, subsites=subsites, mode=mode)


def test_rates_are_held_against_what_the_archive_saw_last_where_there_is_one():
    asked = []
    mode = made(TWICE, Parts(seen=lambda spec, url, before: asked.append((spec.site, url, before))))
    assert type(mode._tests) is RateTests
    mode._tests._seen("http://h/1", 9.0)
    assert asked == [("h", "http://h/1", 9.0)]
    assert type(made(TWICE)._tests) is Untested


def test_untested_rates_are_taken_as_they_are():
    tests = Untested()
    assert (tests.failed, tests.note()) == (False, "")
    rates = [0.1]
    assert tests.planned([1], rates) is tests.learned([1], rates) is rates
    assert tests.edited(9.0) is None
    assert tests.looked(1, 5.0, 9.0) == {}
