"""When sitemaps are read on the way to T, and in which order pages are revisited by what they say there."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes.by_lastmods import ByLastmods
from sharc_crawler.model import Change

STEP = 10.0
HALF = 1.000001 * np.log(2) / 200.0  #: of such pages half change in 200 s


def reads(made=100, left=100, spare=1e6, sitemaps=1, rate=1.0, hints=0.1, readings=0) -> tuple[bool, int]:
    """Are the sitemaps read now, and the readings that there may have been."""
    asked = []
    mode = SimpleNamespace(
        _capture=SimpleNamespace(
            counts=SimpleNamespace(visits=made),
            spec=SimpleNamespace(hints=hints),
            budget=SimpleNamespace(spare=lambda _: spare),
        ),
        _ledger=SimpleNamespace(pages=SimpleNamespace(pages_in=lambda _: range(left))),
        _readings=readings,
        attestations=SimpleNamespace(sitemaps=dict.fromkeys(range(sitemaps), 0.0)),
        _columns=lambda pages: (np.full(len(pages), rate), np.ones(len(pages)), np.full(len(pages), np.inf)),
        _read_sitemaps=lambda: asked.append(1) or True,
        _passed=lambda strategy: ByLastmods._passed(mode, strategy),
    )
    strategy = SimpleNamespace(first_visits_left=left, setting=SimpleNamespace(step=STEP))
    found = ByLastmods._reads_on_the_way(mode, strategy, 0.0)
    assert found is bool(asked)
    return found, mode._readings


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"made": 40, "left": 60, "readings": 0}, (False, 1)),  # fifty visits a sitemap at least
        ({"made": 80, "left": 120}, (True, 1)),
        ({"made": 79, "left": 121}, (False, 0)),  # at two fifths
        ({"made": 160, "left": 40, "readings": 1}, (True, 2)),
        ({"made": 159, "left": 41, "readings": 1}, (False, 1)),  # at four fifths
        ({"made": 199, "left": 1, "readings": 2}, (False, 2)),
        ({"made": 160, "left": 40, "readings": 0}, (True, 2)),  # once for both
        ({"hints": 0.0}, (False, 0)),
        ({"sitemaps": 2}, (True, 1)),
        ({"sitemaps": 3}, (False, 1)),
        ({"sitemaps": 0}, (False, 1)),
        ({"spare": 203.0}, (True, 1)),  # two downloads of each page that is left, and the sitemaps at T and at the end
        ({"spare": 202.0}, (False, 1)),
        ({"spare": 206.0, "sitemaps": 2}, (True, 1)),
        ({"spare": 205.0, "sitemaps": 2}, (False, 1)),
        ({"made": 50, "left": 20, "spare": 1e6}, (True, 1)),  # twenty pages a sitemap would have changed by T
        ({"made": 50, "left": 19, "spare": 1e6}, (False, 1)),
        ({"made": 100, "left": 40, "sitemaps": 2}, (True, 1)),
        ({"made": 100, "left": 39, "sitemaps": 2}, (False, 1)),
        ({"rate": 1e-9}, (False, 1)),
        ({"rate": HALF, "left": 40}, (True, 1)),  # half of them in half of the time that is left
        ({"rate": HALF, "left": 39}, (False, 1)),
    ],
)
def test_sitemaps_are_read_on_the_way_where_that_spares_more_than_it_costs(given, found):
    assert reads(**given) == found


@pytest.mark.parametrize(("said", "first"), [(Change.CHANGED, [0, 1]), (Change.UNKNOWN, [1, 0])])
def test_of_a_page_that_is_said_to_have_changed_nothing_before_t_counts(said, first):
    """It is revisited as if its visit had been at T."""
    ordered = []
    strategy = SimpleNamespace(
        revisits_ahead=lambda: [7, 8], setting=SimpleNamespace(step=STEP), reorder=ordered.extend
    )
    mode = SimpleNamespace(
        _ledger=SimpleNamespace(pages=SimpleNamespace(started={7: 90.0, 8: 100.0})),
        _columns=lambda pages: (np.full(len(pages), 0.1), np.ones(len(pages)), np.full(len(pages), np.inf)),
    )
    ByLastmods._reorder(mode, strategy, {7: said}, 100.0)
    assert ordered == [[7, 8][place] for place in first]


@pytest.mark.parametrize(
    ("visits", "begun", "drawn", "asked"),
    [(0, True, {1, 2}, True), (1, True, {1, 2}, False), (0, False, {1, 2}, False), (0, True, set(), False)],
)
def test_before_the_first_visit_alone_as_many_are_drawn_as_the_audit_is_likely_to_have(visits, begun, drawn, asked):
    """As many pages of a rate of one in so many seconds as change while the others are visited are downloaded again."""
    numbers = []
    mode = SimpleNamespace(
        _capture=SimpleNamespace(
            counts=SimpleNamespace(visits=visits),
            strategy=SimpleNamespace(setting=SimpleNamespace(step=STEP)) if begun else None,
        ),
        attestations=SimpleNamespace(drawn=drawn, likely=lambda *given: numbers.append(given) or {3}),
        _columns=lambda pages: (np.array([0.0, 0.0, 9.0, 9.0]), np.ones(4), np.full(4, np.inf)),
    )
    found = ByLastmods.early(mode, [0, 1, 2, 3])
    assert found == [page in ({3} if asked else drawn) for page in range(4)]
    assert numbers == [(4, 2)] * asked
