"""Pages that are edited together are told from pages that change by themselves, by a site's own history."""

import numpy as np
import pytest

from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.neighbours import Together, edited_together, stale

FOLDERS, PAGES, ROUNDS, WEEK = 12, 10, 40, 604_800.0


def history(changed: np.ndarray) -> SiteHistory:
    """Of pages by rounds, a row a page; ``PAGES`` of them share a folder."""
    pages, rounds = changed.shape
    bits = np.concatenate([np.full((pages, 1), UNKNOWN), np.where(changed, CHANGED, UNCHANGED)], axis=1)
    nothing = np.full(bits.size, np.nan)
    return SiteHistory(
        "h",
        [Url(f"http://h/{page // PAGES}/{page}") for page in range(pages)],
        np.arange(pages + 1) * (rounds + 1),
        np.tile(np.arange(rounds + 1) * WEEK, pages),
        bits.astype(np.int8).ravel(),
        nothing,
        nothing,
        nothing,
    )


def made(seed: int, together: float, alone: float, share: float = 1.0) -> SiteHistory:
    rng = np.random.default_rng(seed)
    edits = np.repeat(rng.random((FOLDERS, ROUNDS)) < together, PAGES, axis=0)
    rates = alone * rng.gamma(0.5, 2.0, (FOLDERS * PAGES, 1))
    return history((edits & (rng.random(edits.shape) < share)) | (rng.random(edits.shape) < rates))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_folders_that_were_edited_as_one_are_found(seed: int) -> None:
    found = edited_together(made(seed, together=0.1, alone=0.02))
    assert found is not None
    assert found.share > 0.9
    assert 0.03 < found.rate * WEEK < 0.3


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_edits_may_touch_a_part_of_the_pages(share: float) -> None:
    found = edited_together(made(1, together=0.1, alone=0.01, share=share))
    assert found is not None
    assert found.share == share


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alone", [0.002, 0.05, 0.4])
def test_pages_that_change_by_themselves_are_not(seed: int, alone: float) -> None:
    """However unlike they are."""
    assert edited_together(made(seed, together=0.0, alone=alone)) is None


def test_a_folder_too_small_or_a_past_too_short_says_nothing() -> None:
    assert edited_together(made(0, 0.1, 0.02).select(np.arange(0, FOLDERS * PAGES, PAGES))) is None
    assert edited_together(history(np.zeros((20, 0), np.bool_))) is None


def test_what_changed_by_itself_tells_of_no_other() -> None:
    """A lively page that was visited last has changed: the others have not for that."""
    visits, shapes = np.arange(8.0) * 3_600 + WEEK, np.full(8, np.inf)
    rates = np.array([1e-8] * 7 + [3.0]) / WEEK
    seen = np.arange(8) == 7
    usual = Together(0.98, 0.1 / WEEK, 1.0)
    assert stale(usual, np.zeros(8), visits, seen, rates, shapes, visits[-1]).max() < 0.1
    assert stale(usual, np.zeros(8), visits, seen, np.full(8, 1e-4 / WEEK), shapes, visits[-1])[:7].min() > 0.5
