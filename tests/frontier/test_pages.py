"""What a page keeps of its first visit, packed into one object."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.pages import NO_PARENT, PageTable
from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, RateEstimate, Result, Validators

TEXT = st.none() | st.text(st.characters(exclude_characters="\0"), min_size=1)


def table():
    pages = PageTable()
    pages.add("http://h/", Kind.PAGE, 0, 0, NO_PARENT, RateEstimate(0.0, "none"), 1.0)
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


def test_a_validator_that_no_request_may_carry_is_not_kept():
    pages = table()
    pages.remember(0, Outcome(Result.OK, 7.0, 7.0, digest="sha1:A", validators=Validators("a\0b", "\0")))
    assert pages.remembered(0).digest == "sha1:A"
    assert pages.remembered(0).validators == NO_VALIDATORS
