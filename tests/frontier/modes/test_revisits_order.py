"""The revisits are ordered by what is said of the pages at T, or by what their headers say."""

from __future__ import annotations

from email.utils import formatdate
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes import hints as module
from sharc_crawler.frontier.modes.hints import PageHints, SiteHints
from sharc_crawler.model import Hints, RateEstimate
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, SiteHints)


@pytest.mark.parametrize(
    ("ahead", "read", "owed"),
    [
        (150, (50.0, 100.0, 99.0), [0, 2]),  # since T
        (149, (50.0, 100.0, 99.0), []),  # fifty revisits a sitemap at least
        (500, (100.0, 101.0), []),
        (500, (), []),
    ],
)
def test_at_t_sitemaps_are_read_that_were_not_read_since_where_many_revisits_follow(ahead, read, owed):
    asked = []
    hints = SimpleNamespace(
        _capture=SimpleNamespace(reference=100.0), sitemaps=dict(enumerate(read)), _owe_sitemaps=asked.extend
    )
    assert SiteHints._read_again(hints, ahead) is bool(owed)
    assert asked == owed


def test_at_t_the_order_is_made_once_sitemaps_are_read_again():
    for ahead, at, read, reprice, said, failed in product(([], [1, 2]), *[YES_OR_NO] * 5):
        noted = Noted()
        hints = bare(
            at_reference=at,
            reading=at,
            changes=[1] * said,
            _tests=SimpleNamespace(failed=failed),
            _read_again=noted.one("read", read),
            _reprice=noted.one("reprice", reprice),
            _replan=noted.one("replan"),
        )
        waits = bool(ahead) and not at and read
        assert hints.replans("door", ahead) is waits
        assert (hints.at_reference, hints.reading) == (waits, waits)
        asks = [("read", 2)] * (bool(ahead) and not at)
        then = [("reprice", ahead), *[("replan", "door", ahead)] * (reprice or said or failed)]
        assert noted.calls == asks + then * (bool(ahead) and not waits)


def test_after_a_restart_the_order_is_as_it_was_or_what_was_not_read_is_read():
    for ahead, revisited, read, replanned in product(([], [1, 2]), *[YES_OR_NO] * 3):
        noted = Noted()
        hints = bare(
            at_reference=True, reading=True, replanned=replanned,
            _read_again=noted.one("read", read), _replan=noted.one("replan"),
        )  # fmt: skip
        strategy = SimpleNamespace(revisits_ahead=lambda found=ahead: found)
        hints.order_again(strategy, revisited)
        asks = bool(ahead) and not revisited
        waits = asks and read
        assert (hints.at_reference, hints.reading) == (waits, waits)
        replans = bool(ahead) and replanned and not waits
        assert noted.calls == [("read", 2)] * asks + [("replan", strategy, ahead)] * replans


def ordered(monkeypatch, found: PageHints, step: float = 3.0):
    """What the order is made of."""
    given, made = [], []

    def order(*told):
        given.extend(told)
        return np.arange(len(found.pages))[::-1]

    monkeypatch.setattr(module, "revisit_order", order)
    hints = bare(
        _capture=SimpleNamespace(reference=100.0), changes=SimpleNamespace(of=lambda _: found), replanned=False
    )
    strategy = SimpleNamespace(setting=SimpleNamespace(step=step), reorder=made.extend)
    hints._replan(strategy, found.pages)
    assert hints.replanned is True
    assert made == found.pages[::-1]
    return given


def standing(visited, stale=(), still=()):
    size = len(visited)
    masks = [np.isin(np.arange(size), list(some)) for some in (stale, still, (), ())]
    return PageHints(
        list(range(10, 10 + size)), np.full(size, 0.5), np.full(size, 0.1), np.arange(1.0, size + 1),
        np.full(size, 2.0), np.array(visited), *masks,
    )  # fmt: skip


def test_revisits_are_ordered_by_what_is_said_of_the_time_since_each_visit(monkeypatch):
    """A page that is said to have changed is worth nothing; one that has not is as if visited at T."""
    rates, weights, shapes, elapsed, step = ordered(
        monkeypatch, standing([60.0, 64.0, 80.0, 74.0, 101.0], stale=(1, 2), still=(3,))
    )
    assert rates.tolist() == [0.5] * 5
    assert weights.tolist() == [1.0, 0.0, 0.0, 4.0, 5.0]
    assert shapes.tolist() == [2.0] * 5
    assert elapsed.tolist() == [40.0, 36.0, 20.0, 0.0, 0.0]
    assert step == 8.0, "the middle one of the steps between visits: 4, 10, 6, 21"


def test_words_are_taken_for_none_where_more_than_half_of_all_pages_are_said_to_have_changed(monkeypatch):
    _, weights, _, elapsed, _ = ordered(monkeypatch, standing([60.0, 64.0, 70.0], stale=(1, 2), still=(0,)))
    assert weights.tolist() == [1.0, 2.0, 3.0]
    assert elapsed.tolist() == [40.0, 36.0, 30.0]
    _, weights, *_ = ordered(monkeypatch, standing([60.0, 64.0], stale=(1,)))
    assert weights.tolist() == [1.0, 0.0], "half of them"


def revisits(found: PageHints) -> list[int]:
    """Their order."""
    made: list[int] = []
    said = SimpleNamespace(of=lambda _: found)
    strategy = SimpleNamespace(setting=SimpleNamespace(step=1.0), reorder=made.extend)
    bare(_capture=SimpleNamespace(reference=100.0), changes=said)._replan(strategy, found.pages)
    return made


def test_at_t_what_is_said_to_have_changed_is_revisited_last_unless_that_is_said_of_most():
    visited = [0.0, 1.0, 2.0, 3.0]
    assert revisits(standing(visited, stale=(0, 1)))[2:] == [10, 11]
    assert revisits(standing(visited, stale=(0, 1, 2))) == revisits(standing(visited))


def test_of_one_page_the_step_is_the_strategys(monkeypatch):
    assert ordered(monkeypatch, standing([60.0]))[-1] == 3.0
    assert ordered(monkeypatch, standing([60.0, 65.0]))[-1] == 5.0


@pytest.mark.parametrize(
    ("modified", "source", "told", "named"),
    [
        (89.0, "sitemap", True, "last-modified"),
        (89.0, "lastmod", True, "last-modified"),
        (89.0, "history", True, "history"),
        (89.0, "prior", True, None),  # it is not believed
        (98.0, "sitemap", False, None),  # it only repeats the time of the answer
        (97.0, "sitemap", True, "last-modified"),
    ],
)
def test_rates_are_told_by_last_modified_where_no_sitemap_told_them(modified, source, told, named):
    asked, rated = [], []

    def rates(sightings, now):
        asked.extend(one.hints for one in sightings)
        return [RateEstimate(0.5, source) for _ in sightings]

    pages = SimpleNamespace(
        urls=["http://h/0", "http://h/1", "http://h/2"], started=[100.0] * 3,
        last_modified=lambda page: None if page == 1 else formatdate(modified, usegmt=True),
    )  # fmt: skip
    hints = SimpleNamespace(
        _ledger=SimpleNamespace(pages=pages, rated=lambda page, one: rated.append((page, one.source))),
        _capture=SimpleNamespace(reference=200.0, rates=SimpleNamespace(rates=rates)),
        changes={2},
    )
    assert SiteHints._reprice(hints, [0, 1, 2]) is bool(named)
    assert asked == [Hints(modified, 1.0)] * told, "to the second"
    assert rated == ([(0, named)] if named else [])
