"""When second looks are worth asking for hints."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hint_signs import WORTH
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
