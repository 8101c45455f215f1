"""What counts no longer where records are lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.audit import CONDITIONALS
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Phase, Slot, Verdict
from sharc_crawler.state.rows import Batch, HostRow, JudgementRow, LastmodRow
from sharc_crawler.storage.withdrawing import founded, withdrawn
from sharc_crawler.testing.stores import capture_row, page_row, subsite_row, visit_row

COHERENT = (Verdict.COHERENT, Evidence.BYTES, "equal-bytes")


def state(**capture):
    """Three pages visited and revisited, robots.txt and a sitemap before them."""
    visits = [
        visit_row(3),
        visit_row(4),
        *(visit_row(page) for page in range(3)),
        *(visit_row(page, Slot.SECOND) for page in range(3)),
    ]
    return Batch(
        pages=[*(page_row(page) for page in range(3)), page_row(3, kind=Kind.ROBOTS), page_row(4, kind=Kind.SITEMAP)],
        visits=visits,
        judgements=[JudgementRow(page, *COHERENT) for page in range(3)],
        captures={0: capture_row(phase=Phase.REVISIT, reference=10.3, **capture)},
        hosts={"h.example": HostRow("h.example", "", 1.0)},
        lastmods=[LastmodRow(0, 10.25, 5.0, 1.0), LastmodRow(0, 11.0, 5.0, 1.0)],
    )


@given(st.sets(st.integers(0, 7)))
def test_only_what_rested_on_them_is_withdrawn(lost):
    before = state()
    after = withdrawn(before, lost, "now")
    assert len(after.visits) == len(before.visits), "all stay on record"
    for number, (was, now) in enumerate(zip(before.visits, after.visits, strict=True)):
        rests = number in lost or (number >= 5 and number - 3 in lost)
        bare = {2, 3, 4} <= lost
        assert now.finished == (not rests and not bare)
        assert (now.outcome.capture is None) == (number in lost)
        assert now.outcome.digest == was.outcome.digest
    judged = {row.page for row in after.judgements}
    assert judged == (set() if {2, 3, 4} <= lost else {n for n in range(3) if not {n + 2, n + 5} & lost})
    assert bool(after.hosts) == (0 not in lost)
    assert len(after.lastmods) == (1 if 1 in lost else 2)
    assert len(after.captures[0].notes) == 1 + bool(lost)


def test_where_no_page_is_left_it_begins_anew_with_a_t_of_its_own():
    row = withdrawn(state(), [2, 3, 4], "now").captures[0]
    assert (row.phase, row.reference) == (Phase.VISIT, None)
    row = withdrawn(state(), [2, 3], "now").captures[0]
    assert (row.phase, row.reference) == (Phase.REVISIT, 10.3), "T stays"


@pytest.mark.parametrize(("of", "left"), [(CONDITIONALS, {1, 2}), ("lastmods", set())])
def test_what_was_audited_is_judged_again_as_far_as_it_rests_on_what_is_audited(of, left):
    after = withdrawn(state(audit={"of": of}), [5], "now")
    assert {row.page for row in after.judgements} == left


@pytest.mark.parametrize(
    ("reference", "subsites", "phase"),
    [(10.3, "", Phase.REVISIT), (None, "path", Phase.REVISIT), (None, "", Phase.VISIT), (10.3, "path", Phase.REVISIT)],
)
def test_a_capture_that_was_done_goes_on_where_its_pages_are_revisited(reference, subsites, phase):
    before = state()
    spec = replace(before.captures[0].spec, subsites=subsites)
    done = before.captures[0]._replace(phase=Phase.DONE, reference=reference, ended=30.0, spec=spec)
    row = withdrawn(replace(before, captures={0: done}), [5], "now").captures[0]
    assert (row.phase, row.ended, row.reference) == (phase, None, reference)


def test_parts_of_the_site_go_only_with_a_capture_of_which_no_page_is_left():
    """They are made anew with it; another capture keeps its own."""
    before = state()
    before = replace(
        before,
        pages=[*before.pages, page_row(5)._replace(capture=1)],
        visits=[*before.visits, visit_row(5)],
        captures={**before.captures, 1: before.captures[0]._replace(capture=1)},
        subsites={(capture, 0): subsite_row(0)._replace(capture=capture) for capture in (0, 1)},
        members=[(0, 0), (5, 0)],
    )
    for lost, left in (([2, 3, 4], {1}), ([8], {0}), ([2, 3], {0, 1})):
        after = withdrawn(before, lost, "now")
        assert {capture for capture, _ in after.subsites} == left
        assert {before.pages[page].capture for page, _ in after.members} == left


def test_of_pages_claimed_on_the_servers_word_the_resources_stand():
    """They were shown by bytes; what was told is judged again at the end."""
    before = state(audit={"of": CONDITIONALS})
    pages = [row._replace(kind=Kind.RESOURCE) if row.page == 1 else row for row in before.pages]
    told = [JudgementRow(page, Verdict.COHERENT, Evidence.VALIDATOR, "") for page in range(3)]
    after = withdrawn(replace(before, pages=pages, judgements=told), [5], "now")
    assert {row.page for row in after.judgements} == {1}


@given(st.sets(st.integers(0, 7)))
def test_what_rests_on_visits_that_a_store_has_lost_is_withdrawn(lost):
    whole = state()
    before = replace(whole, visits=[visit for number, visit in enumerate(whole.visits) if number not in lost])
    after = founded(before, "now")
    unseen = {number - 2 for number in lost & {2, 3, 4}}
    if not unseen:
        assert after is before
        return
    assert {row.page for row in after.judgements} == (set() if len(unseen) == 3 else {0, 1, 2} - unseen)
    seconds = {visit.page for visit in after.visits if visit.slot is Slot.SECOND and visit.finished}
    assert not seconds & unseen, "a revisit compares with its visit"
    assert sum("not in its state any more at now" in note for note in after.captures[0].notes) == 1
    assert founded(after, "then") is after


def test_revisits_without_a_t_are_made_again():
    lost = replace(state(), captures={0: capture_row(phase=Phase.VISIT)})
    after = founded(lost, "now")
    assert after.judgements == []
    assert [visit.page for visit in after.visits if not visit.finished] == [0, 1, 2]
    assert "3 revisits of this capture came after a T that was not in its state" in after.captures[0].notes[-1]
    for spec in ({"mode": "continuous"}, {"subsites": "tree"}):
        row = lost.captures[0]
        others = replace(lost, captures={0: row._replace(spec=replace(row.spec, **spec))})
        assert founded(others, "now") is others, "which have none, or one of each part"
