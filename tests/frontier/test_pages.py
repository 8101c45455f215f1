"""What a page keeps of its first visit, packed into one object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.rows import PageRow
from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, Result, Validators
from sharc_crawler.rates.base import PRIOR

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
    assert not pages.validators(0)
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
