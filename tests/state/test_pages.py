"""What a page keeps of its first visit, packed into one object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, Result, Validators
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rows import PageRow

TEXT = st.none() | st.text(st.characters(exclude_characters="\0"), min_size=1)


def row(page, url="http://h/", kind=Kind.PAGE, depth=0, source="none", state=State.QUEUED):
    return PageRow(page, 0, url, url, kind, "h", depth, page - 1, "", state, 0.5 * page, source, 2.0, 3.0, None, "")


def table(*rows):
    pages = PageTable()
    pages.extend(rows or [row(0)], {"h": 7})
    return pages


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_visit_is_remembered_as_it_was(digest, decoded, etag, modified):
    visit = Outcome(Result.OK, 7.0, 7.0, digest=digest, decoded=decoded, validators=Validators(etag, modified))
    pages = table()
    pages.remember(0, visit)
    assert pages.remembered(0) == visit
    assert pages.validators(0) == visit.validators
    pages.ask_in_full(0)
    assert pages.validators(0) == NO_VALIDATORS
    assert pages.remembered(0) == visit, "what it sent is compared all the same"
    pages.forget(0)
    assert pages.remembered(0).digest is None


@pytest.mark.parametrize("told", [("a\0b", "\0"), ("a\0b", None), (None, "\0a")])
def test_a_validator_that_no_request_may_carry_is_not_kept(told):
    pages = table()
    pages.remember(0, Outcome(Result.OK, 7.0, 7.0, digest="sha1:A", validators=Validators(*told)))
    assert pages.remembered(0).digest == "sha1:A"
    assert pages.remembered(0).validators == NO_VALIDATORS


def test_rows_come_one_by_one_or_at_once():
    rows = [
        row(0),
        row(1, "http://h/ä", depth=70_000, source=PRIOR),
        row(2, "http://h/sitemap.xml", Kind.SITEMAP, state=State.LATE),
    ]
    at_once, one_by_one = table(*rows), table(rows[0])
    for one in rows[1:]:
        one_by_one.extend([one], {"h": 7})
    for pages in (at_once, one_by_one):
        found = [
            [column[page] for page in range(3)]
            for column in (pages.urls, pages.states, pages.kinds, pages.depths, pages.parents, pages.rates)
        ]
        assert found == [
            ["http://h/", "http://h/ä", "http://h/sitemap.xml"],
            [State.QUEUED, State.QUEUED, State.LATE],
            [Kind.PAGE, Kind.PAGE, Kind.SITEMAP],
            [0, 65_535, 0],
            [-1, 0, 1],
            [0.0, 0.5, 1.0],
        ]
        assert (list(pages.hosts), list(pages.guessed), list(pages.shapes)) == ([7] * 3, [0, 1, 0], [2.0] * 3)
        assert (len(pages), list(pages.weights), list(pages.started)) == (3, [3.0] * 3, [0.0] * 3)
        assert not any(map(pages.validators, range(3)))


def test_what_redirects_lead_to_is_named_where_the_first_of_them_was():
    """By way of pages that brought nothing; a sitemap that could not be read names nothing but itself."""
    found = [
        (-1, Kind.SITEMAP, State.VISITED),
        (0, Kind.PAGE, State.LOST),
        (1, Kind.PAGE, State.LOST),
        (2, Kind.PAGE, State.QUEUED),
        (-1, Kind.PAGE, State.LOST),
        (4, Kind.PAGE, State.VISITED),
        (5, Kind.PAGE, State.QUEUED),
        (-1, Kind.SITEMAP, State.LOST),
        (7, Kind.PAGE, State.QUEUED),
    ]
    rows = [row(number, f"http://h/{number}", kind, state=state) for number, (_, kind, state) in enumerate(found)]
    pages = table(*(one._replace(parent=parent) for one, (parent, *_) in zip(rows, found, strict=True)))
    assert [pages.named_as(number) for number in range(9)] == [0, 1, 1, 1, 4, 4, 6, 7, 8]
    assert [number for number in range(9) if pages.listed(number)] == [1, 2, 3, 8]
    parents = [pages.parent_url(number) for number in range(9)]
    assert parents == [f"http://h/{parent}" if parent >= 0 else "" for parent, *_ in found]


TAGGED, DATED = Validators('"1"'), Validators(None, "Thu, 01 Jan 1970 00:00:10 GMT")


@pytest.mark.parametrize("told", [TAGGED, DATED, Validators(*TAGGED[:1], *DATED[1:]), NO_VALIDATORS])
def test_a_revisit_is_judged_by_the_validators_that_it_was_asked_with(told):
    """A 304 to what was asked for in full says nothing of them."""
    visit = Outcome(Result.OK, 7.0, 7.0, 200, digest="sha1:A", validators=told, media_type="text/html", date=6.0)
    same = Outcome(Result.NOT_MODIFIED, 9.0, 9.5, 304)
    pages = table(row(0), row(1, "http://h/1"))
    assert (pages.validators(0), pages.last_modified(0), pages.has_validators(0)) == (NO_VALIDATORS, None, False)
    pages.remember(0, visit)
    pages.remember(1, visit, compared=False)
    assert (pages.validators(0), pages.last_modified(0), pages.has_validators(0)) == (told, told[1], bool(told))
    assert pages.asked_by(0, same) == visit
    pages.ask_in_full(0)
    assert not pages.has_validators(0)
    assert pages.asked_by(0, same) == visit._replace(validators=NO_VALIDATORS)
    assert pages.asked_by(0, same._replace(result=Result.OK)) == visit
    assert pages.remembered(1) == Outcome(Result.OK, 7.0, 7.0), "when, and no more"
    assert pages.asked_by(1, same) == Outcome(Result.OK, 7.0, 7.0)


@pytest.mark.parametrize(
    ("results", "state", "answered"),
    [
        ([Result.OK], State.VISITED, [True]),
        ([Result.NOT_MODIFIED, Result.OK], State.VISITED, [True, True]),
        ([Result.GONE], State.LOST, [False]),
        ([Result.FAILED], State.QUEUED, [False]),
        ([Result.FAILED, Result.REFUSED], State.LOST, [False, False]),
        ([Result.OK, Result.GONE, Result.FAILED, Result.NOT_MODIFIED], State.VISITED, [True, False, False, True]),
    ],
)
def test_a_hub_is_polled_until_it_is_gone_at_the_first_time(results, state, answered):
    pages, told = table(), []
    for at, result in enumerate(results):
        pages.move(0, Event.LEASE)
        digest = f"sha1:{at}" if result is Result.OK else None
        told.append(pages.polled(0, Outcome(result, float(at), at + 0.5, digest=digest)))
    assert (told, pages.states[0]) == (answered, state)
    shown = [f"sha1:{at}" for at, result in enumerate(results) if result is Result.OK]
    assert pages.remembered(0).digest == (shown[-1] if shown else None)


def test_rows_in_a_state_are_told_in_the_order_of_discovery():
    kinds = [Kind.PAGE, Kind.SITEMAP, Kind.PAGE, Kind.PAGE]
    states = [State.LATE, State.LATE, State.QUEUED, State.LATE]
    pages = table(*(row(at, f"http://h/{at}", kinds[at], state=states[at]) for at in range(4)))
    assert (pages.having(State.LATE), pages.pages_in(State.LATE)) == ([0, 1, 3], [0, 3])
    assert pages.having(State.JUDGED) == []
