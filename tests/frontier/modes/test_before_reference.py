"""When second looks are worth asking for hints."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hint_signs import WORTH
from sharc_crawler.frontier.modes.hints import SiteHints
from sharc_crawler.model import Phase


@pytest.mark.parametrize(("more", "due"), [(0, False), (1, True)])
def test_hints_are_asked_for_once_more_visits_were_made_than_their_sources_cost(more, due):
    capture = SimpleNamespace(
        spec=SimpleNamespace(hints=0.5),
        phase=Phase.VISIT,
        counts=SimpleNamespace(visits=2 * WORTH + more),
        budget=SimpleNamespace(spare=lambda _: 1e6),
    )
    strategy = SimpleNamespace(first_visits_left=1, first_visits_waiting=1)
    assert SecondLooks(capture).due(strategy, 2, 0.0) is due


@pytest.mark.parametrize(("visits", "asked"), [(10, 1), (39, 1), (40, 2), (1_000, 5)])
def test_one_in_twenty_pages_at_most_is_asked_for_its_neighbours(visits, asked):
    owed = []
    hints = SimpleNamespace(
        _edited=lambda stale: None,
        _worth_a_slot=lambda probes, step, now: probes,
        _owe_hubs=lambda pages: owed.extend(pages) or len(pages),
        _capture=SimpleNamespace(counts=SimpleNamespace(visits=visits)),
        _probes=set(),
        looks=SimpleNamespace(affords=lambda *_: True, polled=lambda hubs: None),
    )
    strategy = SimpleNamespace(setting=SimpleNamespace(step=1.0), first_visits_left=1)
    SiteHints.surmised(hints, SimpleNamespace(stale={}, probes=[1, 2, 3, 4, 5]), strategy, 0.0)
    assert owed == [1, 2, 3, 4, 5][:asked]
    assert hints._probes == set(owed)
