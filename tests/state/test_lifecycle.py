"""A capture's life as a table: what it allows leads to the end, all else is an error that names who and where."""

from __future__ import annotations

from itertools import product

import pytest

from sharc_crawler.errors import StateError
from sharc_crawler.model import Phase
from sharc_crawler.state.lifecycle import PHASES, Life, State, Step


def step(life: Life, which: Step) -> None:
    """Take a step by its verb."""
    {
        Step.BEGIN: life.begin,
        Step.TURN: lambda: life.turn(5.0),
        Step.CHECK: life.check,
        Step.NEXT_PART: life.next_part,
        Step.END: lambda: life.end(9.0),
    }[which]()


@pytest.mark.parametrize(("phase", "which"), list(product(Phase, Step)), ids=str)
def test_a_step_is_in_the_table_or_an_error_that_names_capture_and_phase(phase, which):
    life = Life("the capture of h by strategy='bfs'")
    life.restore(phase, 3.0 if phase in (Phase.REVISIT, Phase.CHECK) else None, None)
    then = PHASES.get((phase, which))
    if then is None and which is Step.BEGIN:  # a strategy that is made again after a restart
        step(life, which)
        assert life.phase is phase
    elif then is None:
        with pytest.raises(StateError, match=f"the capture of h by strategy='bfs' is in the phase '{phase.value}'"):
            step(life, which)
        assert life.phase is phase
    else:
        step(life, which)
        assert life.phase is then


def test_states_keep_the_numbers_that_stores_hold():
    names = ["QUEUED", "LEASED", "VISITED", "LEASED_AGAIN", "JUDGED", "LOST", "LATE"]
    assert [(one.name, int(one)) for one in State] == list(zip(names, range(7), strict=True))


def test_every_phase_is_reached_and_leads_to_the_end():
    reached, left = {Phase.OPENING}, {Phase.DONE}
    for _ in Phase:
        reached |= {then for (phase, _), then in PHASES.items() if phase in reached}
        left |= {phase for (phase, _), then in PHASES.items() if then in left}
    assert reached == left == set(Phase)
    assert not any(phase is Phase.DONE for phase, _ in PHASES)


def test_t_is_fixed_once_and_each_part_has_its_own():
    life = Life("it")
    life.begin()
    life.turn(5.0)
    with pytest.raises(StateError):
        life.turn(6.0)
    assert life.reference == 5.0
    life.next_part()
    assert (life.phase, life.reference) == (Phase.OPENING, None)
