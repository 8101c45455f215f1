"""A capture that goes on with a smaller budget keeps room for its revisits, or is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.live.setup.unfinished import check_output
from sharc_crawler.model import Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.opening import USUAL, begin_state
from tests.frontier.conftest import World
from tests.frontier.test_budget import ROOT, build

SPEC = CaptureSpec("h", (ROOT,), sitemaps=(), max_requests=90)
MADE, SIZE = 21, 1000


@pytest.fixture
def begun(tmp_path):
    """A folder with a capture that was cut off, and how many of its revisits are due."""
    world = World()
    build(world, pages=40, size=SIZE)
    store = begin_state(tmp_path, USUAL)
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(SPEC, world.now)
    while len(world.requests) < MADE:
        world.step(frontier)
    store.close()
    fetches = [fetch for _, fetch in world.requests]
    assert not any(fetch.slot is Slot.SECOND for fetch in fetches), "T is not reached"
    return tmp_path, sum(fetch.kind.value in ("page", "resource") for fetch in fetches)


def test_less_than_the_revisits_take_is_refused_and_what_would_do_is_said(begun):
    folder, due = begun
    least = MADE + due
    for bounds, words in (
        ({"max_requests": least - 1}, f"{MADE} are used, and the revisits that are due take {due} more. Give"),
        ({"max_requests": MADE}, f"Give max_requests={least} or more, or max_requests=90, as before"),
        ({"max_bytes": (MADE - 1) * SIZE}, "or none, as before"),
        ({"max_time": 3.0}, "max_time=3s is too little"),
    ):
        with pytest.raises(UsageError) as found:
            check_output(folder, [SPEC], bounds)
        assert words in str(found.value)


@pytest.mark.parametrize("most", [0, 1, 90, 400])
def test_what_leaves_room_goes_on(begun, most):
    folder, due = begun
    check_output(folder, [SPEC], {"max_requests": MADE + due if most == 1 else most, "max_bytes": 0, "max_time": 0.0})


def test_in_a_collection_there_is_no_other_folder_to_name(begun, tmp_path):
    folder, _ = begun
    other = replace(SPEC, audit=1.0)
    with pytest.raises(UsageError, match=r"begun with audit=0\.02, not 1\.0; give it as before, or another folder"):
        check_output(folder, [other], {})
    inside = tmp_path / "kept" / "captures" / "h" / "20260101T000000Z"
    inside.mkdir(parents=True)
    (tmp_path / "kept" / "collection.yaml").touch()
    shutil.copy(folder / "frontier.db", inside)
    with pytest.raises(UsageError, match=f"give it as before, or move {inside} away to begin anew"):
        check_output(inside, [other], {})
    with pytest.raises(UsageError, match=f"only the same command resumes; give it as before, or move {inside} aw"):
        check_output(inside, [replace(SPEC, site="moved.example")], {})
