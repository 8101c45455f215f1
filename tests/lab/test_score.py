from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.score import PageFate, score, verdicts
from sharc_crawler.lab.truth import Lives
from tests.lab.small import belief, small_site

NAN = math.nan


def schedule(visits, revisits):
    return DownloadTimes(np.array(visits, float), np.array(revisits, float))


def names(site, plan, attested=()):
    return [PageFate(found).name.lower() for found in verdicts(site, plan, belief(site, attested).attested)]


def test_by_bytes():
    site = small_site([[2.5], [0.5, 1.0], [], [3.0], []])
    plan = schedule([0, 1, 2, 3, NAN], [7, 6, NAN, 3, NAN])
    # changed in between; before or at the visit only; no revisit; the apex; not downloaded
    assert names(site, plan) == ["changed", "coherent", "unknown", "coherent", "absent"]


def test_a_change_at_the_revisit_counts():
    assert names(small_site([[7.0]]), schedule([0], [7])) == ["changed"]


def test_pages_that_vanish():
    lives = Lives(np.full(3, -math.inf), {0: (-math.inf, 3.0), 1: (-math.inf, 0.5), 2: (-math.inf, 3.0)})
    site = small_site([[], [], [2.5]], lives=lives)
    # before the revisit; before the visit; after a change
    assert names(site, schedule([0, 1, 2], [5, NAN, 6])) == ["gone", "gone", "changed"]


def test_attested_single_visits_around_the_reference():
    site = small_site([[1.0], [1.0], [2.0], [0.5]])
    plan = schedule([0, 1, 2, 3], [NAN] * 4)  # T = 1.5
    assert names(site, plan, range(4)) == ["changed", "coherent", "changed", "coherent"]
    assert names(site, plan, [1]) == ["unknown", "coherent", "unknown", "unknown"]


def test_attested_visits_on_both_sides_need_one_clean_side():
    site = small_site([[1.5, 5.0], [3.5], [1.5], [3.0, 3.2]])
    plan = schedule([0, 1, 2, 3], [7, 6, 5, 4])  # T = 3.5
    # both sides; up to T, so before it; before the visit; before T only
    assert names(site, plan, range(4)) == ["changed", "coherent", "coherent", "coherent"]
    assert names(site, plan) == ["changed", "changed", "coherent", "changed"]


def test_a_page_that_vanished_before_the_reference_is_not_attested():
    site = small_site([[], []], lives=Lives(np.full(2, -math.inf), {0: (-math.inf, 0.2)}))
    assert names(site, schedule([0, 1], [NAN, NAN]), range(2)) == ["gone", "coherent"]


TIMES = st.lists(st.integers(0, 30).map(lambda t: t / 2), max_size=4).map(sorted)


@pytest.mark.slow
@given(st.lists(TIMES, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_score_of_a_visit_revisit_capture_against_counting(changes, random):
    size = len(changes)
    visits, revisits = list(range(size)), list(range(size, 2 * size))
    random.shuffle(visits)
    random.shuffle(revisits)
    site = small_site(changes, rates=[1.0] * size)
    found = score(site, schedule(visits, revisits), belief(site))
    changed = sum(any(v < t <= r for t in row) for row, v, r in zip(changes, visits, revisits, strict=True))
    assert (found.pages, found.incoherent, found.coherent) == (size, changed, size - changed)
    assert (found.unknown, found.gone) == (0, 0)
    expected = sum(1 - math.exp(v - r) for v, r in zip(visits, revisits, strict=True))
    assert math.isclose(found.expected_incoherent, expected)
    chances = [math.exp(v - r) for v, r in zip(visits, revisits, strict=True)]
    assert math.isclose(found.incoherent_error**2, sum(p * (1 - p) for p in chances))
    blur = 0.0
    for row, v, r in zip(changes, visits, revisits, strict=True):
        middle, end = (v + r) / 2, 2 * size - 1
        for t in row:
            if t <= end:
                nearest = t if t <= v else middle - t if t <= middle else t - middle if t <= r else end - t
                blur += nearest / end / size
    assert math.isclose(found.average_blur, blur, abs_tol=1e-12)


def test_a_capture_of_one_page():
    site = small_site([[5.0]], rates=[0.1])
    found = score(site, schedule([0], [0]), belief(site))
    assert (found.coherent, found.average_blur, found.expected_incoherent, found.blur_error) == (1, 0.0, 0.0, 0.0)


def test_expected_incoherence_of_attested_pages():
    site = small_site([[], []], rates=[1.0, 1.0])
    found = score(site, schedule([0, 1], [3, 2]), belief(site, [0]))  # T = 1.5
    survival = math.exp(-1.5)
    assert math.isclose(found.expected_incoherent, (1 - survival) ** 2 + 1 - math.exp(-1))
